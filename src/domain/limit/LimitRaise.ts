/**
 * Effective time of a new limit: at once if stricter, otherwise after the longer of the operator's cooling-off period and the jurisdiction's
 * wait (SPEC section 3.6); and of looser rules of a jurisdiction, which wait alike.
 */
import { after } from "../jurisdiction/Duration.ts"
import type { Profile } from "../jurisdiction/Profile.ts"
import type { Rules } from "../jurisdiction/Rules.ts"
import { type LimitField, limitFields } from "../LimitFields.ts"
import { windowEnd } from "../state/Windows.ts"
import { windowOf } from "./LimitUsage.ts"

export interface RaiseTerms {
  readonly coolingOffHours: number
  readonly raise: Pick<Rules["limits"]["raise"], "confirm" | "until_period_ends" | "wait">
}

/** What a raise waits for. */
export type RaiseWait = "cooling_off" | "jurisdiction" | "period"

/** From when a raise that is asked for at `now` may be in force, and what it waits for until then; `now` itself where it does not wait. */
export const raiseFrom = (
  field: LimitField,
  { coolingOffHours, raise }: RaiseTerms,
  now: number
): { readonly at: number; readonly waitsFor: RaiseWait } => {
  const window = raise.until_period_ends ? windowOf(field) : undefined
  const own = { at: now + coolingOffHours * 3_600_000, waitsFor: "cooling_off" } as const
  const others = [
    ...(raise.wait === null ? [] : [{ at: after(raise.wait, now), waitsFor: "jurisdiction" as const }]),
    ...(window === undefined ? [] : [{ at: windowEnd(window, now), waitsFor: "period" as const }])
  ]
  return others.reduce<{ readonly at: number; readonly waitsFor: RaiseWait }>(
    (longest, other) => other.at > longest.at ? other : longest,
    own
  )
}

/** Looser rules wait a day at least. */
const leastHours = 24

/**
 * When rules that are looser than `before` may count: as a raise of any limit would, and so not before the running week and month end where raises
 * wait for that. The end of a year delays them only where a cap is for years.
 */
export const looserFrom = (
  from: number,
  { limits: { caps, raise } }: Pick<Profile, "limits">,
  coolingOffHours: number
): number => {
  const terms = { coolingOffHours: Math.max(leastHours, coolingOffHours), raise }
  const fields = limitFields.filter((field) => windowOf(field) !== "year" || caps[field] !== undefined)
  return Math.max(...fields.map((field) => raiseFrom(field, terms, from).at))
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
  const { at: from } = raiseFrom(field, terms, now)
  return from <= now && !terms.raise.confirm
    ? undefined
    : waiting !== undefined && waiting.value === value
    ? waiting.effectiveAt
    : from
}
