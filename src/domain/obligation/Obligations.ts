/**
 * Obligations of a player: what has to be done before a deposit or play, such as a limit review. Derived at every check from the rules of the
 * jurisdiction and the player's settings, so that actions are blocked correctly whatever has been recorded; recorded together with the settings that
 * raise or meet them, or when first seen.
 */
import { after } from "../jurisdiction/Duration.ts"
import { answer, type Accept, type Context } from "../state/Decision.ts"
import { type Change, noChange } from "../state/Change.ts"
import { Draft } from "../state/Draft.ts"
import { hasOwnLimits, missingLimits, mustAnswerPrompt, playSince } from "../state/Limits.ts"
import type { Gate, ImposedKind, Obligation, ObligationKind } from "../state/Obligation.ts"
import { checkDueAt, sessionFields, sessionOverAt } from "../state/PlaySession.ts"
import type { Player } from "../state/Player.ts"

interface Due {
  readonly kind: ObligationKind
  readonly gates: ReadonlyArray<Gate>
  /** When it fell due by time, or will, epoch milliseconds. */
  readonly dueAt?: number | null
}

/** Obligations that a case or staff begin or end with a change. */
export interface DecidedObligations {
  /** One that is over: met or waived, as is said here and not by what the player has set. */
  readonly ended?: { readonly id: number; readonly state: "met" | "waived" }
  readonly imposed?: {
    readonly kind: ImposedKind
    readonly dueAt: number | null
    readonly caseId: number
    readonly isTold: boolean
    readonly details: { readonly [name: string]: string }
  }
}

const none: ReadonlyArray<Due> = []

/** What the kinds that cases impose stop, from when they are due. */
const gatesOf: { readonly [kind in ImposedKind]: ReadonlyArray<Gate> } = {
  source_of_funds: ["deposit"],
  screening: ["play", "deposit"],
  vulnerability_check: []
}

const isImposed = (kind: ObligationKind): kind is ImposedKind => Object.hasOwn(gatesOf, kind)

const noObligations: ReadonlyArray<Obligation> = []

const ofPlay: Due = { kind: "required_limits", gates: ["play"] }
const ofDeposits: Due = { kind: "required_limits", gates: ["play", "deposit"] }
const ofTerms: Due = { kind: "terms", gates: ["play", "deposit"] }
const ofPrompt: Due = { kind: "limit_prompt", gates: ["deposit"] }

/** Whether the operator has terms in another version than the player accepted. */
export const mustAcceptTerms = ({ rules: { terms }, termsVersion }: Player): boolean =>
  terms !== null && terms !== termsVersion

/** Those that stop something at `now`. */
const gating = (player: Player, now: number): ReadonlyArray<Due> => {
  const { prompt, required, required_before: before } = player.rules.limits
  const owesTerms = mustAcceptTerms(player)
  if (required.length === 0 && !prompt && !owesTerms) return none
  const limits = required.length === 0 || missingLimits(player, now).length === 0
    ? none
    : [before === "deposit" ? ofDeposits : ofPlay]
  return [...limits, ...mustAnswerPrompt(player) ? [ofPrompt] : none, ...owesTerms ? [ofTerms] : none]
}

/** Those that fall due by time: the reality check of a session, and reviews. */
const dueByTime = (player: Player, now: number): ReadonlyArray<Due> => {
  const checkedAt = checkDue(player, now)
  const reviews = dueReviews(player, now)
  return checkedAt === null ? reviews : [...reviews, { kind: "reality_check", gates: ["play"], dueAt: checkedAt }]
}

/** Those that stop nothing: since the last answer, or the registration. One that is open stays until it is answered. */
const dueReviews = (player: Player, now: number): ReadonlyArray<Due> => {
  const { funds_notice: notice, limits, no_limits: noLimits } = player.rules.reviews
  if (limits === null && noLimits === null && notice === null) return none
  const dueOf = (kind: ObligationKind, every: string | null, since: number): ReadonlyArray<Due> => {
    if (every === null) return none
    const open = player.obligations.find((one) => one.kind === kind)?.dueAt ?? null
    if (open !== null && since * 1000 < open) return [{ kind, gates: [], dueAt: open }]
    const dueAt = after(every, since * 1000)
    return now >= dueAt ? [{ kind, gates: [], dueAt }] : none
  }
  return [
    ...dueOf("limit_review", hasOwnLimits(player, now) ? limits : noLimits, player.limitsReviewed),
    ...dueOf("funds_notice", notice, player.fundsNoticed)
  ]
}

type CheckedPlayer = Pick<Player, "counters" | "extras" | "obligations" | "rules" | "session">

const openCheck = (obligations: Player["obligations"]) => obligations.find(({ kind }) => kind === "reality_check")

/** When the reality check fell due that is open at `now`, epoch milliseconds; null when none is. One that is open stays until it is answered or the session is over. */
export const checkDue = (player: CheckedPlayer, now: number): number | null => {
  const { counters, obligations, session } = player
  const open = openCheck(obligations)?.dueAt ?? null
  const dueAt = open ?? checkDueAt(player)
  if (dueAt === null || now < dueAt || session === null) return null
  const since = playSince(counters, now)
  // one that was written is about this session, and answered only from its time on
  if (since === null || open === null) return since === null ? null : dueAt
  const isAnswered = session.checkedAfter > 0 && open <= since + session.checkedAfter
  return open < since || isAnswered ? null : open
}

/** Whether an obligation that falls due by time is due at `now`. */
export const isDueByTime = (player: Player, kind: ObligationKind, now: number): boolean =>
  dueByTime(player, now).some((one) => one.kind === kind)

/** Those that a case has imposed and not ended. */
const imposedOn = ({ obligations }: Player): ReadonlyArray<Obligation> =>
  obligations.length === 0 ? noObligations : obligations.filter(({ kind }) => isImposed(kind))

/** What the player must do at `now`, and what it stops until then. */
const dueObligations = (player: Player, now: number): ReadonlyArray<Due> => {
  const [gates, reviews] = [gating(player, now), dueByTime(player, now)]
  const imposed = imposedOn(player)
  return reviews.length + imposed.length === 0
    ? gates
    : [...gates, ...reviews, ...imposed.map(({ gates, kind }) => ({ kind, gates }))]
}

/** Kinds that stop what is asked for at `now`. A reality check does once its grace is over. */
export const gatedBy = (player: Player, gate: Gate, now: number): ReadonlyArray<ObligationKind> => {
  const imposed = imposedOn(player)
  const due = gating(player, now)
  const kinds =
    (imposed.length === 0 ? due : [...due, ...imposed.filter(({ dueAt }) => dueAt === null || now >= dueAt)])
      .filter(({ gates }) => gates.includes(gate)).map(({ kind }) => kind)
  const checkedAt = gate === "play" ? checkDue(player, now) : null
  return checkedAt === null || now < checkGatesAt(player, checkedAt) ? kinds : [...kinds, "reality_check"]
}

/** From when a reality check that fell due stops play, epoch milliseconds. */
export const checkGatesAt = ({ rules }: Pick<Player, "rules">, dueAt: number): number =>
  after(rules.reality_check.grace, dueAt)

const fields = (obligation: Obligation) => ({
  obligation: {
    id: obligation.id,
    kind: obligation.kind,
    gates: obligation.gates,
    state: obligation.state
  }
})

/**
 * Writes in a draft what has to be written of a player's obligations, where the decision leaves `player`. Those that are over are met, unless it was
 * decided otherwise. What is answered before anybody read it has its record all the same.
 */
const note = (draft: Draft, player: Player, { ended, imposed }: DecidedObligations = {}): void => {
  const { now, obligations: open } = draft
  const isEnded = ({ id }: Obligation) => id === ended?.id
  const isUnwritten = (known: ReadonlyArray<Obligation>) => ({ kind }: Due) => !known.some((one) => one.kind === kind)
  const create = (one: Due): Obligation => ({
    kind: one.kind,
    gates: one.gates,
    ...(imposed === undefined || one.kind !== imposed.kind ? {} : { caseId: imposed.caseId, isTold: imposed.isTold }),
    id: draft.takeId(),
    state: "open",
    dueAt: one.dueAt ?? null,
    createdAt: now,
    metAt: null
  })
  const seen = dueObligations(draft.player, now)
  const before = seen.length === 0 ? open : [...open, ...seen.filter(isUnwritten(open)).map(create)]
  const left = before.filter((one) => !(isEnded(one) && isImposed(one.kind)))
  const due: ReadonlyArray<Due> = [
    ...dueObligations({ ...player, obligations: left }, now),
    ...(imposed === undefined ? none : [{ ...imposed, gates: gatesOf[imposed.kind] }])
  ]
  if (due.length + before.length === 0) return
  const known = [...before, ...due.filter(isUnwritten(before)).map(create)]
  const created = known.slice(open.length)
  const isDue = ({ kind }: Obligation) => due.some((one) => one.kind === kind)
  const over = known.filter((one) => !isDue(one)).map((one): Obligation =>
    isEnded(one) && ended?.state === "waived" ? { ...one, state: "waived" } : { ...one, state: "met", metAt: now }
  )
  if (created.length + over.length === 0) return
  for (const obligation of created) {
    if (obligation.isTold !== false) draft.emit("obligation.created", fields(obligation))
    if (obligation.kind === "reality_check") {
      draft.emit("reality_check.due", { session: sessionFields(player, now) })
    }
  }
  for (const obligation of over) {
    if (obligation.state === "met" && obligation.isTold !== false) draft.emit("obligation.met", fields(obligation))
  }
  draft.obligations = known.filter(isDue)
  for (const obligation of [...created.filter(isDue), ...over]) {
    draft.obligationChanges.push({
      obligation,
      playerId: player.id,
      operatorId: player.operatorId,
      isNew: created.some(({ id }) => id === obligation.id),
      ...(imposed !== undefined && obligation.kind === imposed.kind ? { details: imposed.details } : {})
    })
  }
}

/** Accepts a draft with what has to be written of the player's obligations, with these settings changed. */
export const acceptNoting = <Reply>(
  draft: Draft,
  reply: Reply,
  change: Omit<Partial<Change>, "events">,
  settings?: Partial<Player>,
  decided?: DecidedObligations
): Accept<Reply> => {
  note(draft, { ...draft.playing, ...settings }, decided)
  return draft.accept(reply, change, settings)
}

/** Writes the obligations that are new or met by now; nothing when there is none. The reply is the next player. */
export const noteObligations = (player: Player, context: Context): Accept<Player> => {
  if (player.obligations.length === 0 && dueObligations(player, context.now).length === 0) return answer(player, player)
  const draft = new Draft(player, context)
  note(draft, player)
  if (draft.obligationChanges.length === 0) return answer(player, player)
  const accepted = draft.accept(undefined)
  return { ...accepted, reply: accepted.state }
}

/** Writes a reality check that falls due with a bet, or is over with the session that it was about; seldom anything. */
export const noteRealityCheck = (draft: Draft): void => {
  const { extras, rules } = draft.player
  if (extras === null && rules.reality_check.default === null && draft.obligations.length === 0) return
  const { counters, now, obligations, session } = draft
  const isDue = checkDue({ counters, extras, obligations, rules, session }, now) !== null
  if (isDue !== (openCheck(obligations) !== undefined)) note(draft, draft.playing)
}

/**
 * Looks after the reality check of a player who does not bet: written when it has fallen due, and when the session is over, which ends here. When it has to be
 * looked after next is written in any case, for the rules may have changed.
 */
export const lookAfterSessionStep = (player: Player, context: Context): Accept<Player> => {
  if (player.session === null || playSince(player.counters, context.now) !== null) {
    const noted = noteObligations(player, context)
    return noted.change === null ? { ...noted, change: noChange } : noted
  }
  const draft = new Draft(player, context)
  draft.session = null
  return acceptNoting(draft, player, {})
}

/** When the session of a player has to be looked after unless there is a bet, epoch milliseconds; null: never. */
export const sessionDueAt = (player: Player): number | null => {
  const { counters, extras, obligations, rules, session } = player
  if (session === null || (extras === null && rules.reality_check.default === null && obligations.length === 0)) {
    return null
  }
  return openCheck(obligations) === undefined ? checkDueAt(player) : sessionOverAt(counters)
}
