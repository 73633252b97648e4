/**
 * Self-exclusion: may be extended, never shortened (SPEC sections 3.5 and 4.7; `docs/decisions/0008-responsible-gaming.md`).
 */
import { acceptSettings } from "../player/AccountStatus.ts"
import { type Context, type Decision, refused } from "../state/Decision.ts"
import { Draft } from "../state/Draft.ts"
import { after } from "../jurisdiction/Duration.ts"
import {
  type ExclusionPeriod,
  type ExclusionSource,
  type ExclusionType,
  periodEnd,
  type requestChannels
} from "../jurisdiction/ExclusionPeriods.ts"
import type { Rules } from "../jurisdiction/Rules.ts"
import { exclusionFields, type LimitsResource, limitsResource } from "./LimitUsage.ts"
import { activeExclusion, type Exclusion, type Player, sessionsEnd } from "../state/Player.ts"
import { type Refusal, refuse, refuseFields } from "../Refusal.ts"

/** Last instant with a four-digit year, and so with one wire form. */
const lastInstant = Date.UTC(9999, 11, 31, 23, 59, 59, 999)

/** Exactly one of `period` and `until` (epoch milliseconds) is not null. */
export interface SelfExclude {
  readonly period: ExclusionPeriod | null
  readonly until: number | null
  /** Null derives the type from the duration. */
  readonly type: ExclusionType | null
  /** Who asked for it; absent: the operator. */
  readonly source?: ExclusionSource
  /** Audit log label of the actor. */
  readonly actor: string
  /** With a request that staff took down: how the player asked, and why. */
  readonly request?: PlayerRequest
}

/** A player's request as staff took it down. */
interface PlayerRequest {
  readonly channel: (typeof requestChannels)[number]
  readonly reason: string
}

export type SelfExcludeRefusal = Refusal<"VALIDATION_FAILED" | "RESPONSIBLE_GAMING_RULE">

/** A time-out keeps bonuses; the other two types have the same effects. */
const isStrong = (type: ExclusionType): boolean => type !== "time_out"

/** Requested end; null is none, which only a period has. */
const endOf = (
  { period, until }: SelfExclude,
  rules: Rules,
  now: number
): number | null | Refusal<"VALIDATION_FAILED"> => {
  if ((period === null) === (until === null)) {
    const message = "exactly one of period and until must be sent"
    return refuseFields({ period: [message], until: [message] })
  }
  if (period !== null && rules.breaks.periods[period] === undefined) {
    return refuseFields({ period: [`must be one of ${Object.keys(rules.breaks.periods).join(", ")}`] })
  }
  const end = period === null ? until : periodEnd(period, now)
  return end === null || Number.isSafeInteger(end) && end <= lastInstant
    ? end
    : refuseFields({ until: ["must be a time before the year 10000"] })
}

/** Reason for refusing to weaken the exclusion in force. */
const refuseWeakening = (
  current: Exclusion,
  end: number | null,
  type: ExclusionType | null
): Refusal<"RESPONSIBLE_GAMING_RULE"> | undefined => {
  const details = { self_exclusion: exclusionFields(current) }
  // one without end that the player returns from may be asked for again
  const until = current.until ?? current.onRequest?.returnAt ?? null
  if (until === null || end !== null && end <= until) {
    return refuse("RESPONSIBLE_GAMING_RULE", "A self-exclusion can be prolonged, never shortened or lifted.", details)
  }
  return type !== null && isStrong(current.type) && !isStrong(type)
    ? refuse("RESPONSIBLE_GAMING_RULE", `A ${current.type} cannot become a ${type}.`, details)
    : undefined
}

/** Whether a break that ends at `end` is as long as its bounds want it. */
const isWithin = (
  { max, min }: { readonly min: string | null; readonly max: string | null },
  end: number | null,
  now: number
) =>
  (min === null || end === null || end >= after(min, now)) && (max === null || end !== null && end <= after(max, now))

/** Type of a break of this length: a time-out as long as it may be one; null between the bounds of the two. */
const derivedType = ({ breaks }: Rules, end: number | null, now: number): ExclusionType | null =>
  isWithin(breaks.time_out, end, now)
    ? "time_out"
    : isWithin(breaks.self_exclusion, end, now)
    ? "self_exclusion"
    : null

/** Resulting type. A derived type is never weaker than the one in force. */
const typeOf = (
  { period, type }: SelfExclude,
  rules: Rules,
  current: Exclusion | null,
  end: number | null,
  now: number
): ExclusionType | Refusal<"VALIDATION_FAILED"> => {
  const { breaks } = rules
  const offered = period === null ? undefined : breaks.periods[period]
  if (type === null) {
    const derived = offered ?? derivedType(rules, end, now)
    if (current !== null && isStrong(current.type) && derived !== "self_exclusion") return current.type
    return derived ?? refuseFields({ until: [lengthsOf(rules)] })
  }
  // a period on offer is long enough for its type, and so is an extension of a break of the same type
  if (type === offered || type === "self_closure") return type
  const isExtension = type === "self_exclusion" && current?.type === "self_exclusion"
  return isExtension || isWithin(breaks[type], end, now) ? type : refuseFields({ type: [lengthsOf(rules)] })
}

const lengthText = ({ max, min }: { readonly min: string | null; readonly max: string | null }): string =>
  [...(min === null ? [] : [`at least ${min}`]), ...(max === null ? [] : [`at most ${max}`])].join(" and ") ||
  "any time"

const lengthsOf = ({ breaks }: Rules): string =>
  `must fit: a time_out lasts ${lengthText(breaks.time_out)}, a self_exclusion ${lengthText(breaks.self_exclusion)}`

/** Exclusion resulting from a request. */
const nextExclusion = (player: Player, request: SelfExclude, now: number): Exclusion | SelfExcludeRefusal => {
  const current = activeExclusion(player, now)
  const { rules } = player
  const end = endOf(request, rules, now)
  if (end !== null && typeof end !== "number") return end
  const refusal = current === null ? undefined : refuseWeakening(current, end, request.type)
  if (refusal !== undefined) return refusal
  // also of an extension: one that ends on request stands after its time
  if (end !== null && end <= now) return refuseFields({ until: ["must be in the future"] })
  const type = typeOf(request, rules, current, end, now)
  if (typeof type !== "string") return type
  const exclusion = { type, since: current?.since ?? now, until: end, ...sourceOf(request) }
  const returnFrom = returnFromOf(rules, current, exclusion, now)
  return returnFrom === undefined ? exclusion : { ...exclusion, onRequest: { returnFrom, returnAt: null } }
}

/** Who asked, where it was not the operator. */
const sourceOf = ({ source = "operator" }: SelfExclude): Pick<Exclusion, "source"> =>
  source === "operator" ? {} : { source }

/** Least time of an exclusion without end where the jurisdiction does not say. */
const leastIndefinite = "P6M"

/**
 * From when the player may ask to return; undefined where the exclusion ends by itself. A time-out always does, one without end never, and what
 * prolongs another neither ends in an easier way nor sooner.
 */
const returnFromOf = (
  { breaks }: Rules,
  current: Exclusion | null,
  { type, until }: Exclusion,
  now: number
): number | undefined => {
  if (until === null) return Math.max(after(breaks.self_exclusion.min ?? leastIndefinite, now), current?.until ?? now)
  const endsOnRequest = current?.onRequest !== undefined || type === "self_exclusion" && breaks.ends === "on_request"
  return endsOnRequest ? until : undefined
}

/**
 * Excludes the player from play, deposits and bonuses, or extends the exclusion in force, which keeps its start. All types but a time-out cancel the
 * running bonus. Balances are unaffected and can be withdrawn.
 */
export const selfExcludeStep =
  (request: SelfExclude) => (player: Player, context: Context): Decision<LimitsResource, SelfExcludeRefusal> => {
    const { now } = context
    const exclusion = nextExclusion(player, request, now)
    if ("_tag" in exclusion) return refused(exclusion)
    const current = activeExclusion(player, now)
    const draft = new Draft(player, context)
    if (isStrong(exclusion.type)) {
      draft.endBonus("cancelled")
      if (draft.bonus !== player.bonus) draft.walletSeq++
    }
    const accepted = acceptSettings(draft, { exclusion, sessionsEndedAt: sessionsEnd(player, draft.now) }, {
      actor: request.actor,
      action: request.request === undefined ? "player.self_exclusion" : "player.exclude",
      before: { self_exclusion: current === null ? null : exclusionFields(current) },
      after: {
        self_exclusion: exclusionFields(exclusion),
        ...(request.request === undefined ? {} : { channel: request.request.channel })
      },
      reason: request.request?.reason ?? null
    })
    return { ...accepted, reply: limitsResource(accepted.state, now) }
  }
