/**
 * Ends of bonuses that messages undo: a second telling of `docs/decisions/0026-undone-ends.md`, from rows alone. Shared by the tests of rules and of
 * simulator commits.
 */
import type { PlayerBonus } from "../../src/domain/state/Bonus.ts"
import type { Change } from "../../src/domain/state/Change.ts"
import type { Transaction } from "../../src/domain/state/Rounds.ts"
import { sumOf } from "./LedgerInvariants.ts"

/** The stored row of a message. */
type Find = (providerId: number, transactionId: string) => Transaction | undefined

/** What a rollback adds to the wagered amount of a bonus. */
const wageredBy = ({ kind, providerId, status, targetId }: Transaction, bonusId: number, find: Find): number => {
  if (kind !== "rollback" || status !== "processed") return 0
  const target = find(providerId, targetId ?? "")
  const bet = target?.kind === "rollback" ? find(providerId, target.targetId ?? "") : target
  if (bet?.kind !== "bet" || bet.bonusId !== bonusId) return 0
  return bet === target ? -bet.wagered : bet.wagered
}

/** Whether the same end stands, with money that came or was taken back after it. */
const isSameEnd = (end: PlayerBonus, next: PlayerBonus): boolean =>
  next.result === end.result && next.finishedAt === end.finishedAt && next.converted === end.converted

/** Follows the end of a bonus through the messages of a change, and says whether `next` is what they made of it. One that had not ended has none to undo. */
export const isEndKept = (
  end: PlayerBonus | undefined,
  next: PlayerBonus,
  { entries, transactions }: Change,
  find: Find
): boolean => {
  if (end?.state !== "finished") return true
  let { result, wagered } = end
  let isUndone = false
  const become = (other: PlayerBonus["result"]): void => {
    result = other
    isUndone = true
  }
  for (const row of transactions) {
    const added = wageredBy(row, end.id, find)
    wagered += added
    const isMet = wagered >= end.wagerRequirement
    const own = entries.filter(({ id, playerBonusId, wallet }) =>
      row.entryIds.includes(id) && playerBonusId === end.id && wallet === "bonus"
    )
    // that the account's state cancels a bonus is in no row of the messages
    const isCancelled = next.result === "cancelled"
    const fate = row.createdAt >= (end.expiresAt ?? Infinity) ? "expired" : isCancelled ? "cancelled" : null
    // what pays off a shortage is credited and taken in one step, as is what is forfeited as it comes: only the latter undoes a loss
    const hasCome = own.some(({ amount }) => amount > 0) && (fate === null ? sumOf(own) > 0 : next.result === fate)
    if ((result === "converted" && !isMet) || (result === "lost" && hasCome)) become(fate)
    if (added > 0 && isMet && (result === "lost" || result === "expired")) become("converted")
  }
  const isMet = next.wagered >= next.wagerRequirement
  const isDue = next.result === "cancelled" || isMet === (next.result === "converted")
  // one that runs or waits again is judged after the last message
  const follows = result === null ? next.result !== "expired" && next.result !== "cancelled" : next.result === result
  return isDue && (isUndone ? follows : isSameEnd(end, next))
}
