/** Payment of a win (rules in `Settlement.ts`). */
import { creditBonus, debitBonus } from "../bonus/BonusMoney.ts"
import { writeRound } from "./Bets.ts"
import { type CasinoSource, ids } from "../state/Change.ts"
import { type Knowledge, missing } from "../state/Decision.ts"
import type { Draft } from "../state/Draft.ts"
import { countPlay } from "../state/Limits.ts"
import { unknownGame, type Win, type WinCode } from "../state/Messages.ts"
import { isBalance, maxBalance, multiplyDivideFloor } from "../Money.ts"
import { type Refusal, refuse } from "../Refusal.ts"
import { isClosedAfter, type Round, type Transaction, withoutOpenBet } from "../state/Rounds.ts"
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
  rolledBack,
  settlement,
  validation
} from "./SettlementParts.ts"

/** Part of a win, or of its correction, that belongs to the bonus with a stake in the round. */
export const bonusPartOf = ({ bonusStake, realStake }: Pick<Round, "realStake" | "bonusStake">, amount: number) =>
  bonusStake === 0 ? 0 : multiplyDivideFloor(amount, bonusStake, realStake + bonusStake)

/**
 * Credits a win of a round in proportion to the funding of its stakes, or debits in the same proportion what a negative amount takes back of it. The
 * bonus that paid a part must be known.
 */
export const payOut = (
  draft: Draft,
  round: Pick<Round, "gameId" | "roundId" | "realStake" | "bonusStake" | "bonusId">,
  source: CasinoSource,
  amount: number
) => {
  const references = { gameId: round.gameId, gameRoundId: round.roundId, source }
  const isDebit = amount < 0
  const bonusPart = bonusPartOf(round, Math.abs(amount))
  const realPart = isDebit ? amount + bonusPart : amount - bonusPart
  const realEntry = draft.post("real", isDebit ? "casino_rollback" : "casino_win", realPart, references)
  const moved = isDebit
    ? debitBonus(draft, "casino_rollback", { amount: bonusPart, forfeited: 0 }, round.bonusId, references)
    : creditBonus(draft, "casino_win", bonusPart, round.bonusId, references)
  const entryIds = [...ids(realEntry), ...moved.entryIds]
  if (entryIds.length > 0) draft.walletSeq++
  // the part of a converted bonus is not counted as won, as its stake was not counted as lost: undoing the conversion widens no loss limit
  if (realPart !== 0) draft.counters = countPlay(draft.counters, draft.now, 0, -realPart, draft.now)
  return {
    entryIds,
    real: realPart + moved.real,
    bonus: moved.bonus,
    bonusId: bonusPart > 0 ? round.bonusId : null,
    late: moved.real
  }
}

/** The win in the game and the round of its bet, where it belongs to those. */
const placed = (win: Win, bet: Transaction | null | undefined): Win =>
  win.ofBet !== true || bet?.kind !== "bet" || bet.gameId === null || bet.roundId === null ||
    (bet.gameId === win.game.id && bet.roundId === win.roundId)
    ? win
    : { ...win, game: { ...win.game, id: bet.gameId }, roundId: bet.roundId }

export const payWin = (draft: Draft, sent: Win, known: Knowledge | undefined): Outcome<WinCode> => {
  const { betTransactionId } = sent
  const earlier = findTransaction(draft, known, sent.providerId, sent.transactionId)
  if (earlier !== undefined && earlier !== null) {
    const isOfRound = sent.ofBet === true || (earlier.gameId === sent.game.id && earlier.roundId === sent.roundId)
    const content = isOfRound && earlier.amount === sent.amount && sent.currency === draft.player.currency &&
      earlier.targetId === betTransactionId
    return replayUnlessRolledBack(draft, known, earlier, sent.policy, { kind: "win", content, round: isOfRound })
  }
  const bet = betTransactionId === null ? null : findTransaction(draft, known, sent.providerId, betTransactionId)
  const win = placed(sent, bet)
  const round = findRound(draft, known, win.game.id, win.roundId)
  const lookUp = () =>
    missing({
      providerId: win.providerId,
      transactionIds: betTransactionId === null ? [win.transactionId] : [win.transactionId, betTransactionId],
      rounds: [{ gameId: win.game.id, roundId: win.roundId }],
      bonusIds: round === undefined || round === null || round.bonusId === null ? [] : [round.bonusId]
    })
  if (bet === undefined || round === undefined) return lookUp()
  const refusal = refuseWin(draft, win, bet, round)
  if (refusal !== undefined) return earlier === undefined ? lookUp() : refusal
  if (isBonusUnknown(draft, round)) return lookUp()

  const isLive = round?.isLive ?? win.game.type === "live"
  const source = { providerId: win.providerId, isLive }
  // without a stake all of a win is real money
  const before = round ?? emptyRound(draft, win.game.id, win.roundId)
  const { bonus, bonusId, entryIds, late, real } = payOut(draft, before, source, win.amount)
  const transaction = newTransaction(draft, "win", win, {
    amount: win.amount,
    gameId: win.game.id,
    roundId: win.roundId,
    targetId: betTransactionId,
    detail: missingBet(win, bet, round) === undefined ? null : "without_bet",
    realAmount: real,
    bonusAmount: bonus,
    entryIds,
    bonusId,
    wagered: late
  })
  draft.record(transaction)
  if (before.isLive === null) draft.countRound(source, before.openedAt)
  const openBets = win.closesRound === "when_settled" ? withoutOpenBet(before.openBets) : before.openBets
  const closed = isClosedAfter(before.closed, win.closesRound, openBets)
  writeRound(draft, round, {
    ...before,
    paidWins: win.amount > 0 ? before.paidWins + 1 : before.paidWins,
    won: before.won + real + bonus,
    openBets,
    closed,
    isLive
  })
  return settlement(draft, win.transactionId, "processed", closed ? "closed" : "open", transaction)
}

const betNotFound = (transactionId: string | null, roundId: string) =>
  transactionId === null
    ? refuse("BET_NOT_FOUND", `No bet of the round ${roundId} has arrived.`, { round_id: roundId })
    : refuse("BET_NOT_FOUND", `There is no such bet: ${transactionId}.`, { bet_transaction_id: transactionId })

/** Reason for a missing bet: it never arrived as the win names it, or it was rolled back. */
interface MissingBet {
  readonly cause: "never_came" | "rolled_back"
  readonly refusal: Refusal<"BET_NOT_FOUND" | "BET_ROLLED_BACK">
}

/** Missing bet of a win: the one it names or, if it names none, those of its round. */
const missingBet = (win: Win, bet: Transaction | null, round: Round | null): MissingBet | undefined => {
  const { betTransactionId, roundId } = win
  if (betTransactionId === null) {
    if (round === null || round.isLive === null) {
      return { cause: "never_came", refusal: betNotFound(null, roundId) }
    }
    return round.openBets !== 0 ? undefined : {
      cause: "rolled_back",
      refusal: refuse("BET_ROLLED_BACK", `The bets of the round ${roundId} were rolled back.`, {
        round_id: roundId,
        tombstone: false
      })
    }
  }
  if (bet === null) return { cause: "never_came", refusal: betNotFound(betTransactionId, roundId) }
  if (bet.kind === "tombstone" || (bet.kind === "bet" && bet.rolledBack)) {
    return { cause: "rolled_back", refusal: rolledBack(bet) }
  }
  return undefined
}

/** Whether the policy pays a win without its bet. A win that names only its round is paid even when the round's bets were rolled back. */
const isPaidWithoutBet = (
  { betTransactionId, policy }: Win,
  { cause }: MissingBet
): boolean =>
  policy.winsBeforeBets === "pay" &&
  (cause === "never_came" || betTransactionId === null || policy.afterTombstone === "ignore")

const refuseWin = (
  draft: Draft,
  win: Win,
  bet: Transaction | null,
  round: Round | null
): Refusal<WinCode> | undefined => {
  const { id } = draft.player
  if (win.currency !== draft.player.currency) return currencyRefusal(draft.player)
  if (win.game.id === unknownGame.id && win.ofBet !== true) return noSuchGame
  const absent = missingBet(win, bet, round)
  if (absent !== undefined && !isPaidWithoutBet(win, absent)) return absent.refusal
  // applies to rolled back bets too, and by player to tombstones
  const isMismatch = bet !== null && (bet.playerId !== id || (bet.kind !== "tombstone" &&
    (bet.kind !== "bet" || bet.gameId !== win.game.id || bet.roundId !== win.roundId)))
  if (isMismatch || (bet !== null && bet.kind === "bet" && round === null)) {
    return betNotFound(win.betTransactionId, win.roundId)
  }
  if (round?.closed === true && win.policy.closedRounds === "refuse") {
    return refuse("ROUND_CLOSED", "The round is closed.", { round_id: win.roundId })
  }
  return isBalance(draft.real + win.amount) && isBalance(draft.bonus + win.amount)
    ? undefined
    : validation("amount", `must keep the balance at or below ${maxBalance}`)
}
