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
import { contribution, type GameType } from "./Bonus.ts"
import { type Context, type Decision, type Knowledge, type Missing, missing, refused } from "./Decision.ts"
import { Draft } from "./Draft.ts"
import { count, effectiveLimits, notePlay, refuseBet } from "./Limits.ts"
import { isAmount, maxAmount, multiplyDivideFloor } from "./Money.ts"
import { activeExclusion, type Player } from "./Player.ts"
import { type Refusal, refuse } from "./Refusal.ts"
import { type Query, type Round, roundKey, type Transaction, type TransactionKind } from "./Rounds.ts"

/** The game of a message, as the catalogue knows it. */
export interface SettledGame {
  readonly id: number
  readonly type: GameType
  /** False when the game or its provider is switched off: no new bets. */
  readonly active: boolean
}

/** Stands for a game that the provider does not have: its messages are refused, unless their ids are known. */
export const unknownGame: SettledGame = { id: 0, type: "rng", active: false }

const noSuchGame: SettlementRefusal = refuse("NOT_FOUND", "This provider has no such game, or it is switched off.")

interface Message {
  readonly providerId: number
  readonly transactionId: string
  readonly currency: string
}

export interface Bet extends Message {
  readonly action: "bet"
  readonly game: SettledGame
  readonly roundId: string
  readonly amount: number
  /** The instant the wallet session ends; null when there is no real-mode session under the token. */
  readonly sessionExpiresAt: number | null
  readonly closesRound: boolean
}

export interface Win extends Message {
  readonly action: "win"
  readonly game: SettledGame
  readonly roundId: string
  readonly betTransactionId: string
  readonly amount: number
  readonly closesRound: boolean
}

export interface Rollback {
  readonly action: "rollback"
  readonly providerId: number
  readonly transactionId: string
  readonly targetTransactionId: string
}

export interface PromoWin extends Message {
  readonly kind: "jackpot" | "tournament" | "free_rounds" | "cash_drop"
  readonly campaignId: string
  readonly amount: number
}

export interface CloseRound {
  readonly providerId: number
  readonly game: SettledGame
  readonly roundId: string
}

export type Action = Bet | Win | Rollback

/** The answer to one message. Amounts are what the message moved in each wallet, signed; balances are those after it. */
export interface Settlement {
  readonly transactionId: string | null
  readonly status: "processed" | "replayed" | "ignored"
  readonly entryIds: ReadonlyArray<number>
  readonly realAmount: number
  readonly bonusAmount: number
  readonly balance: number
  readonly bonusBalance: number
  readonly currency: string
  readonly walletSeq: number
  readonly roundState: "open" | "closed"
}

export type SettlementCode =
  | "DUPLICATE_TRANSACTION"
  | "BET_ROLLED_BACK"
  | "BET_ALREADY_SETTLED"
  | "ROLLBACK_NOT_ALLOWED"
  | "BET_NOT_FOUND"
  | "ROUND_CLOSED"
  | "INVALID_SESSION"
  | "NOT_FOUND"
  | "VALIDATION_FAILED"
  | "PLAYER_RESTRICTED"
  | "LIMIT_EXCEEDED"
  | "BONUS_INVALID"
  | "INSUFFICIENT_FUNDS"

export type SettlementRefusal = Refusal<SettlementCode>

/** A step inside a decision: what it answers, why it cannot be, or what has to be looked up first. */
type Outcome = Settlement | SettlementRefusal | Missing

const isSettlement = (outcome: Outcome): outcome is Settlement => !("_tag" in outcome)

// ---------------------------------------------------------------------------------------------------------------------
// Looking things up: in what the player carries, then in what the store said. `undefined` means nobody has looked yet.

const findTransaction = (
  draft: Draft,
  known: Knowledge | undefined,
  providerId: number,
  transactionId: string
): Transaction | null | undefined => {
  const carried = draft.transactions
  for (let index = carried.length - 1; index >= 0; index--) {
    const transaction = carried[index]!
    if (transaction.transactionId === transactionId && transaction.providerId === providerId) return transaction
  }
  return known?.transactions.get(transactionId)
}

const findRound = (
  draft: Draft,
  known: Knowledge | undefined,
  gameId: number,
  roundId: string
): Round | null | undefined => {
  const carried = draft.rounds
  for (let index = carried.length - 1; index >= 0; index--) {
    const round = carried[index]!
    if (round.roundId === roundId && round.gameId === gameId) return round
  }
  return known?.rounds.get(roundKey(gameId, roundId))
}

/** How the bonus of an earlier stake stands: running, or its result; undefined when the store has to say. */
const bonusStanding = (
  draft: Draft,
  known: Knowledge | undefined,
  bonusId: number
): "running" | "converted" | "over" | undefined => {
  if (draft.activeBonus?.id === bonusId) return "running"
  const result = draft.endedHere(bonusId) ?? known?.bonuses.get(bonusId)
  return result === undefined ? undefined : result === "converted" ? "converted" : "over"
}

// ---------------------------------------------------------------------------------------------------------------------
// Answers

const settlement = (
  draft: Draft,
  transactionId: string | null,
  status: Settlement["status"],
  roundState: Settlement["roundState"],
  moved?: Pick<Transaction, "entryIds" | "realAmount" | "bonusAmount">
): Settlement => ({
  transactionId,
  status,
  entryIds: moved?.entryIds ?? [],
  realAmount: moved?.realAmount ?? 0,
  bonusAmount: moved?.bonusAmount ?? 0,
  balance: draft.real,
  bonusBalance: draft.bonus,
  currency: draft.player.currency,
  walletSeq: draft.walletSeq,
  roundState
})

const duplicate = (transactionId: string): SettlementRefusal =>
  refuse("DUPLICATE_TRANSACTION", `The transaction ${transactionId} was used for something else.`, {
    transaction_id: transactionId
  })

const rolledBack = (transactionId: string): SettlementRefusal =>
  refuse("BET_ROLLED_BACK", `The transaction ${transactionId} was rolled back.`, { transaction_id: transactionId })

/** Answers a message whose id is known: as the first time when it says the same, with today's balances. */
const replay = (draft: Draft, known: Knowledge | undefined, earlier: Transaction, same: boolean): Outcome => {
  if (!same || earlier.playerId !== draft.player.id) return duplicate(earlier.transactionId)
  if (earlier.gameId === null || earlier.roundId === null) {
    return settlement(draft, earlier.transactionId, "replayed", "closed", earlier)
  }
  const round = findRound(draft, known, earlier.gameId, earlier.roundId)
  if (round === undefined) {
    return missing({
      providerId: earlier.providerId,
      transactionIds: [earlier.transactionId],
      rounds: [{ gameId: earlier.gameId, roundId: earlier.roundId }]
    })
  }
  return settlement(draft, earlier.transactionId, "replayed", round?.closed === false ? "open" : "closed", earlier)
}

const validation = (field: string, message: string): SettlementRefusal =>
  refuse("VALIDATION_FAILED", "The request has invalid fields.", { [field]: [message] })

const currencyRefusal = (player: Player): SettlementRefusal =>
  validation("currency", `must be the player's currency ${player.currency}`)

const neverPlayedHere: SettlementRefusal = refuse("NOT_FOUND", "This provider has no such player.")

const newTransaction = (
  draft: Draft,
  kind: TransactionKind,
  message: { readonly providerId: number; readonly transactionId: string },
  fields: Partial<Transaction>
): Transaction => ({
  providerId: message.providerId,
  transactionId: message.transactionId,
  playerId: draft.player.id,
  kind,
  status: "processed",
  amount: 0,
  gameId: null,
  roundId: null,
  targetId: null,
  detail: null,
  realAmount: 0,
  bonusAmount: 0,
  entryIds: [],
  bonusId: null,
  wagered: 0,
  createdAt: draft.now,
  rolledBack: false,
  ...fields
})

const ids = (...posted: ReadonlyArray<number | undefined>): ReadonlyArray<number> =>
  posted.filter((id) => id !== undefined)

// ---------------------------------------------------------------------------------------------------------------------
// Bet

/** Why the account does not allow a bet, whatever its money says. */
const refuseAccount = (player: Player, now: number): SettlementRefusal | undefined => {
  if (player.status !== "active") {
    return refuse("PLAYER_RESTRICTED", `The account is ${player.status}.`, { reason: player.status })
  }
  if (!player.restrictions.canBet) {
    return refuse("PLAYER_RESTRICTED", "Betting is disabled for this player.", { reason: "can_bet" })
  }
  const exclusion = activeExclusion(player, now)
  return exclusion === null
    ? undefined
    : refuse("PLAYER_RESTRICTED", "The player is excluded from play.", { reason: exclusion.type })
}

interface Funding {
  readonly real: number
  readonly bonus: number
}

/** Splits a stake over the wallets: real money first, bonus money only where the running bonus may be staked. */
const fund = (draft: Draft, game: SettledGame, amount: number): Funding | SettlementRefusal => {
  if (amount === 0) return { real: 0, bonus: 0 }
  const usable = draft.activeBonus !== null && contribution(draft.activeBonus, game.id, game.type) > 0 ? draft.bonus : 0
  const real = Math.min(Math.max(draft.real, 0), amount)
  return draft.real < 0 || amount - real > usable
    ? refuse("INSUFFICIENT_FUNDS", "The balance does not cover the stake.", { balance: draft.real })
    : { real, bonus: amount - real }
}

/** Every check of a new bet, in the order of `docs/decisions/0005-settlement.md`, and how it is paid for. */
const admit = (draft: Draft, bet: Bet, round: Round | null | undefined): Funding | SettlementRefusal => {
  const { now, player } = draft
  if (bet.sessionExpiresAt === null || now >= bet.sessionExpiresAt) {
    return refuse("INVALID_SESSION", "The wallet session is unknown or over. Launch the game again.")
  }
  if (bet.currency !== player.currency) return currencyRefusal(player)
  if (!bet.game.active) return noSuchGame
  if (round?.closed === true) return refuse("ROUND_CLOSED", "The round is closed.", { round_id: bet.roundId })
  const account = refuseAccount(player, now)
  if (account !== undefined) return account
  const funding = fund(draft, bet.game, bet.amount)
  // the split says how much real money is at stake, which the loss limits count; when it fails, the checks before it still win
  const realStake = "_tag" in funding ? Math.min(Math.max(draft.real, 0), bet.amount) : funding.real
  const limits = effectiveLimits(player.limits, player.pendingLimits, now)
  const limit = refuseBet(limits, draft.counters, bet.amount, realStake, now)
  if (limit !== undefined) return limit
  const bonus = draft.activeBonus
  if (bonus !== null && bonus.maxBet > 0 && bet.amount > bonus.maxBet) {
    return refuse("BONUS_INVALID", "The stake is larger than the running bonus allows.", { max_bet: bonus.maxBet })
  }
  return funding
}

const placeBet = (draft: Draft, bet: Bet, known: Knowledge | undefined): Outcome => {
  const earlier = findTransaction(draft, known, bet.providerId, bet.transactionId)
  if (earlier !== undefined && earlier !== null) {
    if (earlier.kind === "tombstone") return rolledBack(bet.transactionId)
    return replay(
      draft,
      known,
      earlier,
      earlier.kind === "bet" && earlier.amount === bet.amount && bet.currency === draft.player.currency &&
        earlier.gameId === bet.game.id && earlier.roundId === bet.roundId
    )
  }
  const round = findRound(draft, known, bet.game.id, bet.roundId)
  const funding = admit(draft, bet, round)
  if ("_tag" in funding) {
    // a refusal must be sure that this is not the retry of a bet that was taken: only an acceptance proves it in its commit
    return earlier === null && round !== undefined ? funding : missing({
      providerId: bet.providerId,
      transactionIds: [bet.transactionId],
      rounds: [{ gameId: bet.game.id, roundId: bet.roundId }]
    })
  }
  const { bonus, real } = funding
  const bonusId = bonus > 0 ? draft.activeBonus?.id ?? null : null
  const references = { gameId: bet.game.id, gameRoundId: bet.roundId }
  const entryIds = ids(
    draft.post("real", "casino_bet", -real, references),
    draft.post("bonus", "casino_bet", -bonus, { ...references, playerBonusId: bonusId })
  )
  if (entryIds.length > 0) draft.walletSeq++
  const wageredBonus = draft.activeBonus?.id ?? null
  const wagered = draft.wager(bet.amount, bet.game.id, bet.game.type)
  draft.counters = notePlay(count(draft.counters, draft.now, bet.amount, real, draft.now), draft.now, true)
  const transaction = newTransaction(draft, "bet", bet, {
    amount: bet.amount,
    gameId: bet.game.id,
    roundId: bet.roundId,
    realAmount: 0 - real,
    bonusAmount: 0 - bonus,
    entryIds,
    bonusId: bonusId ?? (wagered > 0 ? wageredBonus : null),
    wagered
  })
  draft.record(transaction)
  writeRound(draft, round ?? null, {
    gameId: bet.game.id,
    roundId: bet.roundId,
    realStake: (round?.realStake ?? 0) + real,
    bonusStake: (round?.bonusStake ?? 0) + bonus,
    paidWins: round?.paidWins ?? 0,
    bonusId: round?.bonusId ?? bonusId,
    closed: bet.closesRound,
    openedAt: round?.openedAt ?? draft.now
  })
  draft.closeBonusWhenDue()
  return settlement(draft, bet.transactionId, "processed", bet.closesRound ? "closed" : "open", transaction)
}

const holdsOpen = (round: Round | null, bonusId: number): number =>
  round !== null && !round.closed && round.bonusStake > 0 && round.bonusId === bonusId ? 1 : 0

/** Writes a round and keeps the running bonus's count of the open rounds that it funds. */
const writeRound = (draft: Draft, before: Round | null, after: Round): void => {
  const bonus = draft.activeBonus
  if (bonus !== null) {
    const difference = holdsOpen(after, bonus.id) - holdsOpen(before, bonus.id)
    if (difference !== 0) draft.activeBonus = { ...bonus, openRounds: bonus.openRounds + difference }
  }
  draft.writeRound(after, before === null)
}

// ---------------------------------------------------------------------------------------------------------------------
// Win

/**
 * Credits money that belongs to a bonus: to the bonus while it runs, to the real wallet once it was converted, and to nobody
 * when it ended otherwise, which the ledger shows as a credit that is forfeited at once.
 */
const creditBonus = (
  draft: Draft,
  type: "casino_win" | "casino_rollback",
  amount: number,
  bonusId: number | null,
  standing: "running" | "converted" | "over",
  references: { readonly gameId: number; readonly gameRoundId: string }
): { readonly entryIds: ReadonlyArray<number>; readonly real: number; readonly bonus: number } => {
  const withBonus = { ...references, playerBonusId: bonusId }
  switch (standing) {
    case "running":
      return { entryIds: ids(draft.post("bonus", type, amount, withBonus)), real: 0, bonus: amount }
    case "converted":
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

const payWin = (draft: Draft, win: Win, known: Knowledge | undefined): Outcome => {
  const earlier = findTransaction(draft, known, win.providerId, win.transactionId)
  if (earlier !== undefined && earlier !== null) {
    if (earlier.kind === "tombstone") return rolledBack(win.transactionId)
    return replay(
      draft,
      known,
      earlier,
      earlier.kind === "win" && earlier.amount === win.amount && win.currency === draft.player.currency &&
        earlier.gameId === win.game.id && earlier.roundId === win.roundId && earlier.targetId === win.betTransactionId
    )
  }
  const bet = findTransaction(draft, known, win.providerId, win.betTransactionId)
  const round = findRound(draft, known, win.game.id, win.roundId)
  const lookUp = missing({
    providerId: win.providerId,
    transactionIds: [win.transactionId, win.betTransactionId],
    rounds: [{ gameId: win.game.id, roundId: win.roundId }],
    bonusIds: round?.bonusId == null ? [] : [round.bonusId]
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

  const references = { gameId: win.game.id, gameRoundId: win.roundId }
  const stakes = round.realStake + round.bonusStake
  const bonusPart = round.bonusStake === 0 ? 0 : multiplyDivideFloor(win.amount, round.bonusStake, stakes)
  const realPart = win.amount - bonusPart
  const realEntry = draft.post("real", "casino_win", realPart, references)
  const credited = creditBonus(draft, "casino_win", bonusPart, round.bonusId, standing, references)
  const entryIds = [...ids(realEntry), ...credited.entryIds]
  const real = realPart + credited.real
  if (entryIds.length > 0) draft.walletSeq++
  if (real !== 0) draft.counters = count(draft.counters, draft.now, 0, -real, draft.now)
  const transaction = newTransaction(draft, "win", win, {
    amount: win.amount,
    gameId: win.game.id,
    roundId: win.roundId,
    targetId: win.betTransactionId,
    realAmount: real,
    bonusAmount: credited.bonus,
    entryIds,
    bonusId: bonusPart > 0 ? round.bonusId : null
  })
  draft.record(transaction)
  writeRound(draft, round, {
    ...round,
    paidWins: win.amount > 0 ? round.paidWins + 1 : round.paidWins,
    closed: win.closesRound
  })
  draft.closeBonusWhenDue()
  return settlement(draft, win.transactionId, "processed", win.closesRound ? "closed" : "open", transaction)
}

const betNotFound = (transactionId: string): SettlementRefusal =>
  refuse("BET_NOT_FOUND", `There is no such bet: ${transactionId}.`, { bet_transaction_id: transactionId })

const refuseWin = (
  draft: Draft,
  win: Win,
  bet: Transaction | null,
  round: Round | null
): SettlementRefusal | undefined => {
  if (win.currency !== draft.player.currency) return currencyRefusal(draft.player)
  if (win.game.id === unknownGame.id) return noSuchGame
  if (bet === null) return betNotFound(win.betTransactionId)
  if (bet.kind === "tombstone" || (bet.kind === "bet" && bet.rolledBack)) return rolledBack(win.betTransactionId)
  if (
    bet.kind !== "bet" || bet.playerId !== draft.player.id || bet.gameId !== win.game.id || bet.roundId !== win.roundId
  ) return betNotFound(win.betTransactionId)
  if (round?.closed === true) return refuse("ROUND_CLOSED", "The round is closed.", { round_id: win.roundId })
  return isAmount(draft.real + win.amount) && isAmount(draft.bonus + win.amount)
    ? undefined
    : validation("amount", `must keep the balance at or below ${maxAmount}`)
}

// ---------------------------------------------------------------------------------------------------------------------
// Rollback

const rollBack = (draft: Draft, rollback: Rollback, known: Knowledge | undefined): Outcome => {
  const { providerId, targetTransactionId, transactionId } = rollback
  const earlier = findTransaction(draft, known, providerId, transactionId)
  if (earlier !== undefined && earlier !== null) {
    const same = earlier.kind === "rollback" && earlier.targetId === targetTransactionId
    return replay(draft, known, earlier, same)
  }
  const target = findTransaction(draft, known, providerId, targetTransactionId)
  const lookUp = (query: Partial<Query>): Missing =>
    missing({ providerId, transactionIds: [transactionId, targetTransactionId], ...query })
  if (target === undefined) return lookUp({})
  if (target === null || target.kind === "tombstone") return leaveTombstone(draft, rollback, target === null)
  if (target.playerId !== draft.player.id) {
    return earlier === undefined ? lookUp({}) : betNotFound(targetTransactionId)
  }
  if (target.kind === "rollback") {
    return earlier === undefined
      ? lookUp({})
      : refuse("ROLLBACK_NOT_ALLOWED", "A rollback cannot be rolled back.", { target_transaction_id: targetTransactionId })
  }
  if (target.kind === "promo_win") return takeBack(draft, rollback, target, null, known)
  if (target.gameId === null || target.roundId === null) return betNotFound(targetTransactionId)
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

const leaveTombstone = (draft: Draft, rollback: Rollback, isFirst: boolean): Outcome => {
  const { providerId, targetTransactionId } = rollback
  if (isFirst) draft.record(newTransaction(draft, "tombstone", { providerId, transactionId: targetTransactionId }, {}))
  draft.record(newTransaction(draft, "rollback", rollback, { status: "ignored", targetId: targetTransactionId }))
  return settlement(draft, rollback.transactionId, "ignored", "closed")
}

const takeBack = (
  draft: Draft,
  rollback: Rollback,
  target: Transaction,
  round: Round | null,
  known: Knowledge | undefined
): Outcome => {
  const roundState = round?.closed === false ? "open" : "closed"
  const about = { targetId: target.transactionId, gameId: target.gameId, roundId: target.roundId, amount: target.amount }
  if (target.rolledBack) {
    draft.record(newTransaction(draft, "rollback", rollback, { ...about, status: "ignored" }))
    return settlement(draft, rollback.transactionId, "ignored", roundState)
  }
  const references = { gameId: target.gameId, gameRoundId: target.roundId }
  const realEntry = draft.post("real", "casino_rollback", -target.realAmount, references)
  const moved = target.bonusAmount === 0 || target.bonusId === null
    ? { entryIds: [], real: 0, bonus: 0 }
    : target.kind === "bet"
    ? creditBonus(
      draft,
      "casino_rollback",
      -target.bonusAmount,
      target.bonusId,
      bonusStanding(draft, known, target.bonusId) ?? "over",
      { gameId: target.gameId ?? 0, gameRoundId: target.roundId ?? "" }
    )
    : debitBonus(draft, target, target.bonusId, bonusStanding(draft, known, target.bonusId) ?? "over")
  const entryIds = [...ids(realEntry), ...moved.entryIds]
  const real = -target.realAmount + moved.real
  if (entryIds.length > 0) draft.walletSeq++
  if (target.kind === "bet") {
    const bonus = draft.activeBonus
    if (bonus !== null && bonus.id === target.bonusId && target.wagered > 0) {
      draft.activeBonus = { ...bonus, wagered: bonus.wagered - target.wagered }
    }
    draft.counters = count(draft.counters, draft.now, -target.amount, target.realAmount, target.createdAt)
  } else if (target.kind === "win") {
    draft.counters = count(draft.counters, draft.now, 0, target.realAmount, target.createdAt)
  }
  const transaction = newTransaction(draft, "rollback", rollback, {
    ...about,
    realAmount: real,
    bonusAmount: moved.bonus,
    entryIds,
    bonusId: target.bonusAmount === 0 ? null : target.bonusId
  })
  draft.markRolledBack(target.transactionId, target.providerId)
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
  target: Transaction,
  bonusId: number,
  standing: "running" | "converted" | "over"
): { readonly entryIds: ReadonlyArray<number>; readonly real: number; readonly bonus: number } => {
  const references = { gameId: target.gameId, gameRoundId: target.roundId, playerBonusId: bonusId }
  switch (standing) {
    case "running": {
      const amount = Math.min(draft.bonus, target.bonusAmount)
      return { entryIds: ids(draft.post("bonus", "casino_rollback", -amount, references)), real: 0, bonus: -amount }
    }
    case "converted":
      return {
        entryIds: ids(draft.post("real", "casino_rollback", -target.bonusAmount, references)),
        real: -target.bonusAmount,
        bonus: 0
      }
    case "over":
      return { entryIds: [], real: 0, bonus: 0 }
  }
}

// ---------------------------------------------------------------------------------------------------------------------
// The steps that a player's actor runs

const conclude = (draft: Draft, outcome: Outcome): Decision<Settlement, SettlementRefusal> => {
  if (!isSettlement(outcome)) return outcome._tag === "Missing" ? outcome : refused(outcome)
  return draft.hasChange
    ? draft.accept(outcome)
    : { _tag: "Accept", state: draft.player, reply: outcome, change: null, idsUsed: 0 }
}

const knowsProvider = (player: Player, providerId: number): boolean => player.providerIds.includes(providerId)

const apply = (draft: Draft, action: Action, known: Knowledge | undefined): Outcome => {
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
export const settle = (player: Player, action: Action, context: Context): Decision<Settlement, SettlementRefusal> => {
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
      return outcome._tag === "Missing"
        ? askForAll(actions, outcome)
        : refused({ ...outcome, details: { ...outcome.details, action_index: index } })
    }
    results.push(outcome)
  }
  return draft.hasChange
    ? draft.accept(results)
    : { _tag: "Accept", state: player, reply: results, change: null, idsUsed: 0 }
}

/** What one action lacks, widened to all ids of the batch: the store is asked once or twice, not once per action. */
const askForAll = (actions: ReadonlyArray<Action>, lacking: Missing): Missing => {
  const transactionIds = new Set(lacking.query.transactionIds)
  const rounds = new Map(lacking.query.rounds.map((round) => [roundKey(round.gameId, round.roundId), round]))
  for (const action of actions) {
    transactionIds.add(action.transactionId)
    if (action.action === "rollback") {
      transactionIds.add(action.targetTransactionId)
    } else {
      if (action.action === "win") transactionIds.add(action.betTransactionId)
      rounds.set(roundKey(action.game.id, action.roundId), { gameId: action.game.id, roundId: action.roundId })
    }
  }
  return missing({ ...lacking.query, transactionIds: [...transactionIds], rounds: [...rounds.values()] })
}

/** Settles a bet and its win in one step. */
export const settleBetWin = (
  player: Player,
  bet: Bet,
  win: Win,
  context: Context
): Decision<Settlement, SettlementRefusal> => {
  const decision = settleAll(player, [bet, win], context)
  if (decision._tag !== "Accept") {
    if (decision._tag === "Missing") return decision
    const { action_index: _, ...details } = decision.error.details
    return refused({ ...decision.error, details })
  }
  const [first, second] = decision.reply
  if (first === undefined || second === undefined) return refused(betNotFound(bet.transactionId))
  return {
    ...decision,
    reply: {
      ...second,
      transactionId: bet.transactionId,
      status: first.status === "replayed" && second.status === "replayed" ? "replayed" : "processed",
      entryIds: [...first.entryIds, ...second.entryIds],
      realAmount: first.realAmount + second.realAmount,
      bonusAmount: first.bonusAmount + second.bonusAmount
    }
  }
}

/** Closes a round. One that was never seen is closed for good as well: its bet, should it still come, is refused. */
export const closeRound = (
  player: Player,
  command: CloseRound,
  context: Context
): Decision<Settlement, SettlementRefusal> => {
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
): Decision<Settlement, SettlementRefusal> => {
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
    : isAmount(draft.real + win.amount)
    ? undefined
    : validation("amount", `must keep the balance at or below ${maxAmount}`)
  if (refusal !== undefined) {
    return earlier === null
      ? refused(refusal)
      : missing({ providerId: win.providerId, transactionIds: [win.transactionId] })
  }
  const entryIds = ids(draft.post("real", win.kind === "tournament" ? "tournament_prize" : "casino_win", win.amount, {}))
  draft.walletSeq++
  const transaction = newTransaction(draft, "promo_win", win, {
    amount: win.amount,
    detail,
    realAmount: win.amount,
    entryIds
  })
  draft.record(transaction)
  return conclude(draft, settlement(draft, win.transactionId, "processed", "closed", transaction))
}
