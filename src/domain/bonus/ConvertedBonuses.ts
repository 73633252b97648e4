/**
 * Effects on finished bonuses: late settlements of their open rounds, and conversions invalidated by rollbacks
 * (`docs/decisions/0026-reversed-conversions.md`).
 */
import type { GrantedBonus, PlayerBonus } from "./Bonus.ts"
import { type CasinoReferences, type Draft, mayReceiveBonuses } from "../Draft.ts"

/** Terms of a bonus, without its state. */
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

/** Records money credited to or debited from the real wallet on behalf of a bonus converted before. */
export const settleLate = (draft: Draft, bonusId: number | null, amount: number): void => {
  const bonus = bonusId === null ? undefined : draft.finishedBonus(bonusId)
  if (bonus !== undefined && amount !== 0) draft.writeBonus({ ...bonus, late: bonus.late + amount })
}

/** Reverses a late credit of a finished bonus: credits the amount forfeited, then debits it as an entry of this type. Returns the entry ids. */
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

/** Adjusts the number of open rounds of a bonus that runs or may run again. */
export const countOpenRound = (draft: Draft, bonusId: number, change: 1 | -1): void => {
  const running = draft.activeBonus
  if (running?.id === bonusId) {
    draft.activeBonus = { ...running, openRounds: running.openRounds + change }
    return
  }
  const bonus = draft.finishedBonus(bonusId)
  if (bonus?.result === "converted") draft.writeBonus({ ...bonus, openRounds: bonus.openRounds + change })
}

/** Subtracts a bet's wagered amount from its bonus; reverses the conversion when the requirement is no longer met. */
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

/** Adds a reinstated bet's wagered amount to its bonus again; the inverse of takeBackWager. */
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
 * Moves all that the real wallet received from a bonus back to the bonus wallet, even if already spent. The bonus resumes as if never converted; if
 * it cannot, because another one runs, it has expired or the account may not receive bonuses, its money is forfeited.
 */
const reverseConversion = (draft: Draft, converted: PlayerBonus): void => {
  draft.forfeitLoose()
  const references = { playerBonusId: converted.id }
  draft.post("real", "bonus_conversion", -converted.converted, references)
  draft.post("bonus", "bonus_conversion", converted.converted, references)
  draft.post("real", converted.late > 0 ? "correction_down" : "correction_up", -converted.late, references)
  // a bonus balance is never negative: a win rolled back later may exceed what is left
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
