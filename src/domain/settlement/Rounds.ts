/**
 * Game rounds and the provider messages that settle them.
 *
 * A player carries only the latest few of both. A rule that meets an id it does not carry has two ways:
 * - it may *assume* that the id is new, when accepting will write a row under that id: the unique index then proves the
 *   assumption inside the commit, and a false one comes back as a clash with nothing written. This is the way of a new bet,
 *   and why a bet costs no read;
 * - it must *know*, before it refuses, replays or moves money because of an id: it answers `missing`, is asked again with what
 *   the store says, and then decides.
 */
import { Schema } from "effect"
import { Instant } from "../Instant.ts"
import type { Closing } from "../Messages.ts"
import { placeOf, type Recent } from "./Recent.ts"

export const transactionKinds = ["bet", "win", "promo_win", "adjustment", "rollback", "tombstone"] as const

export type TransactionKind = (typeof transactionKinds)[number]

export const transactionStatuses = ["processed", "ignored"] as const

/** A provider message as it was settled, or the tombstone of one that was rolled back before it came. */
export const Transaction = Schema.Struct({
  providerId: Schema.Number,
  /** The provider's id; unique for the provider, for ever. */
  transactionId: Schema.String,
  playerId: Schema.Number,
  kind: Schema.Literals(transactionKinds),
  status: Schema.Literals(transactionStatuses),
  /** Minor units, as the message said. */
  amount: Schema.Number,
  gameId: Schema.NullOr(Schema.Number),
  roundId: Schema.NullOr(Schema.String),
  /** The bet of a win, the target of a rollback. */
  targetId: Schema.NullOr(Schema.String),
  /** What a promo-win was for; whether an adjustment counts as `live` or `rng`; `without_bet` for a win paid without one. */
  detail: Schema.NullOr(Schema.String),
  /** What moved in each wallet, signed. */
  realAmount: Schema.Number,
  bonusAmount: Schema.Number,
  entryIds: Schema.Array(Schema.Number),
  /** The bonus whose money the message moved. */
  bonusId: Schema.NullOr(Schema.Number),
  /**
   * Of a bet: what it added to that bonus's wagered amount. Of a win: how much of it was the bonus's and came to the real wallet,
   * because the bonus had been converted. Of a rollback: how often its target had been reinstated before.
   */
  wagered: Schema.Number,
  createdAt: Instant,
  /** True once a rollback took it back, until that one is taken back. */
  rolledBack: Schema.Boolean,
  /** How many of its rollbacks were taken back. */
  reinstated: Schema.Number,
  /** Of a bet: how much of its bonus part was spent when it was reinstated, and is not given back again. */
  lost: Schema.Number
})

export type Transaction = typeof Transaction.Type

export const Round = Schema.Struct({
  gameId: Schema.Number,
  roundId: Schema.String,
  /** Stakes of the bets that stand. */
  realStake: Schema.Number,
  bonusStake: Schema.Number,
  /** Wins above zero that stand. */
  paidWins: Schema.Number,
  /** Bets that stand and that no win or rollback has settled by itself (`Closing`); null in an old round, of which it is not known. */
  openBets: Schema.NullOr(Schema.Number),
  /** The bonus that funded `bonusStake`. */
  bonusId: Schema.NullOr(Schema.Number),
  closed: Schema.Boolean,
  /** Whether the game was live when a bet or a win opened the round; null for one that has seen neither. */
  isLive: Schema.NullOr(Schema.Boolean),
  openedAt: Instant
})

export type Round = typeof Round.Type

/** Whether a round is closed after a message that says so much about it. */
export const isClosedAfter = (wasClosed: boolean, closes: Closing, openBets: Round["openBets"]): boolean =>
  closes === "when_settled" ? (openBets === null ? wasClosed : openBets === 0) : wasClosed || closes

/** How many bets of a round are open with one more. */
export const withOpenBet = (openBets: Round["openBets"]): Round["openBets"] => openBets === null ? null : openBets + 1

/** How many bets of a round are open with one less: never below none, for a bet may be settled and rolled back. */
export const withoutOpenBet = (openBets: Round["openBets"]): Round["openBets"] =>
  openBets === null ? null : Math.max(0, openBets - 1)

/**
 * How many rounds and messages a player carries. Every bet looks at all of them, and all are in memory for every player who plays: twice
 * as many cost a bet two microseconds. What is not carried is looked up.
 */
export const roundsCarried = 4
export const transactionsCarried = 8

/** Ids whose standing in the store must be known before a rule can answer. */
export interface Query {
  readonly providerId: number
  readonly transactionIds: ReadonlyArray<string>
  readonly rounds: ReadonlyArray<{ readonly gameId: number; readonly roundId: string }>
  readonly bonusIds: ReadonlyArray<number>
  readonly externalReference: string | null
  readonly paymentId: number | null
  readonly promoCodeId: number | null
  /** Whether the seeds of originals are asked for. */
  readonly seeds: boolean
}

/** The key of a round in `Knowledge.rounds`. */
export const roundKey = (gameId: number, roundId: string): string => `${gameId}:${roundId}`

/** The place of a carried round, -1 when it is not carried. */
export const placeOfRound = (rounds: Recent<Round>, gameId: number, roundId: string): number =>
  placeOf(rounds, roundId, (round) => round.roundId === roundId && round.gameId === gameId)

/** The place of a carried message, -1 when it is not carried. */
export const placeOfTransaction = (
  transactions: Recent<Transaction>,
  providerId: number,
  transactionId: string
): number =>
  placeOf(
    transactions,
    transactionId,
    (carried) => carried.transactionId === transactionId && carried.providerId === providerId
  )
