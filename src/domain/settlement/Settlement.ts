/**
 * Settlement of provider messages against a player's wallets: bet, win, both at once, rollback, close and promo-win.
 *
 * Rules, subject to the policy of the provider's protocol:
 * - a message with a known id is answered as it was the first time, before any other check, and moves nothing; any other message under that id is
 *   refused;
 * - a bet debits real money first and bonus money second, and passes all checks in one fixed order;
 * - a win is split as its round was funded, between real and bonus money; it is always settled, whatever the player's state;
 * - a rollback returns exactly the amounts of its target. If the target has not arrived, the rollback itself is recorded (a tombstone), and the
 *   target is refused when it arrives late.
 *
 * `docs/decisions/0005-settlement.md` gives the reasons. Instants are epoch milliseconds, money is minor units.
 */
import { placeBet } from "./Bets.ts"
import {
  answer,
  type Context,
  type Decision,
  type Knowledge,
  type Missing,
  missing,
  refused
} from "../state/Decision.ts"
import { Draft } from "../state/Draft.ts"
import type {
  Action,
  Bet,
  BetCode,
  CloseRound,
  PromoWin,
  PromoWinCode,
  Rollback,
  RollbackCode,
  Settlement,
  SettlementCode,
  SettlementRefusal,
  Win,
  WinCode
} from "../state/Messages.ts"
import type { Player } from "../state/Player.ts"
import type { Refusal } from "../Refusal.ts"
import { adjust, applyCloseRound, applyPromoWin } from "./OtherMessages.ts"
import { ownRollbackOf, rollBack } from "./Rollbacks.ts"
import { indexOfTransaction, roundKey } from "../state/Rounds.ts"
import {
  findRound,
  findTransaction,
  isSettlement,
  knowsProvider,
  type Outcome,
  playerUnknownToProvider
} from "./SettlementParts.ts"
import { payWin } from "./Wins.ts"

export * from "../state/Messages.ts"
export { stakeableBonus } from "./Bets.ts"

const toDecision = <Code extends SettlementCode>(
  draft: Draft,
  outcome: Outcome<Code>
): Decision<Settlement, Refusal<Code>> => {
  if (!isSettlement(outcome)) return outcome._tag === "Missing" ? outcome : refused(outcome)
  return draft.hasChange ? draft.accept(outcome) : answer(draft.unchanged, outcome)
}

const apply = (draft: Draft, action: Action, known: Knowledge | undefined): Outcome<SettlementCode> => {
  if (action.action !== "bet" && !knowsProvider(draft.player, action.providerId)) return playerUnknownToProvider
  switch (action.action) {
    case "bet":
      return placeBet(draft, action, known)
    case "win":
      return payWin(draft, action, known)
    case "rollback":
      return rollBack(draft, action, known)
    case "promo_win":
      return applyPromoWin(draft, action, known)
    case "adjust":
      return adjust(draft, action, known)
    case "close_round":
      return applyCloseRound(draft, action, known)
  }
}

/** Settles one bet, win or rollback. */
export function settle(player: Player, action: Bet, context: Context): Decision<Settlement, Refusal<BetCode>>
export function settle(player: Player, action: Win, context: Context): Decision<Settlement, Refusal<WinCode>>
export function settle(player: Player, action: Rollback, context: Context): Decision<Settlement, Refusal<RollbackCode>>
export function settle(player: Player, action: Action, context: Context): Decision<Settlement, SettlementRefusal>
export function settle(player: Player, action: Action, context: Context): Decision<Settlement, SettlementRefusal> {
  const draft = new Draft(player, context)
  return toDecision(draft, apply(draft, action, context.known))
}

/** Settles several in order, all or nothing. A refusal names the action by its index; a known one is replayed in its position. */
export const settleAll = (
  player: Player,
  actions: ReadonlyArray<Action>,
  context: Context
): Decision<ReadonlyArray<Settlement>, SettlementRefusal> => {
  const draft = new Draft(player, context)
  const results: Array<Settlement> = []
  // bonuses are judged after the last transaction, which mostly closes the round itself, and after a close behind it
  const last = actions.findLastIndex(({ action }) => action !== "close_round")
  for (const [index, action] of actions.entries()) {
    draft.isMidMessage = index < last
    const outcome = apply(draft, action, context.known)
    if (!isSettlement(outcome)) {
      if (outcome._tag === "Missing") return queryForAll(draft, context.known, actions, outcome)
      return assumes(player, context.known, actions)
        ? queryForAll(draft, context.known, actions, missing({ providerId: action.providerId }))
        : refused({ ...outcome, details: { ...outcome.details, action_index: index } })
    }
    results.push(outcome)
  }
  return draft.hasChange ? draft.accept(results) : answer(draft.unchanged, results)
}

/**
 * True while an id of the batch is only assumed to be new. A refused batch has no commit to prove it, and the refusal may be caused by the
 * assumption: the store has to be queried first.
 */
const assumes = (player: Player, known: Knowledge | undefined, actions: ReadonlyArray<Action>): boolean =>
  actions.some((action) =>
    action.action !== "close_round" && known?.transactions.has(action.transactionId) !== true &&
    indexOfTransaction(player.transactions, action.providerId, action.transactionId) < 0
  )

/**
 * Query of one action, extended by the ids of the others and by the rounds and bonuses of those found so far. The number of queries is constant,
 * whatever the number of actions.
 */
const queryForAll = (
  draft: Draft,
  known: Knowledge | undefined,
  actions: ReadonlyArray<Action>,
  lacking: Missing
): Missing => {
  const { providerId } = lacking.query
  const transactionIds = new Set(lacking.query.transactionIds)
  const rounds = new Map(lacking.query.rounds.map((round) => [roundKey(round.gameId, round.roundId), round]))
  const bonusIds = new Set(lacking.query.bonusIds)
  const addRound = (gameId: number, roundId: string) => rounds.set(roundKey(gameId, roundId), { gameId, roundId })
  for (const action of actions) {
    if (action.action !== "close_round") transactionIds.add(action.transactionId)
    if (action.action === "rollback") {
      transactionIds.add(action.targetTransactionId)
      const target = findTransaction(draft, known, action.providerId, action.targetTransactionId)
      if (target?.kind === "rollback" && target.targetId !== null && action.policy.settledBets === "roll_back") {
        transactionIds.add(target.targetId)
        const own = ownRollbackOf(action, target)
        if (own !== null) transactionIds.add(own)
      }
    } else if (action.action !== "promo_win") {
      if (action.action === "win" && action.betTransactionId !== null) transactionIds.add(action.betTransactionId)
      addRound(action.game.id, action.roundId)
    }
  }
  for (const transactionId of transactionIds) {
    const found = findTransaction(draft, known, providerId, transactionId)
    if (found === undefined || found === null) continue
    if (found.gameId !== null && found.roundId !== null) addRound(found.gameId, found.roundId)
    if (found.bonusId !== null) bonusIds.add(found.bonusId)
  }
  for (const { gameId, roundId } of rounds.values()) {
    const bonusId = findRound(draft, known, gameId, roundId)?.bonusId ?? null
    if (bonusId !== null) bonusIds.add(bonusId)
  }
  return missing({
    ...lacking.query,
    transactionIds: [...transactionIds],
    rounds: [...rounds.values()],
    bonusIds: [...bonusIds]
  })
}

/** Settles a bet and its win in one step, as one action: the wallet sequence rises once. */
export const settleBetWin = (
  player: Player,
  bet: Bet,
  win: Win,
  context: Context
): Decision<Settlement, Refusal<BetCode | WinCode>> => {
  const draft = new Draft(player, context)
  draft.isMidMessage = true
  const placed = placeBet(draft, bet, context.known)
  if (!isSettlement(placed)) {
    return placed._tag === "Missing" ? queryForAll(draft, context.known, [bet, win], placed) : refused(placed)
  }
  draft.isMidMessage = false
  const paid = payWin(draft, win, context.known)
  if (!isSettlement(paid)) {
    if (paid._tag === "Missing") return queryForAll(draft, context.known, [bet, win], paid)
    return assumes(player, context.known, [bet, win])
      ? queryForAll(draft, context.known, [bet, win], missing({ providerId: bet.providerId }))
      : refused(paid)
  }
  draft.walletSeq = Math.min(draft.walletSeq, player.walletSeq + 1)
  return toDecision(draft, {
    ...paid,
    walletSeq: draft.walletSeq,
    transactionId: bet.transactionId,
    status: placed.status === "replayed" && paid.status === "replayed" ? "replayed" : "processed",
    first: "processed",
    entryIds: [...placed.entryIds, ...paid.entryIds],
    realAmount: placed.realAmount + paid.realAmount,
    bonusAmount: placed.bonusAmount + paid.bonusAmount
  })
}

/** Closes a round. An unknown round is closed permanently as well: a late bet of it is refused. */
export const closeRound = (
  player: Player,
  command: CloseRound,
  context: Context
): Decision<Settlement, Refusal<"NOT_FOUND">> => {
  if (!knowsProvider(player, command.providerId)) return refused(playerUnknownToProvider)
  const draft = new Draft(player, context)
  return toDecision(draft, applyCloseRound(draft, command, context.known))
}

/** Pays money that belongs to no round: a jackpot, a tournament prize, free rounds, a cash drop. Always real money. */
export const payPromoWin = (
  player: Player,
  win: PromoWin,
  context: Context
): Decision<Settlement, Refusal<PromoWinCode>> => {
  if (!knowsProvider(player, win.providerId)) return refused(playerUnknownToProvider)
  const draft = new Draft(player, context)
  return toDecision(draft, applyPromoWin(draft, win, context.known))
}
