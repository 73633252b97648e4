/**
 * How a game provider settles rounds against a player's wallets: bet, win, both at once, rollback, close and promo-win.
 *
 * What is ruled here:
 * - a message whose id is known is answered as it was the first time, before anything else is looked at, and moves nothing;
 *   under the same id nothing else is ever accepted;
 * - a bet takes real money first and bonus money second, and passes every check in one fixed order;
 * - a win is split by what funded its round; it is always settled, whatever became of the player since;
 * - a rollback gives back exactly what its target moved. One whose target never came leaves a tombstone, and the target is
 *   refused when it comes late.
 *
 * `docs/decisions/0005-settlement.md` says why. Instants are epoch milliseconds, money is minor units.
 */
import { placeBet, writeRound } from "./Bets.ts"
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
import { isBalance, maxBalance } from "../Money.ts"
import type { Player } from "../player/Player.ts"
import type { Refusal } from "../Refusal.ts"
import { rollBack } from "./Rollbacks.ts"
import { placeOfTransaction, roundKey } from "./Rounds.ts"
import {
  currencyRefusal,
  findRound,
  findTransaction,
  ids,
  isSettlement,
  neverPlayedHere,
  newTransaction,
  type Outcome,
  replay,
  rolledBack,
  settlement,
  validation
} from "./SettlementParts.ts"
import { payWin } from "./Wins.ts"

export * from "../Messages.ts"

const conclude = <Code extends SettlementCode>(
  draft: Draft,
  outcome: Outcome<Code>
): Decision<Settlement, Refusal<Code>> => {
  if (!isSettlement(outcome)) return outcome._tag === "Missing" ? outcome : refused(outcome)
  return draft.hasChange ? draft.accept(outcome) : answer(draft.unchanged, outcome)
}

const knowsProvider = (player: Player, providerId: number): boolean => player.providerIds.includes(providerId)

const apply = (draft: Draft, action: Action, known: Knowledge | undefined): Outcome<SettlementCode> => {
  if (action.action !== "bet" && !knowsProvider(draft.player, action.providerId)) return neverPlayedHere
  switch (action.action) {
    case "bet":
      return placeBet(draft, action, known)
    case "win":
      return payWin(draft, action, known)
    case "rollback":
      return rollBack(draft, action, known)
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
  actions.some(({ providerId, transactionId }) =>
    known?.transactions.has(transactionId) !== true &&
    placeOfTransaction(player.transactions, providerId, transactionId) < 0
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
    transactionIds.add(action.transactionId)
    if (action.action === "rollback") {
      transactionIds.add(action.targetTransactionId)
    } else {
      if (action.action === "win") transactionIds.add(action.betTransactionId)
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
  const { game, roundId } = command
  const round = findRound(draft, context.known, game.id, roundId)
  if (round === undefined) {
    return missing({ providerId: command.providerId, rounds: [{ gameId: game.id, roundId }] })
  }
  if (round?.closed === true) return conclude(draft, settlement(draft, null, "replayed", "closed"))
  writeRound(draft, round, {
    gameId: game.id,
    roundId,
    realStake: 0,
    bonusStake: 0,
    paidWins: 0,
    bonusId: null,
    isLive: null,
    openedAt: draft.now,
    ...round,
    closed: true
  })
  draft.closeBonusWhenDue()
  return conclude(draft, settlement(draft, null, "processed", "closed"))
}

/** Pays money that belongs to no round: a jackpot, a tournament prize, free rounds, a cash drop. Always real money. */
export const payPromoWin = (
  player: Player,
  win: PromoWin,
  context: Context
): Decision<Settlement, Refusal<PromoWinCode>> => {
  if (!knowsProvider(player, win.providerId)) return refused(neverPlayedHere)
  const draft = new Draft(player, context)
  const detail = `${win.kind}:${win.campaignId}`
  const earlier = findTransaction(draft, context.known, win.providerId, win.transactionId)
  if (earlier !== undefined && earlier !== null) {
    if (earlier.kind === "tombstone") return refused(rolledBack(win.transactionId))
    const same = earlier.kind === "promo_win" && earlier.amount === win.amount && earlier.detail === detail &&
      win.currency === player.currency
    return conclude(draft, replay(draft, context.known, earlier, same))
  }
  const refusal = win.currency !== player.currency
    ? currencyRefusal(player)
    : isBalance(draft.real + win.amount)
    ? undefined
    : validation("amount", `must keep the balance at or below ${maxBalance}`)
  if (refusal !== undefined) {
    return earlier === null
      ? refused(refusal)
      : missing({ providerId: win.providerId, transactionIds: [win.transactionId] })
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
  return conclude(draft, settlement(draft, win.transactionId, "processed", "closed", transaction))
}
