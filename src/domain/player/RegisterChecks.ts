/** Records the answer of a register of excluded players in the player's state: the check kept as proof, its effect on the player, and the events. */
import { acceptSettings, type SettingsRecord } from "./AccountStatus.ts"
import { type Accept, answer, type Context, type Decision } from "../state/Decision.ts"
import { Draft } from "../state/Draft.ts"
import { type Player, sessionsEnd } from "../state/Player.ts"
import type { KeptCheck, NewRegisterCheck } from "../state/RegisterCheck.ts"
import { isRegisterExcluded, standingsOf, standingWith, withStanding } from "../register/Register.ts"

/** A check before it is written: whom it belongs to and its id are given with the commit. */
export type RegisterAnswer = Omit<NewRegisterCheck, "id" | "operatorId" | "playerId">

const iso = (at: number): string => new Date(at).toISOString()

/** Line of the audit log of a check, the part of the proof that is linked into the chain and stays. */
export const checkRecord = (answer: Omit<KeptCheck, "id" | "operatorId" | "playerId">): SettingsRecord => ({
  actor: "register",
  action: "register.check",
  before: null,
  after: {
    kind: answer.kind,
    event: answer.event,
    verdict: answer.verdict,
    asked_at: iso(answer.askedAt),
    answered_at: iso(answer.answeredAt),
    request_id: answer.requestId,
    response_id: answer.responseId,
    status: answer.status,
    fault: answer.fault,
    profile: answer.profile,
    profile_version: answer.profileVersion
  },
  reason: null
})

/** The `register` of an event. */
const fields = ({ answeredAt, kind, verdict }: RegisterAnswer) => ({
  register: { kind, verdict, checked_at: iso(answeredAt) }
})

/**
 * Writes a check. A proper answer is the player's standing with that register from then on. The first that excludes ends all sessions; the first that
 * does not, after one that did or about somebody who was excluded elsewhere before, is told as well. An answer older than the one held changes nothing,
 * unless it excludes: by the clock of another node it may be the newer one. An exclusion is ended only by an answer to a question that was asked after it:
 * an earlier question may be answered later, and says what the register knew before.
 */
export const noteCheckStep = (given: RegisterAnswer) => (player: Player, context: Context): Accept<Player> => {
  const draft = new Draft(player, context)
  const check = { ...given, id: draft.takeId(), operatorId: player.operatorId, playerId: player.id }
  const { answeredAt: at, askedAt, kind, verdict } = given
  const last = standingWith(player.registers, kind)
  const isLate = last !== undefined && verdict !== "excluded" && last.at > (last.verdict === "excluded" ? askedAt : at)
  const changed: Pick<Partial<Player>, "registers"> = verdict === "unavailable" || isLate
    ? {}
    : { registers: withStanding(player.registers, { kind, verdict, at }) }
  const was = isRegisterExcluded(player.registers)
  const is = isRegisterExcluded(changed.registers ?? player.registers)
  if (is && !was) draft.emit("player.register_excluded", fields(given))
  else if (was && !is || !isLate && verdict === "previous" && last?.verdict !== "previous") {
    draft.emit("player.register_cleared", fields(given))
  }
  const ended = is && !was ? { sessionsEndedAt: sessionsEnd(player, context.now) } : {}
  const accepted = acceptSettings(draft, { ...changed, ...ended }, checkRecord(given))
  return { ...accepted, change: accepted.change === null ? null : { ...accepted.change, registerChecks: [check] } }
}

/** Forgets the good answers about a player who is somebody else from now on: registers are asked anew. One that excludes stays. */
export const forgetAnswersStep = (actor: string) => (player: Player, context: Context): Decision<Player, never> => {
  const shown = (one: Pick<Player, "registers">) => ({
    registers: standingsOf(one.registers).map(({ kind, verdict }) => ({ kind, verdict }))
  })
  const registers = player.registers.filter((one) => isRegisterExcluded([one]))
  return registers.length === player.registers.length
    ? answer(player, player)
    : acceptSettings(new Draft(player, context), { registers }, {
      actor,
      action: "player.registers_forgotten",
      before: shown(player),
      after: shown({ registers }),
      reason: null
    })
}
