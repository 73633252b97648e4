/**
 * A bonus that is being wagered: what it lets a player stake, what counts towards it, and how it ends (DECISIONS in
 * `docs/decisions`; SPEC sections 2.8 and 3.4).
 */
import { Schema } from "effect"
import { Instant } from "../Instant.ts"
import { multiplyDivideFloor } from "../Money.ts"

const bonusResults = ["converted", "lost", "expired", "cancelled"] as const

export type BonusResult = (typeof bonusResults)[number]

export const bonusTypes = ["deposit_match", "no_deposit", "free_spins", "cashback", "cash"] as const

export const bonusStates = ["pending", "activated", "finished"] as const

export type BonusState = (typeof bonusStates)[number]

/** A granted bonus with the terms of its grant, which no later change of the catalogue touches. Minor units. */
export const GrantedBonus = Schema.Struct({
  id: Schema.Number,
  /** The entry of the catalogue. */
  bonusId: Schema.Number,
  name: Schema.String,
  type: Schema.Literals(bonusTypes),
  amount: Schema.Number,
  wagerRequirement: Schema.Number,
  /** The largest total stake while the bonus runs; 0 means no cap. */
  maxBet: Schema.Number,
  /** The most that can become real money; 0 means no cap. */
  maxConversion: Schema.Number,
  /** How long it runs once it is activated. */
  validDays: Schema.Number,
  /** Percent of a stake that counts, by game id; a game that is not named counts by its type. */
  contributions: Schema.Record(Schema.String, Schema.Number),
  /** Epoch milliseconds. */
  createdAt: Instant
})

export type GrantedBonus = typeof GrantedBonus.Type

/** The bonus that is being wagered. */
const ActiveBonus = Schema.Struct({
  ...GrantedBonus.fields,
  wagered: Schema.Number,
  /** Epoch milliseconds. */
  startedAt: Instant,
  expiresAt: Instant,
  /** Open rounds that hold a stake of this bonus: while there is one, an empty bonus is not lost yet. */
  openRounds: Schema.Number,
  /** What was credited to the bonus wallet when a conversion was reversed, beside what had been converted. */
  restored: Schema.Number
})

export type ActiveBonus = typeof ActiveBonus.Type

/** A player's bonus in any of its states, as it is kept. */
export const PlayerBonus = Schema.Struct({
  ...GrantedBonus.fields,
  state: Schema.Literals(bonusStates),
  /** Null until it is finished. */
  result: Schema.NullOr(Schema.Literals(bonusResults)),
  wagered: Schema.Number,
  openRounds: Schema.Number,
  converted: Schema.Number,
  forfeited: Schema.Number,
  /** Net credit of the real wallet after the conversion: wins and stakes of the bonus that came later, less those taken back. */
  late: Schema.Number,
  restored: Schema.Number,
  /** Null while it waits. */
  startedAt: Schema.NullOr(Instant),
  expiresAt: Schema.NullOr(Instant),
  finishedAt: Schema.NullOr(Instant)
})

export type PlayerBonus = typeof PlayerBonus.Type

/** A bonus that waits, as it is kept. */
export const asPending = (bonus: GrantedBonus): PlayerBonus => ({
  ...bonus,
  state: "pending",
  result: null,
  wagered: 0,
  openRounds: 0,
  converted: 0,
  forfeited: 0,
  late: 0,
  restored: 0,
  startedAt: null,
  expiresAt: null,
  finishedAt: null
})

/** The running bonus, as it is kept. */
export const asActivated = (bonus: ActiveBonus): PlayerBonus => ({
  ...bonus,
  state: "activated",
  result: null,
  converted: 0,
  forfeited: 0,
  late: 0,
  finishedAt: null
})

/** The wire form of an instant. */
const iso = (at: number | null): string | null => at === null ? null : new Date(at).toISOString()

/** The fields of a player's bonus as operators see them (SPEC section 2.8), in answers and in webhook events. */
export const playerBonusFields = (playerId: number, currency: string, bonus: PlayerBonus) => ({
  id: bonus.id,
  player_id: playerId,
  bonus_id: bonus.bonusId,
  name: bonus.name,
  type: bonus.type,
  state: bonus.state,
  result: bonus.result,
  amount: bonus.amount,
  currency,
  wager_requirement: bonus.wagerRequirement,
  wagered_amount: bonus.wagered,
  wagering_progress: wageringProgress(bonus.wagered, bonus.wagerRequirement),
  converted_amount: bonus.converted,
  forfeited_amount: bonus.forfeited,
  max_bet: bonus.maxBet,
  started_at: iso(bonus.startedAt),
  expires_at: iso(bonus.expiresAt),
  finished_at: iso(bonus.finishedAt),
  created_at: new Date(bonus.createdAt).toISOString()
})

export const gameTypes = ["rng", "live"] as const

export type GameType = (typeof gameTypes)[number]

/** Percent of a stake on this game that counts towards the bonus; 0 also means that bonus money cannot be staked on it. */
export const contribution = (bonus: ActiveBonus, gameId: number, type: GameType): number =>
  bonus.contributions[gameId] ?? (type === "live" ? 10 : 100)

/** What a stake adds to the wagered amount: the whole stake, real and bonus money alike, times the contribution. */
export const wager = (stake: number, contributionPercent: number): number =>
  contributionPercent === 100 ? stake : multiplyDivideFloor(stake, contributionPercent, 100)

/** Percent of the requirement that is met, rounded down, at most 100. */
export const wageringProgress = (wagered: number, requirement: number): number =>
  requirement === 0 ? 100 : Math.min(100, multiplyDivideFloor(Math.max(0, wagered), 100, requirement))
