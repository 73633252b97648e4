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

export type TransactionKind = "bet" | "win" | "promo_win" | "rollback" | "tombstone"

/** A provider message as it was settled, or the tombstone of one that was rolled back before it came. */
export interface Transaction {
  readonly providerId: number
  /** The provider's id; unique for the provider, for ever. */
  readonly transactionId: string
  readonly playerId: number
  readonly kind: TransactionKind
  readonly status: "processed" | "ignored"
  /** Minor units, as the message said. */
  readonly amount: number
  readonly gameId: number | null
  readonly roundId: string | null
  /** The bet of a win, the target of a rollback. */
  readonly targetId: string | null
  /** What a promo-win was for. */
  readonly detail: string | null
  /** What moved in each wallet, signed. */
  readonly realAmount: number
  readonly bonusAmount: number
  readonly entryIds: ReadonlyArray<number>
  /** The bonus whose money the message moved. */
  readonly bonusId: number | null
  /**
   * Of a bet: what it added to that bonus's wagered amount. Of a win: how much of it was the bonus's and came to the real wallet,
   * because the bonus had been converted.
   */
  readonly wagered: number
  readonly createdAt: number
  /** True once a rollback took it back. */
  readonly rolledBack: boolean
}

export interface Round {
  readonly gameId: number
  readonly roundId: string
  /** Stakes of the bets that stand. */
  readonly realStake: number
  readonly bonusStake: number
  /** Wins above zero that stand. */
  readonly paidWins: number
  /** The bonus that funded `bonusStake`. */
  readonly bonusId: number | null
  readonly closed: boolean
  /** Whether the game was live when a bet opened the round; null for a round that was closed before a bet came. */
  readonly isLive: boolean | null
  readonly openedAt: number
}

/** How many rounds and messages a player carries. */
export const roundsCarried = 8
export const transactionsCarried = 16

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

/** The newest `most`, which stand last. */
export const carry = <A>(items: ReadonlyArray<A>, most: number): ReadonlyArray<A> =>
  items.length <= most ? items : items.slice(items.length - most)
