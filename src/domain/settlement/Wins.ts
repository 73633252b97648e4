/** Paying a win (the rules of `Settlement.ts`). */
import { settleLate } from "../bonus/ConvertedBonuses.ts"
import { writeRound } from "./Bets.ts"
import type { CasinoSource } from "../Change.ts"
import { type Knowledge, missing } from "../Decision.ts"
import type { CasinoReferences, Draft } from "../Draft.ts"
import { count } from "../limit/Limits.ts"
import { unknownGame, type Win, type WinCode } from "../Messages.ts"
import { isBalance, maxBalance, multiplyDivideFloor } from "../Money.ts"
import { type Refusal, refuse } from "../Refusal.ts"
import type { Round, Transaction } from "./Rounds.ts"
import {
  bonusStanding,
  currencyRefusal,
  findRound,
  findTransaction,
  ids,
  newTransaction,
  noSuchGame,
  type Outcome,
  replayUnlessRolledBack,
  rolledBack,
  settlement,
  validation
} from "./SettlementParts.ts"

/**
 * Credits money that belongs to a bonus: to the bonus while it runs, to the real wallet once it was converted, and to neither
 * when it ended otherwise, which the ledger shows as a credit that is forfeited at once.
 */
export const creditBonus = (
  draft: Draft,
  type: "casino_win" | "casino_rollback",
  amount: number,
  bonusId: number | null,
  standing: "running" | "converted" | "over",
  references: CasinoReferences
): { readonly entryIds: ReadonlyArray<number>; readonly real: number; readonly bonus: number } => {
  const withBonus = { ...references, playerBonusId: bonusId }
  switch (standing) {
    case "running":
      return { entryIds: ids(draft.post("bonus", type, amount, withBonus)), real: 0, bonus: amount }
    case "converted":
      settleLate(draft, bonusId, amount)
      return { entryIds: ids(draft.post("real", type, amount, withBonus)), real: amount, bonus: 0 }
    case "over":
      return {
        entryIds: ids(
          draft.post("bonus", type, amount, withBonus),
          draft.post("bonus", "bonus_correction_down", -amount, withBonus)
        ),
        real: 0,
        bonus: 0
      }
  }
}

/** Credits a win of a round in the proportion in which its stakes were paid. `standing` is that of the bonus that paid a part. */
export const payOut = (
  draft: Draft,
  round: Pick<Round, "gameId" | "roundId" | "realStake" | "bonusStake" | "bonusId">,
  source: CasinoSource,
  amount: number,
  standing: "running" | "converted" | "over"
) => {
  const references = { gameId: round.gameId, gameRoundId: round.roundId, source }
  const stakes = round.realStake + round.bonusStake
  const bonusPart = round.bonusStake === 0 ? 0 : multiplyDivideFloor(amount, round.bonusStake, stakes)
  const realPart = amount - bonusPart
  const realEntry = draft.post("real", "casino_win", realPart, references)
  const credited = creditBonus(draft, "casino_win", bonusPart, round.bonusId, standing, references)
  const entryIds = [...ids(realEntry), ...credited.entryIds]
  const real = realPart + credited.real
  if (entryIds.length > 0) draft.walletSeq++
  if (real !== 0) draft.counters = count(draft.counters, draft.now, 0, -real, draft.now)
  return { entryIds, real, bonus: credited.bonus, bonusPart }
}

export const payWin = (draft: Draft, win: Win, known: Knowledge | undefined): Outcome<WinCode> => {
  const earlier = findTransaction(draft, known, win.providerId, win.transactionId)
  if (earlier !== undefined && earlier !== null) {
    const round = earlier.gameId === win.game.id && earlier.roundId === win.roundId
    const content = round && earlier.amount === win.amount && win.currency === draft.player.currency &&
      earlier.targetId === win.betTransactionId
    return replayUnlessRolledBack(draft, known, earlier, win.policy, { kind: "win", content, round })
  }
  if (win.betTransactionId === null) return betNotFound("")
  const bet = findTransaction(draft, known, win.providerId, win.betTransactionId)
  const round = findRound(draft, known, win.game.id, win.roundId)
  const lookUp = missing({
    providerId: win.providerId,
    transactionIds: [win.transactionId, win.betTransactionId],
    rounds: [{ gameId: win.game.id, roundId: win.roundId }],
    bonusIds: round === undefined || round === null || round.bonusId === null ? [] : [round.bonusId]
  })
  if (bet === undefined || round === undefined) return lookUp
  const refusal = refuseWin(draft, win, bet, round)
  if (refusal !== undefined || round === null || bet === null) {
    return earlier === undefined ? lookUp : refusal ?? betNotFound(win.betTransactionId)
  }
  const standing = round.bonusStake === 0 || round.bonusId === null
    ? "over"
    : bonusStanding(draft, known, round.bonusId)
  if (standing === undefined) return lookUp

  const source = { providerId: win.providerId, isLive: round.isLive ?? win.game.type === "live" }
  const { bonus, bonusPart, entryIds, real } = payOut(draft, round, source, win.amount, standing)
  const transaction = newTransaction(draft, "win", win, {
    amount: win.amount,
    gameId: win.game.id,
    roundId: win.roundId,
    targetId: win.betTransactionId,
    realAmount: real,
    bonusAmount: bonus,
    entryIds,
    bonusId: bonusPart > 0 ? round.bonusId : null,
    wagered: standing === "converted" ? bonusPart : 0
  })
  draft.record(transaction)
  writeRound(draft, round, {
    ...round,
    paidWins: win.amount > 0 ? round.paidWins + 1 : round.paidWins,
    closed: win.closesRound === true
  })
  draft.closeBonusWhenDue()
  return settlement(draft, win.transactionId, "processed", win.closesRound ? "closed" : "open", transaction)
}

const betNotFound = (transactionId: string) =>
  refuse("BET_NOT_FOUND", `There is no such bet: ${transactionId}.`, { bet_transaction_id: transactionId })

const refuseWin = (
  draft: Draft,
  win: Win,
  bet: Transaction | null,
  round: Round | null
): Refusal<WinCode> | undefined => {
  if (win.currency !== draft.player.currency) return currencyRefusal(draft.player)
  if (win.game.id === unknownGame.id) return noSuchGame
  if (bet === null) return betNotFound(win.betTransactionId ?? "")
  if (bet.kind === "tombstone" || (bet.kind === "bet" && bet.rolledBack)) return rolledBack(bet)
  if (
    bet.kind !== "bet" || bet.playerId !== draft.player.id || bet.gameId !== win.game.id || bet.roundId !== win.roundId
  ) return betNotFound(win.betTransactionId ?? "")
  if (round?.closed === true) return refuse("ROUND_CLOSED", "The round is closed.", { round_id: win.roundId })
  return isBalance(draft.real + win.amount) && isBalance(draft.bonus + win.amount)
    ? undefined
    : validation("amount", `must keep the balance at or below ${maxBalance}`)
}
