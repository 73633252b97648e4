/**
 * How a game provider settles rounds against a player's wallets: bet, win, both at once, rollback, close and promo-win.
 *
 * What is ruled here, as the policy of the provider's protocol says where protocols differ:
 * - a message whose id is known is answered as it was the first time, before anything else is looked at, and moves nothing;
 *   under the same id nothing else is ever accepted;
 * - a bet takes real money first and bonus money second, and passes every check in one fixed order;
 * - a win is split by what funded its round; it is always settled, whatever became of the player since;
 * - a rollback gives back exactly what its target moved. One whose target never came leaves a tombstone, and the target is
 *   refused when it comes late.
 *
 * `docs/decisions/0005-settlement.md` says why. Instants are epoch milliseconds, money is minor units.
 */
import { placeBet } from "./Bets.ts"
import { answer, type Context, type Decision, type Knowledge, type Missing, missing, refused } from "../Decision.ts"
import { Draft } from "../Draft.ts"
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
} from "../Messages.ts"
import type { Player } from "../player/Player.ts"
import type { Refusal } from "../Refusal.ts"
import { adjust, close, payPrize } from "./OtherMessages.ts"
import { rollBack } from "./Rollbacks.ts"
import { placeOfTransaction, roundKey } from "./Rounds.ts"
import {
  findRound,
  findTransaction,
  isSettlement,
  knowsProvider,
  neverPlayedHere,
  type Outcome
} from "./SettlementParts.ts"
import { payWin } from "./Wins.ts"

export * from "../Messages.ts"
export { stakeableBonus } from "./Bets.ts"

const conclude = <Code extends SettlementCode>(
  draft: Draft,
  outcome: Outcome<Code>
): Decision<Settlement, Refusal<Code>> => {
  if (!isSettlement(outcome)) return outcome._tag === "Missing" ? outcome : refused(outcome)
  return draft.hasChange ? draft.accept(outcome) : answer(draft.unchanged, outcome)
}

const apply = (draft: Draft, action: Action, known: Knowledge | undefined): Outcome<SettlementCode> => {
  if (action.action !== "bet" && !knowsProvider(draft.player, action.providerId)) return neverPlayedHere
  switch (action.action) {
    case "bet":
      return placeBet(draft, action, known)
    case "win":
      return payWin(draft, action, known)
    case "rollback":
      return rollBack(draft, action, known)
    case "promo_win":
      return payPrize(draft, action, known)
    case "adjust":
      return adjust(draft, action, known)
    case "close_round":
      return close(draft, action, known)
  }
}

/** Settles one bet, win or rollback. */
export function settle(player: Player, action: Bet, context: Context): Decision<Settlement, Refusal<BetCode>>
export function settle(player: Player, action: Win, context: Context): Decision<Settlement, Refusal<WinCode>>
export function settle(player: Player, action: Rollback, context: Context): Decision<Settlement, Refusal<RollbackCode>>
export function settle(player: Player, action: Action, context: Context): Decision<Settlement, SettlementRefusal>
export function settle(player: Player, action: Action, context: Context): Decision<Settlement, SettlementRefusal> {
  const draft = new Draft(player, context)
  return conclude(draft, apply(draft, action, context.known))
}

/**
 * Settles several in order, all or nothing. A refusal names the action by its place; one that is already known is replayed in
 * its place.
 */
export const settleAll = (
  player: Player,
  actions: ReadonlyArray<Action>,
  context: Context
): Decision<ReadonlyArray<Settlement>, SettlementRefusal> => {
  const draft = new Draft(player, context)
  const results: Array<Settlement> = []
  for (const [index, action] of actions.entries()) {
    const outcome = apply(draft, action, context.known)
    if (!isSettlement(outcome)) {
      if (outcome._tag === "Missing") return askForAll(draft, context.known, actions, outcome)
      return assumes(player, context.known, actions)
        ? askForAll(draft, context.known, actions, missing({ providerId: action.providerId }))
        : refused({ ...outcome, details: { ...outcome.details, action_index: index } })
    }
    results.push(outcome)
  }
  return draft.hasChange ? draft.accept(results) : answer(draft.unchanged, results)
}

/**
 * True while an id of the batch is only assumed to be new. No commit will prove it when the batch is refused, and the refusal
 * may be owed to it: so the store has to be asked before.
 */
const assumes = (player: Player, known: Knowledge | undefined, actions: ReadonlyArray<Action>): boolean =>
  actions.some((action) =>
    action.action !== "close_round" && known?.transactions.has(action.transactionId) !== true &&
    placeOfTransaction(player.transactions, action.providerId, action.transactionId) < 0
  )

/**
 * What one action lacks, widened to what the others will ask for: the ids they name, and the rounds and bonuses that those found
 * so far belong to. However many actions there are, the store is asked a fixed number of times.
 */
const askForAll = (
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

/** Settles a bet and its win in one step, which is one action: the wallet sequence rises once. */
export const settleBetWin = (
  player: Player,
  bet: Bet,
  win: Win,
  context: Context
): Decision<Settlement, Refusal<BetCode | WinCode>> => {
  const draft = new Draft(player, context)
  const placed = placeBet(draft, bet, context.known)
  if (!isSettlement(placed)) {
    return placed._tag === "Missing" ? askForAll(draft, context.known, [bet, win], placed) : refused(placed)
  }
  const paid = payWin(draft, win, context.known)
  if (!isSettlement(paid)) {
    if (paid._tag === "Missing") return askForAll(draft, context.known, [bet, win], paid)
    return assumes(player, context.known, [bet, win])
      ? askForAll(draft, context.known, [bet, win], missing({ providerId: bet.providerId }))
      : refused(paid)
  }
  draft.walletSeq = Math.min(draft.walletSeq, player.walletSeq + 1)
  return conclude(draft, {
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

/** Closes a round. One that was never seen is closed for good as well: its bet, should it still come, is refused. */
export const closeRound = (
  player: Player,
  command: CloseRound,
  context: Context
): Decision<Settlement, Refusal<"NOT_FOUND">> => {
  if (!knowsProvider(player, command.providerId)) return refused(neverPlayedHere)
  const draft = new Draft(player, context)
  return conclude(draft, close(draft, command, context.known))
}

/** Pays money that belongs to no round: a jackpot, a tournament prize, free rounds, a cash drop. Always real money. */
export const payPromoWin = (
  player: Player,
  win: PromoWin,
  context: Context
): Decision<Settlement, Refusal<PromoWinCode>> => {
  if (!knowsProvider(player, win.providerId)) return refused(neverPlayedHere)
  const draft = new Draft(player, context)
  return conclude(draft, payPrize(draft, win, context.known))
}
