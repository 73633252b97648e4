/**
 * Interface of every rule that changes a player: a pure function from the player, the time and looked-up rows to a decision, which is the next state
 * with the rows to write and a reply, a refusal, or ids that have to be looked up first.
 */
import type { Accepter } from "./AcceptedSignature.ts"
import type { Change, Payment } from "./Change.ts"
import type { PlayerBonus } from "./Bonus.ts"
import type { PlayerSeeds } from "./PlayerSeeds.ts"
import type { Player } from "./Player.ts"
import type { Refusal } from "../Refusal.ts"
import type { Query, Round, Transaction } from "./Rounds.ts"

/** Results of a `Query` by id: null when the store has no row. */
export interface Knowledge {
  readonly transactions: ReadonlyMap<string, Transaction | null>
  readonly rounds: ReadonlyMap<string, Round | null>
  /** Finished bonuses, each with its number of open rounds that hold a stake of it now. */
  readonly bonuses: ReadonlyMap<number, PlayerBonus | null>
  /** By external reference. */
  readonly payments: ReadonlyMap<string, Payment | null>
  /** Payments of this player only. */
  readonly paymentsById: ReadonlyMap<number, Payment | null>
  readonly promoCodes: ReadonlyMap<number, PromoStanding | null>
  /** Of accepted requests. */
  readonly signatures: ReadonlyMap<string, Accepter | null>
  /** Seeds of this player; null when there are none, undefined when not looked up. */
  readonly seeds: PlayerSeeds | null | undefined
}

/** State of a promo code for one player. */
interface PromoStanding {
  readonly isUsedUp: boolean
  /** By this player. */
  readonly isRedeemed: boolean
}

/** Inputs of a decision beside the player and the command. */
export interface Context {
  /** Epoch milliseconds. */
  readonly now: number
  /** First of a sequence of ids that the decision may assign. */
  readonly firstId: number
  /** Results of the lookup that this decision asked for; absent on the first attempt. */
  readonly known: Knowledge | undefined
}

export interface Accept<out Reply> {
  readonly _tag: "Accept"
  readonly state: Player
  readonly reply: Reply
  /** Null when there is nothing to write, for example for a replay. */
  readonly change: Change | null
  /** Number of ids assigned, starting at `firstId`. */
  readonly idsUsed: number
}

export interface Refuse<out Error> {
  readonly _tag: "Refuse"
  readonly error: Error
}

/** The decision needs these ids looked up in the store first. */
export interface Missing {
  readonly _tag: "Missing"
  readonly query: Query
}

export type Decision<Reply, Error = Refusal> = Accept<Reply> | Refuse<Error> | Missing

/** A rule with its command bound, executed by the player's actor. */
export type Step<Reply, Error = Refusal> = (player: Player, context: Context) => Decision<Reply, Error>

/** Accepts with a reply and nothing to write. */
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
    signature: null,
    seeds: false,
    ...query
  }
})
