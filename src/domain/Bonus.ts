/**
 * A bonus that is being wagered: what it lets a player stake, what counts towards it, and how it ends (DECISIONS in
 * `docs/decisions`; SPEC sections 2.8 and 3.4).
 */
import { multiplyDivideFloor } from "./Money.ts"

export type BonusResult = "converted" | "lost" | "expired" | "cancelled"

export interface ActiveBonus {
  readonly id: number
  /** Minor units granted. */
  readonly amount: number
  readonly wagerRequirement: number
  readonly wagered: number
  /** The largest total stake while the bonus runs; 0 means no cap. */
  readonly maxBet: number
  /** The most that can become real money, in minor units; 0 means no cap. */
  readonly maxConversion: number
  /** Epoch milliseconds. */
  readonly expiresAt: number
  /** Percent of a stake that counts, by game id; a game that is not named counts by its type. */
  readonly contributions: { readonly [gameId: string]: number }
  /** Open rounds that hold a stake of this bonus: while there is one, an empty bonus is not lost yet. */
  readonly openRounds: number
}

/** A bonus that ended, with what became of its money in minor units. */
export interface EndedBonus {
  readonly id: number
  readonly result: BonusResult
  readonly wagered: number
  readonly converted: number
  readonly forfeited: number
  readonly finishedAt: number
}

export type GameType = "rng" | "live"

/** Percent of a stake on this game that counts towards the bonus; 0 also means that bonus money cannot be staked on it. */
export const contribution = (bonus: ActiveBonus, gameId: number, type: GameType): number =>
  bonus.contributions[gameId] ?? (type === "live" ? 10 : 100)

/** What a stake adds to the wagered amount: the whole stake, real and bonus money alike, times the contribution. */
export const wager = (stake: number, contributionPercent: number): number =>
  contributionPercent === 100 ? stake : multiplyDivideFloor(stake, contributionPercent, 100)

/** Percent of the requirement that is met, rounded down, at most 100. */
export const wageringProgress = (wagered: number, requirement: number): number =>
  requirement === 0 ? 100 : Math.min(100, multiplyDivideFloor(Math.max(0, wagered), 100, requirement))
