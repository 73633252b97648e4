/** Running bonus: stakes it allows, contributions to its requirement, and its end (`docs/decisions`; SPEC sections 2.8 and 3.4). */
import { Schema } from "effect"
import { Instant } from "../Instant.ts"
import { multiplyDivideFloor } from "../Money.ts"

const bonusResults = ["converted", "lost", "expired", "cancelled"] as const

export type BonusResult = (typeof bonusResults)[number]

export const bonusTypes = ["deposit_match", "no_deposit", "free_spins", "cashback", "cash"] as const

export const bonusStates = ["pending", "activated", "finished"] as const

export type BonusState = (typeof bonusStates)[number]

/** Granted bonus with its terms at the time of the grant; later changes of the catalogue do not apply. Minor units. */
export const GrantedBonus = Schema.Struct({
  id: Schema.Number,
  /** Id of the catalogue entry. */
  bonusId: Schema.Number,
  name: Schema.String,
  type: Schema.Literals(bonusTypes),
  amount: Schema.Number,
  wagerRequirement: Schema.Number,
  /** Largest total stake while the bonus runs; 0 means no cap. */
  maxBet: Schema.Number,
  /** Maximum amount converted to real money; 0 means no cap. */
  maxConversion: Schema.Number,
  /** Duration from activation. */
  validDays: Schema.Number,
  /** Contribution of a stake in percent, by game id; other games count by their type. */
  contributions: Schema.Record(Schema.String, Schema.Number),
  /** Epoch milliseconds. */
  createdAt: Instant
})

export type GrantedBonus = typeof GrantedBonus.Type

/** Bonus in wagering. */
const ActiveBonus = Schema.Struct({
  ...GrantedBonus.fields,
  wagered: Schema.Number,
  /** Epoch milliseconds. */
  startedAt: Instant,
  expiresAt: Instant,
  /** Open rounds that hold a stake of this bonus; while there is one, an empty bonus is not yet lost. */
  openRounds: Schema.Number,
  /** Amount credited to the bonus wallet by the reversal of a conversion, beyond the converted amount. */
  restored: Schema.Number
})

export type ActiveBonus = typeof ActiveBonus.Type

/** Player's bonus in any state, as stored. */
export const PlayerBonus = Schema.Struct({
  ...GrantedBonus.fields,
  state: Schema.Literals(bonusStates),
  /** Null until finished. */
  result: Schema.NullOr(Schema.Literals(bonusResults)),
  wagered: Schema.Number,
  openRounds: Schema.Number,
  converted: Schema.Number,
  forfeited: Schema.Number,
  /** Net credit of the real wallet after the conversion: later wins and stakes of the bonus, less those rolled back. */
  late: Schema.Number,
  restored: Schema.Number,
  /** Null while pending. */
  startedAt: Schema.NullOr(Instant),
  expiresAt: Schema.NullOr(Instant),
  finishedAt: Schema.NullOr(Instant)
})

export type PlayerBonus = typeof PlayerBonus.Type

/** Stored form of a pending bonus. */
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

/** Stored form of the running bonus. */
export const asActivated = (bonus: ActiveBonus): PlayerBonus => ({
  ...bonus,
  state: "activated",
  result: null,
  converted: 0,
  forfeited: 0,
  late: 0,
  finishedAt: null
})

/** Wire form of an instant. */
const iso = (at: number | null): string | null => at === null ? null : new Date(at).toISOString()

/** Player's bonus as operators see it (SPEC section 2.8), in answers and in webhook events. */
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

/** Percentage of a stake on this game that counts towards the bonus; 0 also forbids staking bonus money on it. */
export const contribution = (bonus: ActiveBonus, gameId: number, type: GameType): number =>
  bonus.contributions[gameId] ?? (type === "live" ? 10 : 100)

/** Wagered amount of a stake: real and bonus money together, times the contribution. */
export const wager = (stake: number, contributionPercent: number): number =>
  contributionPercent === 100 ? stake : multiplyDivideFloor(stake, contributionPercent, 100)

/** Percentage of the requirement met, rounded down, at most 100. */
export const wageringProgress = (wagered: number, requirement: number): number =>
  requirement === 0 ? 100 : Math.min(100, multiplyDivideFloor(Math.max(0, wagered), 100, requirement))
