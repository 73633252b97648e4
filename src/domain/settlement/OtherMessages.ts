/**
 * Promo-wins (credits of a promotion without a bet, such as a tournament prize), adjustments and the closing of rounds (rules in `Settlement.ts`).
 */
import { ids } from "../state/Change.ts"
import { writeRound } from "./Bets.ts"
import { coversDebit, releaseHold } from "../bonus/BonusMoney.ts"
import { answer, type Context, type Decision, type Knowledge, missing } from "../state/Decision.ts"
import { Draft } from "../state/Draft.ts"
import {
  type Adjustment,
  type AdjustmentCode,
  type CloseRound,
  type PromoWin,
  type PromoWinCode,
  unknownGame
} from "../state/Messages.ts"
import { isBalance, maxBalance } from "../Money.ts"
import type { Player } from "../state/Player.ts"
import { type Refusal, refuse } from "../Refusal.ts"
import type { Round } from "../state/Rounds.ts"
import {
  currencyRefusal,
  emptyRound,
  findRound,
  findTransaction,
  isBonusUnknown,
  newTransaction,
  noSuchGame,
  type Outcome,
  replayUnlessRolledBack,
  settlement,
  validation
} from "./SettlementParts.ts"
import { bonusPartOf, payOut } from "./Wins.ts"

/** Rule of `closeRound`. */
export const applyCloseRound = (
  draft: Draft,
  command: CloseRound,
  known: Knowledge | undefined
): Outcome<"NOT_FOUND"> => {
  const { game, providerId, roundId } = command
  if (game.id === unknownGame.id) return noSuchGame
  const round = findRound(draft, known, game.id, roundId)
  if (round === undefined) return missing({ providerId, rounds: [{ gameId: game.id, roundId }] })
  if (round?.closed === true) return settlement(draft, null, "replayed", "closed")
  writeRound(draft, round, { ...round ?? emptyRound(draft, game.id, roundId), closed: true })
  return settlement(draft, null, "processed", "closed")
}

export interface StaffClose {
  readonly providerId: number
  readonly gameId: number
  readonly roundId: string
  readonly reason: string
  /** Audit log label of the actor. */
  readonly actor: string
}

/**
 * Closes a round on behalf of its provider, which did not: no bet of it holds a bonus any more. A win that comes all the same undoes the loss of a bonus
 * (`docs/decisions/0026-undone-ends.md`). Changes nothing where nothing is open.
 */
export const staffCloseStep =
  ({ actor, gameId, providerId, reason, roundId }: StaffClose) =>
  (player: Player, context: Context): Decision<null, never> => {
    const draft = new Draft(player, context)
    const round = findRound(draft, context.known, gameId, roundId)
    if (round === undefined) return missing({ providerId, rounds: [{ gameId, roundId }] })
    if (round === null) return answer(player, null)
    const wasHeld = releaseHold(draft, round.bonusId)
    if (round.closed && !wasHeld) return answer(player, null)
    writeRound(draft, round, { ...round, closed: true })
    const audit = {
      id: draft.takeId(),
      at: context.now,
      actor,
      action: "round.close",
      operatorId: player.operatorId,
      playerId: player.id,
      subject: `round:${gameId}:${roundId}`,
      before: { state: round.closed ? "closed" : "open" },
      after: { state: "closed" },
      reason
    }
    return draft.accept(null, { audit: [audit] })
  }

/** Rule of `payPromoWin`. */
export const applyPromoWin = (draft: Draft, win: PromoWin, known: Knowledge | undefined): Outcome<PromoWinCode> => {
  const { player } = draft
  const detail = `${win.kind}:${win.campaignId}`
  const earlier = findTransaction(draft, known, win.providerId, win.transactionId)
  if (earlier !== undefined && earlier !== null) {
    const content = earlier.amount === win.amount && earlier.detail === detail && win.currency === player.currency
    return replayUnlessRolledBack(draft, known, earlier, win.policy, { kind: "promo_win", content, round: true })
  }
  const refusal = win.currency !== player.currency
    ? currencyRefusal(player)
    : isBalance(draft.real + win.amount)
    ? undefined
    : validation("amount", `must keep the balance at or below ${maxBalance}`)
  if (refusal !== undefined) {
    return earlier === null ? refusal : missing({ providerId: win.providerId, transactionIds: [win.transactionId] })
  }
  const entryIds = ids(
    win.kind === "tournament"
      ? draft.post("real", "tournament_prize", win.amount, {})
      : draft.post("real", "casino_win", win.amount, { source: { providerId: win.providerId, isLive: false } })
  )
  if (entryIds.length > 0) draft.walletSeq++
  const transaction = newTransaction(draft, "promo_win", win, {
    amount: win.amount,
    detail,
    realAmount: win.amount,
    entryIds
  })
  draft.record(transaction)
  return settlement(draft, win.transactionId, "processed", "closed", transaction)
}

const refuseAdjustment = (
  draft: Draft,
  { amount, currency, game }: Adjustment,
  round: Round
): Refusal<AdjustmentCode> | undefined => {
  if (currency !== draft.player.currency) return currencyRefusal(draft.player)
  if (game.id === unknownGame.id) return noSuchGame
  if (amount < 0) {
    const bonusPart = bonusPartOf(round, -amount)
    return coversDebit(draft, -amount - bonusPart, bonusPart, round.bonusId)
      ? undefined
      : refuse("INSUFFICIENT_FUNDS", "The balance does not cover the debit.", { balance: draft.real })
  }
  return isBalance(draft.real + amount) && isBalance(draft.bonus + amount)
    ? undefined
    : validation("amount", `must keep the balance at or below ${maxBalance}`)
}

/**
 * Corrects the result of a round: a credit is a win, a debit takes back part of one, each split as the round was funded. As a settlement it is refused
 * neither for the account's state nor for its limits; it counts as won or lost.
 */
export const adjust = (
  draft: Draft,
  adjustment: Adjustment,
  known: Knowledge | undefined
): Outcome<AdjustmentCode> => {
  const { amount, game, policy, providerId, roundId, transactionId } = adjustment
  const { player } = draft
  const earlier = findTransaction(draft, known, providerId, transactionId)
  if (earlier !== undefined && earlier !== null) {
    const isOfRound = earlier.gameId === game.id && earlier.roundId === roundId
    const content = isOfRound && earlier.amount === amount && adjustment.currency === player.currency
    return replayUnlessRolledBack(draft, known, earlier, policy, { kind: "adjustment", content, round: isOfRound })
  }
  const round = findRound(draft, known, game.id, roundId)
  const lookUp = () =>
    missing({
      providerId,
      transactionIds: [transactionId],
      rounds: [{ gameId: game.id, roundId }],
      bonusIds: round === undefined || round === null || round.bonusId === null ? [] : [round.bonusId]
    })
  if (round === undefined || isBonusUnknown(draft, round)) return lookUp()
  const before = round ?? emptyRound(draft, game.id, roundId)
  const refusal = refuseAdjustment(draft, adjustment, before)
  if (refusal !== undefined) return earlier === undefined ? lookUp() : refusal
  const isLive = round?.isLive ?? game.type === "live"
  const { bonus, bonusId, entryIds, late, real } = payOut(draft, before, { providerId, isLive }, amount)
  const transaction = newTransaction(draft, "adjustment", adjustment, {
    amount,
    gameId: game.id,
    roundId,
    // the type it was counted as, for its rollback: the round may never learn it
    detail: isLive ? "live" : "rng",
    realAmount: real,
    bonusAmount: bonus,
    entryIds,
    bonusId,
    wagered: late
  })
  draft.record(transaction)
  writeRound(draft, round, { ...before, won: before.won + real + bonus })
  return settlement(draft, transactionId, "processed", round?.closed === true ? "closed" : "open", transaction)
}
