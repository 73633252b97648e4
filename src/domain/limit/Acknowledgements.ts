/** Answers of players to what they were asked: a raise that has to be confirmed, whether they want limits. */
import { acceptSettings } from "../player/AccountStatus.ts"
import { type Refusal, refuse } from "../Refusal.ts"
import { type Context, type Decision, refused } from "../state/Decision.ts"
import { Draft } from "../state/Draft.ts"
import { mustAnswerPrompt, ownLimits, promptDeclined, waits } from "../state/Limits.ts"
import type { Acknowledgement, NewAcknowledgement } from "../state/Obligation.ts"
import { after } from "../jurisdiction/Duration.ts"
import { activeExclusion, type Player } from "../state/Player.ts"

export interface Acknowledge extends Omit<Acknowledgement, "id" | "at"> {
  /** Audit log label of the actor. */
  readonly actor: string
}

export type AcknowledgeRefusal = Refusal<"RESPONSIBLE_GAMING_RULE" | "NOT_FOUND">

const notOpen = (message: string): AcknowledgeRefusal => refuse("RESPONSIBLE_GAMING_RULE", message)

const noSuchRaise = refuse("NOT_FOUND", "No raise of this limit waits for a confirmation.")

type Settings = Parameters<typeof acceptSettings>[1]

/** What an answer to a raise changes: it is in force, or dropped. */
const answerRaise = (player: Player, { answer, field }: Acknowledge, now: number): Settings | AcknowledgeRefusal => {
  const raise = player.pendingLimits.find((one) =>
    one.field === field && one.confirmUntil !== undefined && waits(one, now)
  )
  if (raise === undefined) return noSuchRaise
  if (answer !== "accept" && answer !== "decline") return notOpen("A raise is accepted or declined.")
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

const answerPrompt = (player: Player, { answer }: Acknowledge): Settings | AcknowledgeRefusal =>
  answer === "decline" && mustAnswerPrompt(player)
    ? { limitsSet: player.limitsSet | promptDeclined }
    : notOpen("The player is not asked for limits now, or can only decline them: setting one is a change of limits.")

/** The end of an exclusion that ends on request: after the wait of the jurisdiction, from when it may be asked for. */
const answerReturn = (player: Player, { answer }: Acknowledge, now: number): Settings | AcknowledgeRefusal => {
  const exclusion = activeExclusion(player, now)
  if (exclusion?.onRequest === undefined) return notOpen("The player has no exclusion that ends on request.")
  if (answer !== "accept") return notOpen("A return is accepted.")
  const { returnAt, returnFrom } = exclusion.onRequest
  if (now < returnFrom) {
    return refuse("RESPONSIBLE_GAMING_RULE", "The player cannot ask to return yet.", {
      return_from: new Date(returnFrom).toISOString()
    })
  }
  // asked again: the first request counts
  const returns = returnAt ?? after(player.rules.breaks.return_wait ?? "PT0S", now)
  return { exclusion: { ...exclusion, onRequest: { returnFrom, returnAt: returns } } }
}

const isRefusal = (answered: Settings | AcknowledgeRefusal): answered is AcknowledgeRefusal => "_tag" in answered

const answersBy = { limit_raise: answerRaise, limit_prompt: answerPrompt, return_to_play: answerReturn }

/** Takes down an answer, and does what it says in the same commit. */
export const acknowledgeStep =
  (command: Acknowledge) => (player: Player, context: Context): Decision<NewAcknowledgement, AcknowledgeRefusal> => {
    const { actor, kind, obligationId, ...answer } = command
    if (obligationId !== null && !player.obligations.some((one) => one.id === obligationId && one.kind === kind)) {
      return refused(notOpen("The player has no open obligation of this kind and id."))
    }
    const changed = answersBy[kind](player, command, context.now)
    if (isRefusal(changed)) return refused(changed)
    const draft = new Draft(player, context)
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
