/** Acknowledgements by players: limit raises, terms, reviews of limits, reality checks, and the return from an exclusion. */
import { acceptSettings } from "../player/AccountStatus.ts"
import { type Refusal, refuse } from "../Refusal.ts"
import { type Context, type Decision, refused } from "../state/Decision.ts"
import { Draft } from "../state/Draft.ts"
import { isDueByTime, mustAcceptTerms } from "../obligation/Obligations.ts"
import { mustAnswerPrompt, ownLimits, promptDeclined, waits } from "../state/Limits.ts"
import type { Acknowledgement, NewAcknowledgement } from "../state/Obligation.ts"
import { after } from "../jurisdiction/Duration.ts"
import { returnWaitOf } from "../jurisdiction/ExclusionPeriods.ts"
import type { Settings } from "../state/Change.ts"
import { activeExclusion, type Player, sessionsEnd, withExtras } from "../state/Player.ts"

export interface Acknowledge extends Omit<Acknowledgement, "id" | "at"> {
  /** Audit log label of the actor. */
  readonly actor: string
}

export type AcknowledgeRefusal = Refusal<"RESPONSIBLE_GAMING_RULE" | "NOT_FOUND">

const notOpen = (message: string): AcknowledgeRefusal => refuse("RESPONSIBLE_GAMING_RULE", message)

const noSuchRaise = refuse("NOT_FOUND", "No raise of this limit is waiting for confirmation.")

/** What an answer changes. */
type Answered = Partial<Settings> & Partial<Pick<Player, "session">>

/** What an answer to a raise changes: it is in force, or dropped. */
const answerRaise = (player: Player, { answer, field }: Acknowledge, now: number): Answered | AcknowledgeRefusal => {
  const raise = player.pendingLimits.find((one) =>
    one.field === field && one.confirmUntil !== undefined && waits(one, now)
  )
  if (raise === undefined) return noSuchRaise
  if (answer !== "accept" && answer !== "decline") {
    return notOpen("A raise of a limit can only be accepted or declined.")
  }
  if (now < raise.effectiveAt) {
    return refuse("RESPONSIBLE_GAMING_RULE", "The raise cannot be confirmed yet.", {
      confirm_from: new Date(raise.effectiveAt).toISOString()
    })
  }
  const pendingLimits = player.pendingLimits.filter((one) => one !== raise)
  if (answer === "decline") return { pendingLimits }
  const { [raise.field]: _before, ...others } = ownLimits(player, now)
  return { pendingLimits, limits: raise.value === null ? others : { ...others, [raise.field]: raise.value } }
}

const answerPrompt = (player: Player, { answer }: Acknowledge): Answered | AcknowledgeRefusal =>
  answer === "decline" && mustAnswerPrompt(player)
    ? { limitsSet: player.limitsSet | promptDeclined }
    : notOpen("The player has no open request to set limits that can be declined. To set a limit, change the limits.")

/** The end of an exclusion that ends on request: after its wait, from when it may be asked for. */
const answerReturn = (player: Player, { answer }: Acknowledge, now: number): Answered | AcknowledgeRefusal => {
  const exclusion = activeExclusion(player, now)
  if (exclusion?.onRequest === undefined) return notOpen("The player has no exclusion that ends on request.")
  if (answer !== "accept") return notOpen("A return to play can only be accepted.")
  const { returnAt, returnFrom, wait = returnWaitOf(player.rules.breaks) } = exclusion.onRequest
  if (returnAt !== null) {
    return refuse("RESPONSIBLE_GAMING_RULE", "The player has already asked to return to play.", {
      return_at: new Date(returnAt).toISOString()
    })
  }
  if (now < returnFrom) {
    return refuse("RESPONSIBLE_GAMING_RULE", "The player cannot ask to return to play yet.", {
      return_from: new Date(returnFrom).toISOString()
    })
  }
  return {
    exclusion: {
      ...exclusion,
      onRequest: { ...exclusion.onRequest, returnAt: after(wait, now) }
    }
  }
}

/** Accepts the operator's terms in the version that counts: another one is not what the player was asked. */
const answerTerms = (player: Player, { answer, textVersion }: Acknowledge): Answered | AcknowledgeRefusal => {
  if (!mustAcceptTerms(player)) return notOpen("The player has accepted the terms, or the operator has none.")
  const { terms } = player.rules
  return answer === "accept" && textVersion === terms
    ? { termsVersion: terms }
    : refuse("RESPONSIBLE_GAMING_RULE", `The answer to the terms must be accept, with the text_version ${terms}.`, {
      text_version: terms
    })
}

/** The first whole second that is not before an instant: what was due is over with it. */
export const secondsOf = (at: number): number => Math.ceil(at / 1000)

/** A review of the limits: they stay as they are (`accept`), or the player wants none of it (`decline`). To change one is a change of limits. */
const answerReview = (player: Player, { answer }: Acknowledge, now: number): Answered | AcknowledgeRefusal =>
  isDueByTime(player, "limit_review", now) && (answer === "accept" || answer === "decline")
    ? { limitsReviewed: secondsOf(now) }
    : notOpen("No review of the limits is open; an open one can only be accepted or declined.")

const answerNotice = (player: Player, { answer }: Acknowledge, now: number): Answered | AcknowledgeRefusal =>
  answer === "accept" && isDueByTime(player, "funds_notice", now)
    ? { fundsNoticed: secondsOf(now) }
    : notOpen("No notice about the protection of funds is open; an open one can only be accepted.")

/** The session with its reality check answered: the next interval begins now. */
export const checkedSession = ({ counters, session }: Player, now: number): Player["session"] =>
  session === null
    ? null
    : { ...session, checkedAfter: Math.max(now - counters.playSince, session.checkedAfter + 1) }

/** A reality check: play goes on (`continue`), or it ends with the player's wallet sessions (`stop`). The next interval begins with either. */
const answerCheck = (player: Player, { answer }: Acknowledge, now: number): Answered | AcknowledgeRefusal => {
  if (!isDueByTime(player, "reality_check", now)) return notOpen("No reality check is open.")
  if (answer !== "continue" && answer !== "stop") {
    return notOpen("A reality check can only be answered with continue or stop.")
  }
  return {
    session: checkedSession(player, now),
    ...(answer === "continue"
      ? {}
      : { extras: withExtras(player, { walletSessionsEndedAt: sessionsEnd(player, now) }) })
  }
}

const answerConsent = () => notOpen("Consents cannot be acknowledged. Change the player's consents instead.")

const isRefusal = (answered: Answered | AcknowledgeRefusal): answered is AcknowledgeRefusal => "_tag" in answered

const answersBy = {
  limit_raise: answerRaise,
  limit_prompt: answerPrompt,
  return_to_play: answerReturn,
  terms: answerTerms,
  limit_review: answerReview,
  funds_notice: answerNotice,
  reality_check: answerCheck,
  consent: answerConsent
}

/** Takes down an answer, and does what it says in the same commit. */
export const acknowledgeStep =
  (command: Acknowledge) => (player: Player, context: Context): Decision<NewAcknowledgement, AcknowledgeRefusal> => {
    const { actor, kind, obligationId, ...answer } = command
    if (obligationId !== null && !player.obligations.some((one) => one.id === obligationId && one.kind === kind)) {
      return refused(notOpen("The player has no open obligation of this kind and id."))
    }
    const answered = answersBy[kind](player, command, context.now)
    if (isRefusal(answered)) return refused(answered)
    const { session = player.session, ...changed } = answered
    const draft = new Draft(player, context)
    draft.session = session
    const acknowledgement = {
      ...answer,
      kind,
      obligationId,
      id: draft.takeId(),
      at: context.now,
      playerId: player.id,
      operatorId: player.operatorId
    }
    const accepted = acceptSettings(draft, changed, {
      actor,
      action: "player.acknowledge",
      before: null,
      after: {
        acknowledgement_id: acknowledgement.id,
        kind,
        answer: command.answer,
        field: command.field,
        text_version: command.textVersion,
        channel: command.channel,
        profile: `${player.rules.code} ${player.rules.version}`
      },
      reason: null
    })
    const { change } = accepted
    return {
      ...accepted,
      reply: acknowledgement,
      change: change === null ? null : { ...change, acknowledgements: [acknowledgement] }
    }
  }
