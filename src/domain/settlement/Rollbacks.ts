/** Rollbacks of bets and wins (rules in `Settlement.ts`). */
import { ids } from "../state/Change.ts"
import { bonusStatusOf, creditBonus, debitBonus, restoreWager, takeBackWager } from "../bonus/BonusMoney.ts"
import { writeRound } from "./Bets.ts"
import { type Knowledge, type Missing, missing } from "../state/Decision.ts"
import type { Draft } from "../state/Draft.ts"
import { countPlay } from "../state/Limits.ts"
import type { Rollback, RollbackCode, Settlement } from "../state/Messages.ts"
import { refuse } from "../Refusal.ts"
import {
  isClosedAfter,
  isClosedWithBet,
  type Query,
  type Round,
  type Transaction,
  withoutOpenBet
} from "../state/Rounds.ts"
import {
  findRound,
  findTransaction,
  isBonusUnknown,
  newTransaction,
  type Outcome,
  replay,
  settlement
} from "./SettlementParts.ts"

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
    // its row and the tombstone of its target share one id
    return refuse("ROLLBACK_NOT_ALLOWED", "A rollback cannot take itself back.", {
      target_transaction_id: targetTransactionId
    })
  }
  if (target === null || target.kind === "tombstone") return leaveTombstone(draft, rollback, target === null)
  if (target.playerId !== draft.player.id) {
    return earlier === undefined ? lookUp({}) : notOfPlayer
  }
  if (rollback.onlyBets === true && target.kind !== "bet") return ignore(draft, rollback, target, null)
  if (target.kind === "rollback") {
    const outcome = rollback.policy.settledBets === "refuse"
      ? rollbackRefused(targetTransactionId)
      : reinstate(draft, rollback, target, known)
    return "_tag" in outcome && (outcome._tag === "Missing" || earlier === undefined)
      ? lookUp(outcome._tag === "Missing" ? outcome.query : {})
      : outcome
  }
  if (target.kind === "promo_win") return takeBack(draft, rollback, target, null)
  if (target.gameId === null || target.roundId === null) return notOfPlayer
  const round = findRound(draft, known, target.gameId, target.roundId)
  const isUnknown = target.bonusId !== null && bonusStatusOf(draft, target.bonusId) === undefined
  // a round that opens again counts as open for its bonus
  if (round === undefined || isUnknown || isBonusUnknown(draft, round)) {
    return lookUp({
      rounds: [{ gameId: target.gameId, roundId: target.roundId }],
      bonusIds: [target.bonusId, round?.bonusId].filter((id) => id !== null && id !== undefined)
    })
  }
  const isSettled = !target.rolledBack && target.kind === "bet" && round !== null && round.paidWins > 0
  if (isSettled && rollback.policy.settledBets === "refuse") {
    return earlier === undefined
      ? lookUp({ rounds: [{ gameId: target.gameId, roundId: target.roundId }] })
      : refuse("BET_ALREADY_SETTLED", "The round was paid a win. Roll the win back first.", {
        target_transaction_id: targetTransactionId
      })
  }
  return takeBack(draft, rollback, target, round)
}

const rollbackRefused = (target: string) =>
  refuse("ROLLBACK_NOT_ALLOWED", "A rollback cannot be rolled back.", { target_transaction_id: target })

const notOfPlayer = refuse("NOT_FOUND", "The target is not a transaction of this player.")

const leaveTombstone = (draft: Draft, rollback: Rollback, isFirst: boolean): Settlement => {
  const { providerId, targetTransactionId } = rollback
  if (isFirst) draft.record(newTransaction(draft, "tombstone", { providerId, transactionId: targetTransactionId }, {}))
  const ignored = newTransaction(draft, "rollback", rollback, { status: "ignored", targetId: targetTransactionId })
  draft.record(ignored)
  return settlement(draft, rollback.transactionId, "ignored", "closed", ignored)
}

/** A tournament prize is not a win of a game; neither is its rollback. */
const isPrize = (target: Transaction): boolean =>
  target.kind === "promo_win" && target.detail?.startsWith("tournament:") === true

const takeBack = (
  draft: Draft,
  rollback: Rollback,
  target: Transaction,
  round: Round | null
): Settlement => {
  if (target.rolledBack) return ignore(draft, rollback, target, round)
  const source = isPrize(target)
    ? null
    : { providerId: target.providerId, isLive: round?.isLive ?? target.detail === "live" }
  const references = { gameId: target.gameId, gameRoundId: target.roundId, source }
  draft.settledFor = target.createdAt
  // before any credit: a returned stake goes to the wallet that its bonus belongs to from then on
  if (target.kind === "bet" && target.bonusId !== null) takeBackWager(draft, target.bonusId, target.wagered)
  // what the real wallet got or gave on behalf of a converted bonus follows the bonus
  const late = target.kind === "bet" ? 0 : target.wagered
  const ofBonus = target.bonusAmount + late
  const own = target.realAmount - late
  const realEntry = draft.post("real", "casino_rollback", 0 - own, references)
  const forfeited = target.kind === "bet" ? 0 : target.amount - target.realAmount - target.bonusAmount
  const moved = ofBonus < 0
    ? creditBonus(draft, "casino_rollback", 0 - ofBonus, target.bonusId, references)
    : debitBonus(draft, "casino_rollback", { amount: ofBonus, forfeited }, target.bonusId, references)
  draft.settledFor = null
  const entryIds = [...ids(realEntry), ...moved.entryIds]
  const real = moved.real - own
  if (entryIds.length > 0) draft.walletSeq++
  if (target.kind === "bet") {
    draft.counters = countPlay(draft.counters, draft.now, -target.amount, own, target.createdAt)
  } else if (target.kind === "win" || target.kind === "adjustment") {
    draft.counters = countPlay(draft.counters, draft.now, 0, own, target.createdAt)
  }
  const transaction = newTransaction(draft, "rollback", rollback, {
    ...targetFields(target),
    realAmount: real,
    bonusAmount: moved.bonus,
    entryIds,
    bonusId: ofBonus === 0 && forfeited === 0 ? null : target.bonusId,
    wagered: target.reinstated
  })
  draft.markRolledBack(target)
  draft.record(transaction)
  const before = round?.openBets ?? 0
  const openBets = target.kind === "bet" ? withoutOpenBet(before) : before
  const closed = round === null || isClosedAfter(round.closed, rollback.closesRound, openBets)
  if (round !== null) {
    writeRound(draft, round, {
      ...round,
      openBets,
      closed,
      realStake: target.kind === "bet" ? round.realStake + target.realAmount : round.realStake,
      bonusStake: target.kind === "bet" ? round.bonusStake + target.bonusAmount : round.bonusStake,
      paidWins: target.kind === "win" && target.amount > 0 ? round.paidWins - 1 : round.paidWins,
      won: target.kind === "bet" ? round.won : round.won - target.realAmount - target.bonusAmount,
      takenBack: round.takenBack + 1
    })
  }
  return settlement(draft, rollback.transactionId, "processed", closed ? "closed" : "open", transaction)
}

const targetFields = ({ amount, gameId, roundId, transactionId }: Transaction) => ({
  targetId: transactionId,
  gameId,
  roundId,
  amount
})

/** Records a rollback of a target that is already rolled back. */
const ignore = (draft: Draft, rollback: Rollback, target: Transaction, round: Round | null): Settlement => {
  const ignored = newTransaction(draft, "rollback", rollback, { ...targetFields(target), status: "ignored" })
  draft.record(ignored)
  return settlement(
    draft,
    rollback.transactionId,
    "ignored",
    round?.closed === false ? "open" : "closed",
    ignored
  )
}

/** Id of the rollback of a bet itself, where it would follow from the bet's; the target is another rollback of it. */
export const ownRollbackOf = ({ idPrefix }: Rollback, { targetId }: Transaction): string | null =>
  idPrefix === undefined || targetId === null ? null : idPrefix + targetId

/**
 * Rolls back the rollback of a bet, which is valid again: its stake is debited once more, whatever the balance, because the provider states that it
 * was played. A bonus whose money was spent meanwhile is short of it. A rollback that moved nothing leaves nothing to reverse.
 */
const reinstate = (
  draft: Draft,
  rollback: Rollback,
  target: Transaction,
  known: Knowledge | undefined
): Outcome<RollbackCode> => {
  const { providerId } = rollback
  if (target.targetId === null) return rollbackRefused(target.transactionId)
  const bet = findTransaction(draft, known, providerId, target.targetId)
  const ownId = ownRollbackOf(rollback, target)
  const own = ownId === null ? null : findTransaction(draft, known, providerId, ownId)
  if (bet === undefined || own === undefined) {
    return missing({ providerId, transactionIds: ownId === null ? [target.targetId] : [target.targetId, ownId] })
  }
  const { gameId, roundId } = target
  const isOfRound = gameId !== null && roundId !== null
  const round = isOfRound ? findRound(draft, known, gameId, roundId) : null
  const bonusId = bet?.bonusId ?? null
  if (round === undefined || (bonusId !== null && bonusStatusOf(draft, bonusId) === undefined)) {
    return missing({
      providerId,
      rounds: isOfRound ? [{ gameId, roundId }] : [],
      bonusIds: bonusId === null ? [] : [bonusId]
    })
  }
  // ignored beside the refund, the bet's own rollback takes the refund's place
  const isTakenBackBesides = own?.kind === "rollback" && own.targetId === target.targetId
  if (target.status === "ignored" || target.rolledBack || isTakenBackBesides) {
    return ignore(draft, rollback, target, round)
  }
  if (bet?.kind !== "bet" || round === null) return rollbackRefused(target.transactionId)

  const source = { providerId, isLive: round.isLive === true }
  const references = { gameId, gameRoundId: roundId, source }
  draft.settledFor = bet.createdAt
  const realEntry = draft.post("real", "casino_bet", bet.realAmount, references)
  // the returned bonus stake is where the bonus is now; its forfeited part is credited and debited once more
  const ofBonus = target.realAmount + bet.realAmount + target.bonusAmount
  const forfeited = -bet.bonusAmount - ofBonus
  const moved = debitBonus(draft, "casino_bet", { amount: ofBonus, forfeited }, bet.bonusId, references)
  draft.settledFor = null
  const entryIds = [...ids(realEntry), ...moved.entryIds]
  if (entryIds.length > 0) draft.walletSeq++
  if (bet.bonusId !== null) restoreWager(draft, bet.bonusId, bet.wagered)
  draft.counters = countPlay(draft.counters, draft.now, bet.amount, 0 - bet.realAmount, bet.createdAt)
  const transaction = newTransaction(draft, "rollback", rollback, {
    ...targetFields(target),
    realAmount: bet.realAmount + moved.real,
    bonusAmount: moved.bonus,
    entryIds,
    bonusId: bet.bonusAmount === 0 ? null : bet.bonusId
  })
  draft.markRolledBack(target)
  draft.markReinstated(bet)
  draft.record(transaction)
  const closed = isClosedWithBet(round.closed, rollback.closesRound)
  writeRound(draft, round, {
    ...round,
    realStake: round.realStake - bet.realAmount,
    bonusStake: round.bonusStake - bet.bonusAmount,
    bonusId: round.bonusStake === 0 && bet.bonusAmount !== 0 ? bet.bonusId : round.bonusId,
    takenBack: Math.max(0, round.takenBack - 1),
    openBets: round.openBets + 1,
    closed
  })
  return settlement(draft, rollback.transactionId, "processed", closed ? "closed" : "open", transaction)
}
