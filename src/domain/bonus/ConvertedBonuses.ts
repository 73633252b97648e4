/**
 * What becomes of a bonus after its end: money of open rounds that comes later, and a conversion that rollbacks take the ground from
 * (`docs/decisions/0026-reversed-conversions.md`).
 */
import type { GrantedBonus, PlayerBonus } from "./Bonus.ts"
import { type CasinoReferences, type Draft, mayReceiveBonuses } from "../Draft.ts"

/** The terms of a bonus, without its state. */
const termsOf = (bonus: GrantedBonus): GrantedBonus => ({
  id: bonus.id,
  bonusId: bonus.bonusId,
  name: bonus.name,
  type: bonus.type,
  amount: bonus.amount,
  wagerRequirement: bonus.wagerRequirement,
  maxBet: bonus.maxBet,
  maxConversion: bonus.maxConversion,
  validDays: bonus.validDays,
  contributions: bonus.contributions,
  createdAt: bonus.createdAt
})

/** Keeps what came to the real wallet, or left it, because of a bonus that was converted before. */
export const settleLate = (draft: Draft, bonusId: number | null, amount: number): void => {
  const bonus = bonusId === null ? undefined : draft.finishedBonus(bonusId)
  if (bonus !== undefined && amount !== 0) draft.writeBonus({ ...bonus, late: bonus.late + amount })
}

/** Takes back what came for a bonus that was over: what was forfeited of it comes again, and goes as that type. Gives the entries. */
export const undoForfeit = (
  draft: Draft,
  type: "casino_bet" | "casino_rollback",
  bonusId: number,
  amount: number,
  references: CasinoReferences
): ReadonlyArray<number> => {
  const withBonus = { ...references, playerBonusId: bonusId }
  const posted = [
    draft.post("bonus", "bonus_correction_up", amount, withBonus),
    draft.post("bonus", type, -amount, withBonus)
  ]
  const bonus = draft.finishedBonus(bonusId)
  if (bonus !== undefined) draft.writeBonus({ ...bonus, restored: bonus.restored + amount })
  return posted.filter((id) => id !== undefined)
}

/** Counts an open round that a bonus funds, where the bonus may still run or run again. */
export const countOpenRound = (draft: Draft, bonusId: number, change: 1 | -1): void => {
  const running = draft.activeBonus
  if (running?.id === bonusId) {
    draft.activeBonus = { ...running, openRounds: running.openRounds + change }
    return
  }
  const bonus = draft.finishedBonus(bonusId)
  if (bonus?.result === "converted") draft.writeBonus({ ...bonus, openRounds: bonus.openRounds + change })
}

/** Takes back what a bet added to the wagered amount of its bonus, and its conversion where the requirement is not met without it. */
export const takeBackWager = (draft: Draft, bonusId: number, wagered: number): void => {
  if (wagered === 0) return
  const running = draft.activeBonus
  if (running?.id === bonusId) {
    draft.activeBonus = { ...running, wagered: running.wagered - wagered }
    return
  }
  const bonus = draft.finishedBonus(bonusId)
  if (bonus?.result !== "converted") return
  const left = { ...bonus, wagered: bonus.wagered - wagered }
  if (left.wagered >= left.wagerRequirement) draft.writeBonus(left)
  else reverseConversion(draft, left)
}

/** Counts a bet that stands again towards its bonus, where takeBackWager counted it no longer. */
export const restoreWager = (draft: Draft, bonusId: number, wagered: number): void => {
  if (wagered === 0) return
  const running = draft.activeBonus
  if (running?.id === bonusId) {
    draft.activeBonus = { ...running, wagered: running.wagered + wagered }
    return
  }
  const bonus = draft.finishedBonus(bonusId)
  if (bonus?.result === "converted") draft.writeBonus({ ...bonus, wagered: bonus.wagered + wagered })
}

/**
 * Moves all that the real wallet got of a bonus back to the bonus wallet, whether or not it was spent. The bonus runs again
 * as if it had never been converted; where it cannot, because another one runs, its time is over or the account is kept from
 * bonuses, its money is forfeited.
 */
const reverseConversion = (draft: Draft, converted: PlayerBonus): void => {
  draft.forfeitLoose()
  const references = { playerBonusId: converted.id }
  draft.post("real", "bonus_conversion", -converted.converted, references)
  draft.post("bonus", "bonus_conversion", converted.converted, references)
  draft.post("real", converted.late > 0 ? "correction_down" : "correction_up", -converted.late, references)
  // bonus money is never owed: a win that was taken back later can have been more than there was
  const more = Math.max(converted.forfeited + converted.late, -converted.converted)
  draft.post("bonus", more > 0 ? "bonus_correction_up" : "bonus_correction_down", more, references)
  const bonus = { ...converted, restored: converted.restored + Math.max(more, 0) }
  const { expiresAt, startedAt } = bonus
  const isInTime = expiresAt !== null && draft.now < expiresAt
  if (startedAt !== null && isInTime && draft.activeBonus === null && mayReceiveBonuses(draft.player, draft.now)) {
    const { openRounds, restored, wagered } = bonus
    draft.activeBonus = { ...termsOf(bonus), wagered, openRounds, restored, startedAt, expiresAt }
    return
  }
  const forfeited = bonus.converted + more
  draft.post("bonus", "bonus_correction_down", -forfeited, references)
  draft.finish({
    ...bonus,
    result: isInTime ? "cancelled" : "expired",
    converted: 0,
    forfeited,
    late: 0,
    finishedAt: draft.now
  })
}
