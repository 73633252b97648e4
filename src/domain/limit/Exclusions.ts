/**
 * Self-exclusion: may be extended, never shortened (SPEC sections 3.5 and 4.7; `docs/decisions/0008-responsible-gaming.md`).
 */
import { acceptSettings } from "../player/AccountStatus.ts"
import { type Context, type Decision, refused } from "../state/Decision.ts"
import { Draft } from "../state/Draft.ts"
import { addMonths, dayMs, type ExclusionPeriod, periodEnd, type requestChannels } from "./ExclusionPeriods.ts"
import { exclusionFields, type LimitsResource, limitsResource } from "./LimitUsage.ts"
import { activeExclusion, type Exclusion, type ExclusionType, type Player, sessionsEnd } from "../state/Player.ts"
import { type Refusal, refuse, refuseFields } from "../Refusal.ts"

const maxTimeOutMs = 30 * dayMs
const minSelfExclusionMonths = 3

/** Last instant with a four-digit year, and so with one wire form. */
const lastInstant = Date.UTC(9999, 11, 31, 23, 59, 59, 999)

/** Exactly one of `period` and `until` (epoch milliseconds) is not null. */
export interface SelfExclude {
  readonly period: ExclusionPeriod | null
  readonly until: number | null
  /** Null derives the type from the duration. */
  readonly type: ExclusionType | null
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

/** Requested end. */
const endOf = ({ period, until }: SelfExclude, now: number): number | Refusal<"VALIDATION_FAILED"> => {
  if ((period === null) === (until === null)) {
    const message = "exactly one of period and until must be sent"
    return refuseFields({ period: [message], until: [message] })
  }
  const end = period === null ? until : periodEnd(period, now)
  return end !== null && Number.isSafeInteger(end) && end <= lastInstant
    ? end
    : refuseFields({ until: ["must be a time before the year 10000"] })
}

/** Reason for refusing to weaken the exclusion in force. */
const refuseWeakening = (
  current: Exclusion,
  end: number,
  type: ExclusionType | null
): Refusal<"RESPONSIBLE_GAMING_RULE"> | undefined => {
  const details = { self_exclusion: exclusionFields(current) }
  if (current.until === null || end <= current.until) {
    return refuse("RESPONSIBLE_GAMING_RULE", "A self-exclusion can be prolonged, never shortened or lifted.", details)
  }
  return type !== null && isStrong(current.type) && !isStrong(type)
    ? refuse("RESPONSIBLE_GAMING_RULE", `A ${current.type} cannot become a ${type}.`, details)
    : undefined
}

/** Type derived from the duration from `now`; null between the two ranges. */
const derivedType = (end: number, now: number): ExclusionType | null =>
  end <= now + maxTimeOutMs ? "time_out" : end >= addMonths(now, minSelfExclusionMonths) ? "self_exclusion" : null

/** Resulting type. A derived type is never weaker than the one in force. */
const typeOf = (
  { type }: SelfExclude,
  current: Exclusion | null,
  end: number,
  now: number
): ExclusionType | Refusal<"VALIDATION_FAILED"> => {
  if (type === null) {
    const derived = derivedType(end, now)
    if (current !== null && isStrong(current.type) && derived !== "self_exclusion") return current.type
    return derived ?? refuseFields({
      until: ["must be at most 30 days ahead for a time_out, or at least 3 months for a self_exclusion"]
    })
  }
  if (type === "time_out" && end > now + maxTimeOutMs) {
    return refuseFields({ type: ["time_out lasts at most 30 days"] })
  }
  // an extension starts from one that already lasts three months
  const isLongEnough = type !== "self_exclusion" || current?.type === "self_exclusion" ||
    end >= addMonths(now, minSelfExclusionMonths)
  return isLongEnough ? type : refuseFields({ type: ["self_exclusion lasts at least 3 months"] })
}

/** Exclusion resulting from a request. */
const nextExclusion = (player: Player, request: SelfExclude, now: number): Exclusion | SelfExcludeRefusal => {
  const current = activeExclusion(player, now)
  const end = endOf(request, now)
  if (typeof end !== "number") return end
  const refusal = current === null
    ? end <= now ? refuseFields({ until: ["must be in the future"] }) : undefined
    : refuseWeakening(current, end, request.type)
  if (refusal !== undefined) return refusal
  const type = typeOf(request, current, end, now)
  return typeof type === "string" ? { type, since: current?.since ?? now, until: end } : type
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
