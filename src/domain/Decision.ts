/**
 * The shape of every rule that changes a player: a pure function from the player and the circumstances to a decision.
 */
import type { Change, Payment } from "./Change.ts"
import type { PlayerBonus } from "./bonus/Bonus.ts"
import type { PlayerSeeds } from "./original/PlayerSeeds.ts"
import type { Player } from "./player/Player.ts"
import type { Refusal } from "./Refusal.ts"
import type { Query, Round, Transaction } from "./settlement/Rounds.ts"

/** What the store says about the ids of a `Query`: null where there is nothing under the id. */
export interface Knowledge {
  readonly transactions: ReadonlyMap<string, Transaction | null>
  readonly rounds: ReadonlyMap<string, Round | null>
  /** Finished ones, each with the open rounds that hold a stake of it now. */
  readonly bonuses: ReadonlyMap<number, PlayerBonus | null>
  /** By external reference. */
  readonly payments: ReadonlyMap<string, Payment | null>
  /** The player's own. */
  readonly paymentsById: ReadonlyMap<number, Payment | null>
  readonly promoCodes: ReadonlyMap<number, PromoStanding | null>
  /** The player's own; null where there are none, undefined where they were not looked up. */
  readonly seeds: PlayerSeeds | null | undefined
}

/** The standing of a promo code for one player. */
interface PromoStanding {
  readonly isUsedUp: boolean
  /** By this player. */
  readonly isRedeemed: boolean
}

/** The circumstances of a decision. */
export interface Context {
  /** Epoch milliseconds. */
  readonly now: number
  /** The first of the ids that the decision may give to what it makes, as many as it needs. */
  readonly firstId: number
  /** What the store said when this decision was asked before; absent on the first ask. */
  readonly known: Knowledge | undefined
}

export interface Accept<out Reply> {
  readonly _tag: "Accept"
  readonly state: Player
  readonly reply: Reply
  /** Null when there is nothing to write, as for a replay. */
  readonly change: Change | null
  /** How many ids were given away, from `firstId` on. */
  readonly idsUsed: number
}

export interface Refuse<out Error> {
  readonly _tag: "Refuse"
  readonly error: Error
}

/** Cannot be decided before the store has been asked. */
export interface Missing {
  readonly _tag: "Missing"
  readonly query: Query
}

export type Decision<Reply, Error = Refusal> = Accept<Reply> | Refuse<Error> | Missing

/** A rule with its command filled in, as a player's actor runs it. */
export type Step<Reply, Error = Refusal> = (player: Player, context: Context) => Decision<Reply, Error>

/** Accepts without writing anything. */
export const answer = <Reply>(state: Player, reply: Reply): Accept<Reply> => ({
  _tag: "Accept",
  state,
  reply,
  change: null,
  idsUsed: 0
})

export const refused = <Error>(error: Error): Refuse<Error> => ({ _tag: "Refuse", error })

export const missing = (query: Partial<Query>): Missing => ({
  _tag: "Missing",
  query: {
    providerId: 0,
    transactionIds: [],
    rounds: [],
    bonusIds: [],
    externalReference: null,
    paymentId: null,
    promoCodeId: null,
    seeds: false,
    ...query
  }
})
