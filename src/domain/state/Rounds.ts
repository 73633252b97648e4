/**
 * Game rounds and the provider messages that settle them.
 *
 * A player in memory holds only the latest few of both. A rule that meets an id not among them has two ways:
 * - *assume* that the id is new, when accepting will write a row under that id: the unique index proves the assumption in the commit, and a false one
 *   rejects the commit with nothing written. New bets do this and therefore need no read;
 * - *know*, before it refuses, replays or moves money because of an id: it answers `missing`, is run again with the result of the lookup, and then
 *   decides.
 */
import { Schema } from "effect"
import { Instant } from "../Instant.ts"
import type { Closing } from "./Messages.ts"
import { indexOfName, type Recent } from "./Recent.ts"

export const transactionKinds = ["bet", "win", "promo_win", "adjustment", "rollback", "tombstone"] as const

export type TransactionKind = (typeof transactionKinds)[number]

export const transactionStatuses = ["processed", "ignored"] as const

/** Settled provider message, or the tombstone of one rolled back before it arrived. */
export const Transaction = Schema.Struct({
  providerId: Schema.Number,
  /** The provider's id; unique per provider, permanently. */
  transactionId: Schema.String,
  playerId: Schema.Number,
  kind: Schema.Literals(transactionKinds),
  status: Schema.Literals(transactionStatuses),
  /** Minor units, as sent. */
  amount: Schema.Number,
  gameId: Schema.NullOr(Schema.Number),
  roundId: Schema.NullOr(Schema.String),
  /** Bet of a win, or target of a rollback. */
  targetId: Schema.NullOr(Schema.String),
  /** Reason of a promo-win; `live` or `rng` of an adjustment; `without_bet` for a win paid without a bet. */
  detail: Schema.NullOr(Schema.String),
  /** Signed change of each wallet. */
  realAmount: Schema.Number,
  bonusAmount: Schema.Number,
  entryIds: Schema.Array(Schema.Number),
  /** Bonus whose money was moved. */
  bonusId: Schema.NullOr(Schema.Number),
  /**
   * For a bet: amount added to the bonus's wagered amount. For a win or an adjustment: bonus part moved in the real wallet, because the bonus had been
   * converted. For a rollback: number of earlier reinstatements of its target.
   */
  wagered: Schema.Number,
  createdAt: Instant,
  /** True while rolled back; false again when the rollback is rolled back. */
  rolledBack: Schema.Boolean,
  /** Number of its rollbacks that were rolled back. */
  reinstated: Schema.Number
})

export type Transaction = typeof Transaction.Type

export const Round = Schema.Struct({
  gameId: Schema.Number,
  roundId: Schema.String,
  /** Stakes of the bets not rolled back. */
  realStake: Schema.Number,
  bonusStake: Schema.Number,
  /** Number of wins above zero not rolled back. */
  paidWins: Schema.Number,
  /** What wins and adjustments that stand have moved, in both wallets. */
  won: Schema.Number,
  /** Number of messages that are rolled back. */
  takenBack: Schema.Number,
  /** Valid bets not yet settled by a win or rollback of their own (`Closing`). */
  openBets: Schema.Number,
  /** Bonus that funded `bonusStake`. */
  bonusId: Schema.NullOr(Schema.Number),
  closed: Schema.Boolean,
  /** Type of the game when a bet or a win opened the round; null before either. */
  isLive: Schema.NullOr(Schema.Boolean),
  openedAt: Instant
})

export type Round = typeof Round.Type

/** Whether a round is closed after a message with this `Closing` that adds no bet: none opens a closed round, which staff may have closed, again. */
export const isClosedAfter = (wasClosed: boolean, closes: Closing, openBets: number): boolean =>
  wasClosed || (closes === "when_settled" ? openBets === 0 : closes)

/** As `isClosedAfter`, for a new or reinstated bet: it opens a round that is closed once all its bets are settled. */
export const isClosedWithBet = (wasClosed: boolean, closes: Closing): boolean =>
  closes !== "when_settled" && (wasClosed || closes)

/** Open bets of a round less one, at least 0: a bet may be both settled and rolled back. */
export const withoutOpenBet = (openBets: number): number => Math.max(0, openBets - 1)

/**
 * Rounds and messages carried per player. Every bet searches all of them, and all are in memory for every active player: twice as many cost a bet two
 * microseconds. Others are looked up.
 */
export const roundsCarried = 4
export const transactionsCarried = 8

/** Ids that a rule needs looked up in the store before it can decide. */
export interface Query {
  readonly providerId: number
  readonly transactionIds: ReadonlyArray<string>
  readonly rounds: ReadonlyArray<{ readonly gameId: number; readonly roundId: string }>
  readonly bonusIds: ReadonlyArray<number>
  readonly externalReference: string | null
  readonly paymentId: number | null
  readonly promoCodeId: number | null
  /** Of a request, lower-case hex. */
  readonly signature: string | null
  /** Whether the seeds of originals are requested. */
  readonly seeds: boolean
}

/** Key of a round in `Knowledge.rounds`. */
export const roundKey = (gameId: number, roundId: string): string => `${gameId}:${roundId}`

/** Index of a carried round, -1 when not carried. */
export const indexOfRound = (rounds: Recent<Round>, gameId: number, roundId: string): number =>
  indexOfName(rounds, roundId, (round) => round.roundId === roundId && round.gameId === gameId)

/** Index of a carried message, -1 when not carried. */
export const indexOfTransaction = (
  transactions: Recent<Transaction>,
  providerId: number,
  transactionId: string
): number =>
  indexOfName(
    transactions,
    transactionId,
    (carried) => carried.transactionId === transactionId && carried.providerId === providerId
  )
