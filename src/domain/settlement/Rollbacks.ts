/** Taking a bet or a win back (the rules of `Settlement.ts`). */
import { settleLate, takeBackWager, undoForfeit } from "../bonus/ConvertedBonuses.ts"
import { writeRound } from "./Bets.ts"
import { type Knowledge, type Missing, missing } from "../Decision.ts"
import type { CasinoReferences, Draft } from "../Draft.ts"
import { count } from "../limit/Limits.ts"
import type { Rollback, RollbackCode, Settlement } from "../Messages.ts"
import { refuse } from "../Refusal.ts"
import type { Query, Round, Transaction } from "./Rounds.ts"
import {
  bonusStanding,
  findRound,
  findTransaction,
  ids,
  newTransaction,
  type Outcome,
  replay,
  settlement
} from "./SettlementParts.ts"
import { creditBonus } from "./Wins.ts"

export const rollBack = (draft: Draft, rollback: Rollback, known: Knowledge | undefined): Outcome<RollbackCode> => {
  const { providerId, targetTransactionId, transactionId } = rollback
  const earlier = findTransaction(draft, known, providerId, transactionId)
  if (earlier !== undefined && earlier !== null) {
    // a rollback names no round
    return replay(draft, known, earlier, rollback.policy, {
      kind: "rollback",
      content: earlier.targetId === targetTransactionId,
      round: true
    })
  }
  const target = findTransaction(draft, known, providerId, targetTransactionId)
  const lookUp = (query: Partial<Query>): Missing =>
    missing({ providerId, transactionIds: [transactionId, targetTransactionId], ...query })
  if (target === undefined) return lookUp({})
  if (transactionId === targetTransactionId) {
    // its row and the tombstone of its target could never both be written
    return refuse("ROLLBACK_NOT_ALLOWED", "A rollback cannot take itself back.", {
      target_transaction_id: targetTransactionId
    })
  }
  if (target === null || target.kind === "tombstone") return leaveTombstone(draft, rollback, target === null)
  if (target.playerId !== draft.player.id) {
    return earlier === undefined ? lookUp({}) : notThisPlayers
  }
  if (target.kind === "rollback") {
    return earlier === undefined
      ? lookUp({})
      : refuse("ROLLBACK_NOT_ALLOWED", "A rollback cannot be rolled back.", {
        target_transaction_id: targetTransactionId
      })
  }
  if (target.kind === "promo_win") return takeBack(draft, rollback, target, null, known)
  if (target.gameId === null || target.roundId === null) return notThisPlayers
  const round = findRound(draft, known, target.gameId, target.roundId)
  const bonusOpen = target.bonusId !== null && bonusStanding(draft, known, target.bonusId) === undefined
  if (round === undefined || bonusOpen) {
    return lookUp({
      rounds: [{ gameId: target.gameId, roundId: target.roundId }],
      bonusIds: target.bonusId === null ? [] : [target.bonusId]
    })
  }
  if (!target.rolledBack && target.kind === "bet" && round !== null && round.paidWins > 0) {
    return earlier === undefined
      ? lookUp({ rounds: [{ gameId: target.gameId, roundId: target.roundId }] })
      : refuse("BET_ALREADY_SETTLED", "The round was paid a win. Roll the win back first.", {
        target_transaction_id: targetTransactionId
      })
  }
  return takeBack(draft, rollback, target, round, known)
}

const notThisPlayers = refuse("NOT_FOUND", "The target is not a transaction of this player.")

const leaveTombstone = (draft: Draft, rollback: Rollback, isFirst: boolean): Settlement => {
  const { providerId, targetTransactionId } = rollback
  if (isFirst) draft.record(newTransaction(draft, "tombstone", { providerId, transactionId: targetTransactionId }, {}))
  draft.record(newTransaction(draft, "rollback", rollback, { status: "ignored", targetId: targetTransactionId }))
  return settlement(draft, rollback.transactionId, "ignored", "closed")
}

/** A tournament's prize is no win of a game, and so is nothing of a game when it is taken back. */
const isPrize = (target: Transaction): boolean =>
  target.kind === "promo_win" && target.detail?.startsWith("tournament:") === true

const takeBack = (
  draft: Draft,
  rollback: Rollback,
  target: Transaction,
  round: Round | null,
  known: Knowledge | undefined
): Settlement => {
  const roundState = round?.closed === false ? "open" : "closed"
  const about = {
    targetId: target.transactionId,
    gameId: target.gameId,
    roundId: target.roundId,
    amount: target.amount
  }
  if (target.rolledBack) {
    draft.record(newTransaction(draft, "rollback", rollback, { ...about, status: "ignored" }))
    return settlement(draft, rollback.transactionId, "ignored", roundState)
  }
  const source = isPrize(target) ? null : { providerId: target.providerId, isLive: round?.isLive ?? false }
  const references = { gameId: target.gameId, gameRoundId: target.roundId, source }
  // before anything is credited: what comes back of a stake goes to where its bonus is from then on
  if (target.kind === "bet" && target.bonusId !== null) takeBackWager(draft, target.bonusId, target.wagered)
  // what a win brought the real wallet in the place of a converted bonus follows the bonus
  const late = target.kind === "win" ? target.wagered : 0
  const ofBonus = target.bonusAmount + late
  const realEntry = draft.post("real", "casino_rollback", late - target.realAmount, references)
  const moved = ofBonus === 0 || target.bonusId === null
    ? { entryIds: [], real: 0, bonus: 0 }
    : target.kind === "bet"
    ? creditBonus(
      draft,
      "casino_rollback",
      -ofBonus,
      target.bonusId,
      bonusStanding(draft, known, target.bonusId) ?? "over",
      references
    )
    : debitBonus(
      draft,
      ofBonus,
      target.bonusId,
      bonusStanding(draft, known, target.bonusId) ?? "over",
      references
    )
  // what came for a bonus that was over was credited and forfeited; both are undone, so that reports count no win that was none
  const forfeited = target.kind === "win" ? target.amount - target.realAmount - target.bonusAmount : 0
  const undone = forfeited === 0 || target.bonusId === null
    ? []
    : undoForfeit(draft, target.bonusId, forfeited, references)
  const entryIds = [...ids(realEntry), ...moved.entryIds, ...undone]
  const real = late - target.realAmount + moved.real
  if (entryIds.length > 0) draft.walletSeq++
  if (target.kind === "bet") {
    draft.counters = count(draft.counters, draft.now, -target.amount, target.realAmount, target.createdAt)
  } else if (target.kind === "win") {
    draft.counters = count(draft.counters, draft.now, 0, target.realAmount, target.createdAt)
  }
  const transaction = newTransaction(draft, "rollback", rollback, {
    ...about,
    realAmount: real,
    bonusAmount: moved.bonus,
    entryIds,
    bonusId: ofBonus === 0 && forfeited === 0 ? null : target.bonusId
  })
  draft.markRolledBack(target)
  draft.record(transaction)
  if (round !== null) {
    writeRound(draft, round, {
      ...round,
      realStake: target.kind === "bet" ? round.realStake + target.realAmount : round.realStake,
      bonusStake: target.kind === "bet" ? round.bonusStake + target.bonusAmount : round.bonusStake,
      paidWins: target.kind === "win" && target.amount > 0 ? round.paidWins - 1 : round.paidWins
    })
  }
  draft.closeBonusWhenDue()
  return settlement(draft, rollback.transactionId, "processed", roundState, transaction)
}

/**
 * Takes back the bonus part of a win. Bonus money that was spent meanwhile is not turned into a debt; once the bonus was
 * converted its money is real, and is taken from there.
 */
const debitBonus = (
  draft: Draft,
  ofBonus: number,
  bonusId: number,
  standing: "running" | "converted" | "over",
  about: CasinoReferences
): { readonly entryIds: ReadonlyArray<number>; readonly real: number; readonly bonus: number } => {
  const references = { ...about, playerBonusId: bonusId }
  switch (standing) {
    case "running": {
      const amount = Math.min(draft.bonus, ofBonus)
      return { entryIds: ids(draft.post("bonus", "casino_rollback", -amount, references)), real: 0, bonus: 0 - amount }
    }
    case "converted":
      settleLate(draft, bonusId, -ofBonus)
      return {
        entryIds: ids(draft.post("real", "casino_rollback", -ofBonus, references)),
        real: -ofBonus,
        bonus: 0
      }
    case "over":
      return { entryIds: [], real: 0, bonus: 0 }
  }
}
