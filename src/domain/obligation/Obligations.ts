/**
 * Obligations of a player: derived from the rules of the jurisdiction and from what the player has set, so that a gate is right whatever has been
 * written. The record of each is written with the settings that bring it about or meet it, or when it is first seen.
 */
import { answer, type Accept, type Context } from "../state/Decision.ts"
import { Draft } from "../state/Draft.ts"
import { missingLimits, mustAnswerPrompt } from "../state/Limits.ts"
import type { Gate, Obligation, ObligationChange, ObligationKind } from "../state/Obligation.ts"
import type { Player } from "../state/Player.ts"

interface Due {
  readonly kind: ObligationKind
  readonly gates: ReadonlyArray<Gate>
}

const none: ReadonlyArray<Due> = []

const ofPlay: Due = { kind: "required_limits", gates: ["play"] }
const ofDeposits: Due = { kind: "required_limits", gates: ["play", "deposit"] }
const ofPrompt: Due = { kind: "limit_prompt", gates: ["deposit"] }

/** What the player must do at `now`, and what it stops until then. */
const dueObligations = (player: Player, now: number): ReadonlyArray<Due> => {
  const { prompt, required, required_before: before } = player.rules.limits
  if (required.length === 0 && !prompt) return none
  const limits = missingLimits(player, now).length === 0 ? none : [before === "deposit" ? ofDeposits : ofPlay]
  return mustAnswerPrompt(player) ? [...limits, ofPrompt] : limits
}

/** Kinds that stop what is asked for at `now`. */
export const gatedBy = (player: Player, gate: Gate, now: number): ReadonlyArray<ObligationKind> =>
  dueObligations(player, now).filter(({ gates }) => gates.includes(gate)).map(({ kind }) => kind)

const fields = (obligation: Obligation) => ({
  obligation: {
    id: obligation.id,
    kind: obligation.kind,
    gates: obligation.gates,
    state: obligation.state
  }
})

/** What has to be written of a player's obligations, and those that are open then; undefined when nothing has to be. */
export const obligationChanges = (draft: Draft, player: Player) => {
  const { now } = draft
  const due = dueObligations(player, now)
  const { id: playerId, obligations: open, operatorId } = player
  if (due.length === 0 && open.length === 0) return undefined
  const opened = due.filter(({ kind }) => open.every((one) => one.kind !== kind)).map((one): Obligation => ({
    ...one,
    id: draft.takeId(),
    state: "open",
    dueAt: null,
    createdAt: now,
    metAt: null
  }))
  const met = open.filter(({ kind }) => due.every((one) => one.kind !== kind)).map((one): Obligation => ({
    ...one,
    state: "met",
    metAt: now
  }))
  if (opened.length + met.length === 0) return undefined
  for (const obligation of opened) draft.emit("obligation.created", fields(obligation))
  for (const obligation of met) draft.emit("obligation.met", fields(obligation))
  return {
    open: [...open.filter(({ id }) => met.every((one) => one.id !== id)), ...opened],
    changes: [
      ...opened.map((obligation): ObligationChange => ({ obligation, playerId, operatorId, isNew: true })),
      ...met.map((obligation): ObligationChange => ({ obligation, playerId, operatorId, isNew: false }))
    ]
  }
}

/** Writes the obligations that are new or met by now; nothing when there is none. The reply is the next player. */
export const noteObligations = (player: Player, context: Context): Accept<Player> => {
  const draft = new Draft(player, context)
  const noted = obligationChanges(draft, player)
  if (noted === undefined) return answer(player, player)
  const accepted = draft.accept(undefined, { obligations: noted.changes }, { obligations: noted.open })
  return { ...accepted, reply: accepted.state }
}
