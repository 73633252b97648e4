/**
 * When a new value of a limit is in force: a stricter one at once, a looser one after the longer of the operator's cooling-off period and the wait of
 * the jurisdiction (SPEC section 3.6).
 */
import { after } from "../jurisdiction/Duration.ts"
import type { Rules } from "../jurisdiction/Rules.ts"
import type { LimitField } from "../LimitFields.ts"
import { windowEnd } from "../state/Windows.ts"
import { windowOf } from "./LimitUsage.ts"

export interface RaiseTerms {
  readonly coolingOffHours: number
  readonly raise: Pick<Rules["limits"]["raise"], "confirm" | "until_period_ends" | "wait">
}

/** From when a raise that is asked for at `now` may be in force; `now` itself where it does not wait. */
const raiseFrom = (field: LimitField, { coolingOffHours, raise }: RaiseTerms, now: number): number => {
  const waited = Math.max(now + coolingOffHours * 3_600_000, raise.wait === null ? now : after(raise.wait, now))
  const window = raise.until_period_ends ? windowOf(field) : undefined
  return window === undefined ? waited : Math.max(waited, windowEnd(window, now))
}

/** No limit is the loosest. */
const isLooser = (value: number | null, current: number | null): boolean =>
  current !== null && (value === null || value > current)

/**
 * When a new value of one limit is in force: undefined for at once, epoch milliseconds for a raise; an identical raise that waits already keeps its
 * time. Staff are told it before they ask for it.
 */
export const raisedAt = (
  field: LimitField,
  { current, value, waiting }: {
    readonly current: number | null
    readonly value: number | null
    readonly waiting?: { readonly value: number | null; readonly effectiveAt: number } | undefined
  },
  terms: RaiseTerms,
  now: number
): number | undefined => {
  if (!isLooser(value, current)) return undefined
  const from = raiseFrom(field, terms, now)
  return from <= now && !terms.raise.confirm
    ? undefined
    : waiting !== undefined && waiting.value === value
    ? waiting.effectiveAt
    : from
}
