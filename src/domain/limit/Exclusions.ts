/**
 * Self-exclusion: may be extended, never shortened (SPEC sections 3.5 and 4.7; `docs/decisions/0008-responsible-gaming.md`).
 */
import { acceptSettings } from "../player/AccountStatus.ts"
import { type Accept, answer, type Context, type Decision, refused } from "../state/Decision.ts"
import { Draft } from "../state/Draft.ts"
import {
  type ExclusionPeriod,
  type ExclusionScope,
  exclusionScopes,
  type ExclusionSource,
  type ExclusionType,
  periodEnd,
  type requestChannels,
  returnWaitOf
} from "../jurisdiction/ExclusionPeriods.ts"
import type { Rules } from "../jurisdiction/Rules.ts"
import { derivedType, isStrong, isWithin, returnFromOf } from "./ExclusionTerms.ts"
import { exclusionFields, type LimitsResource, limitsResource } from "./LimitUsage.ts"
import type { NewAcknowledgement } from "../state/Obligation.ts"
import { activeExclusion, type Exclusion, exclusionEnd, type Player, sessionsEnd } from "../state/Player.ts"
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
  /** Where it is to hold; absent where nobody said. */
  readonly scope?: ExclusionScope | undefined
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

/** What the terms of the next exclusion take from the one in force. */
const termsOf = (current: Exclusion | null) =>
  current === null
    ? null
    : { type: current.type, until: current.until, endsOnRequest: current.onRequest !== undefined }

/** Resulting type. */
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
    return derivedType(breaks, { period, end }, termsOf(current), now) ?? refuseFields({ until: [lengthsOf(rules)] })
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
  `must fit the type: a time_out lasts ${lengthText(breaks.time_out)}, a self_exclusion ${
    lengthText(breaks.self_exclusion)
  }`

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
  const scope = scopeOf(request, rules, type)
  if (typeof scope !== "string") return scope
  const exclusion = {
    type,
    since: current?.since ?? now,
    until: end,
    ...sourceOf(request),
    // what holds everywhere goes on to hold everywhere
    ...(scope === "licensee" || current?.scope === "licensee" ? { scope: "licensee" as const } : {})
  }
  const returnFrom = returnFromOf(rules.breaks, termsOf(current), exclusion, now)
  const wait = returnWaitOf(rules.breaks, current?.onRequest?.wait)
  return returnFrom === undefined ? exclusion : { ...exclusion, onRequest: { returnFrom, returnAt: null, wait } }
}

/** Where the exclusion holds: a time-out at the operator, others as the jurisdiction says, or as the player says where it asks. */
const scopeOf = (
  { scope }: SelfExclude,
  { breaks }: Rules,
  type: ExclusionType
): ExclusionScope | Refusal<"VALIDATION_FAILED"> => {
  if (!isStrong(type)) return "operator"
  if (breaks.scope === "ask") return scope ?? refuseFields({ scope: [`must be one of: ${exclusionScopes.join(", ")}`] })
  return scope === undefined || scope === breaks.scope
    ? breaks.scope
    : refuseFields({ scope: [`must be ${breaks.scope}, by the rules of the player's jurisdiction`] })
}

/** Who asked, where it was not the operator. */
const sourceOf = ({ source = "operator" }: SelfExclude): Pick<Exclusion, "source"> =>
  source === "operator" ? {} : { source }

/**
 * Excludes the player from play, deposits and bonuses, or extends the exclusion in force, which keeps its start. All types but a time-out cancel the
 * running bonus. Balances are unaffected and can be withdrawn.
 */
export const selfExcludeStep =
  (request: SelfExclude) => (player: Player, context: Context): Decision<LimitsResource, SelfExcludeRefusal> => {
    const exclusion = nextExclusion(player, request, context.now)
    if ("_tag" in exclusion) return refused(exclusion)
    const accepted = excluding(player, context, exclusion, {
      actor: request.actor,
      action: request.request === undefined ? "player.self_exclusion" : "player.exclude",
      channel: request.request?.channel,
      reason: request.request?.reason ?? null
    })
    return { ...accepted, reply: limitsResource(accepted.state, context.now) }
  }

/** The player with this exclusion in place of the one in force, if any. */
const excluding = (
  player: Player,
  context: Context,
  exclusion: Exclusion,
  { channel, ...by }: {
    readonly actor: string
    readonly action: string
    readonly channel?: PlayerRequest["channel"] | undefined
    readonly reason: string | null
  }
): Accept<Player> => {
  const current = activeExclusion(player, context.now)
  const draft = new Draft(player, context)
  if (isStrong(exclusion.type)) {
    draft.endBonus("cancelled")
    if (draft.bonus !== player.bonus) draft.walletSeq++
  }
  draft.emit("player.self_excluded", { self_exclusion: exclusionFields(exclusion) })
  const withdrawn = withdrawing(draft, exclusion)
  const accepted = acceptSettings(draft, { exclusion, sessionsEndedAt: sessionsEnd(player, draft.now) }, {
    ...by,
    before: { self_exclusion: current === null ? null : exclusionFields(current) },
    after: {
      self_exclusion: exclusionFields(exclusion),
      ...(withdrawn === undefined ? {} : { consents_withdrawn: withdrawn.id }),
      ...(exclusion.scope === undefined ? {} : { scope: exclusion.scope }),
      ...(channel === undefined ? {} : { channel })
    }
  })
  const { change } = accepted
  return change === null || withdrawn === undefined
    ? accepted
    : { ...accepted, change: { ...change, acknowledgements: [...change.acknowledgements, withdrawn] } }
}

/** The answer that withdraws all consents to marketing with a self-exclusion, where the jurisdiction has it so. */
const withdrawing = (
  draft: Draft,
  { source, type }: Pick<Exclusion, "source" | "type">
): NewAcknowledgement | undefined =>
  isStrong(type) && draft.player.rules.consents.reset_on_exclusion
    ? {
      id: draft.takeId(),
      kind: "consent",
      answer: "decline",
      field: null,
      obligationId: null,
      textVersion: null,
      channel: null,
      by: source === "player" || source === "staff" ? source : "operator",
      at: draft.now,
      playerId: draft.player.id,
      operatorId: draft.player.operatorId
    }
    : undefined

/** What an exclusion at one operator of a licensee asks of the same person's account at another. */
export type LicenseeExclusion = Pick<Exclusion, "type" | "until"> & {
  /** From when the player may ask to return; null: it ends by itself. */
  readonly returnFrom: number | null
  /** From the request to the return at least, ISO 8601; absent: as the account's jurisdiction says. */
  readonly wait?: string
}

type Breaks = Pick<Rules["breaks"], "return_wait">

/** An exclusion that was made under other rules: the return waits as long as these want, too. */
export const alsoWaitingUnder = (breaks: Breaks, exclusion: Exclusion): Exclusion =>
  exclusion.onRequest === undefined
    ? exclusion
    : { ...exclusion, onRequest: { ...exclusion.onRequest, wait: returnWaitOf(breaks, exclusion.onRequest.wait) } }

/** Whether an exclusion never ends, not even on request. */
const isEndless = ({ returnFrom, until }: LicenseeExclusion): boolean => until === null && returnFrom === null

/** The longer of two ends; null is none. */
const longer = (one: number | null, other: number | null): number | null =>
  one === null || other === null ? null : Math.max(one, other)

/** An account's own exclusion and that of the licensee in one: neither is shortened, and it ends in the harder of the two ways. */
const joined = (own: LicenseeExclusion, other: LicenseeExclusion): LicenseeExclusion => {
  const until = longer(own.until, other.until)
  const endsByItself = own.returnFrom === null && other.returnFrom === null
  return {
    type: isStrong(own.type) ? own.type : other.type,
    until,
    returnFrom: endsByItself || isEndless(own) || isEndless(other)
      ? null
      : Math.max(own.returnFrom ?? 0, other.returnFrom ?? 0, own.until ?? 0, other.until ?? 0)
  }
}

const asked = ({ onRequest, type, until }: Exclusion): LicenseeExclusion => ({
  type,
  until,
  returnFrom: onRequest?.returnFrom ?? null
})

const isSame = (one: LicenseeExclusion, other: LicenseeExclusion): boolean =>
  one.type === other.type && one.until === other.until && one.returnFrom === other.returnFrom

/** Two exclusions of one person as one: neither is shortened, and one that is over counts for nothing. */
export const joinedExclusion = (own: Exclusion, other: Exclusion, now: number): Exclusion => {
  const ownEnd = exclusionEnd(own)
  if (ownEnd !== null && ownEnd <= now) return other
  const both = joined(asked(own), asked(other))
  const end = longer(ownEnd, exclusionEnd(other))
  const { onRequest: _, scope, ...main } = isSame(both, asked(own)) ? own : other
  const [wait, otherWait] = [own.onRequest?.wait, other.onRequest?.wait]
  const kept = own.scope === "licensee" ? own.scope : scope
  return {
    ...main,
    type: both.type,
    until: both.until,
    ...(kept === undefined ? {} : { scope: kept }),
    ...(both.returnFrom === null ? {} : {
      onRequest: {
        returnFrom: both.returnFrom,
        returnAt: end === null ? null : Math.max(end, both.returnFrom),
        ...(wait === undefined && otherWait === undefined
          ? {}
          : { wait: returnWaitOf({ return_wait: wait ?? null }, otherWait) })
      }
    })
  }
}

/**
 * Excludes the account of a person who was excluded at another operator of the licensee. Nothing changes where the account's own exclusion is as long
 * already, in force or returned from since, and where the other one has ended by itself: so that it may be repeated.
 */
export const excludeForLicenseeStep =
  (other: LicenseeExclusion) => (player: Player, context: Context): Decision<void, never> => {
    const { now } = context
    const { exclusion: last } = player
    const hasEnded = other.returnFrom === null && other.until !== null && other.until <= now
    if (hasEnded || last !== null && isSame(joined(asked(last), other), asked(last))) return answer(player, undefined)
    const current = activeExclusion(player, now)
    const { returnFrom, type, until } = current === null ? other : joined(asked(current), other)
    const accepted = excluding(player, context, {
      type,
      since: current?.since ?? now,
      until,
      source: "licensee",
      ...(current?.scope === undefined ? {} : { scope: current.scope }),
      ...(returnFrom === null
        ? {}
        : {
          onRequest: {
            returnFrom,
            returnAt: null,
            wait: returnWaitOf(player.rules.breaks, current?.onRequest?.wait, other.wait)
          }
        })
    }, { actor: "scheduler", action: "player.self_exclusion", reason: "the person is excluded for the whole licensee" })
    return { ...accepted, reply: undefined }
  }
