/** Running bonus: stakes it allows, contributions to its requirement, and its end (`docs/decisions/0012-bonuses.md`; SPEC sections 2.8 and 3.4). */
import { Schema } from "effect"
import { Instant } from "../Instant.ts"
import { multiplyDivideFloor } from "../Money.ts"

export const dayMs = 86_400_000

export const bonusResults = ["converted", "lost", "expired", "cancelled"] as const

export type BonusResult = (typeof bonusResults)[number]

/** Types of bonuses. The amount of a `deposit_match` is fixed: it is given for a deposit, whatever was deposited. */
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

/** Progress of a bonus since its first activation. */
const BonusProgress = Schema.Struct({
  wagered: Schema.Number,
  /** First activation, epoch milliseconds. */
  startedAt: Instant,
  /** Open rounds that hold a stake of this bonus; while there is one, an empty bonus is not yet lost. */
  openRounds: Schema.Number,
  /** Until when a stake without an open round may be won, epoch milliseconds; null when there is none. */
  openUntil: Schema.NullOr(Instant),
  /** Amount credited to the bonus wallet beside the grant: by the reversal of a conversion, when it runs again, or lent to it. */
  restored: Schema.Number,
  /** Amount taken back after it had been spent, and not paid off by money that came to the bonus since. Never a debt of the player. */
  short: Schema.Number
})

/** Bonus in wagering. */
const ActiveBonus = Schema.Struct({
  ...GrantedBonus.fields,
  ...BonusProgress.fields,
  /** Epoch milliseconds. */
  expiresAt: Instant
})

export type ActiveBonus = typeof ActiveBonus.Type

/** What a bonus left when it had to wait for another one (`docs/decisions/0026-undone-ends.md`). */
const Interruption = Schema.Struct({
  ...BonusProgress.fields,
  /** Minor units that return to the bonus wallet when it runs again. */
  held: Schema.Number,
  /** Time that it has left; does not run meanwhile. */
  remainingMs: Schema.Number
})

export type Interruption = typeof Interruption.Type

/** Bonus waiting for its turn; `interrupted` is null for one that has never run. */
export const PendingBonus = Schema.Struct({
  ...GrantedBonus.fields,
  interrupted: Schema.NullOr(Interruption)
})

export type PendingBonus = typeof PendingBonus.Type

/** Player's bonus in any state, as stored. */
export const PlayerBonus = Schema.Struct({
  ...GrantedBonus.fields,
  state: Schema.Literals(bonusStates),
  /** Null until finished. */
  result: Schema.NullOr(Schema.Literals(bonusResults)),
  wagered: Schema.Number,
  openRounds: Schema.Number,
  openUntil: Schema.NullOr(Instant),
  converted: Schema.Number,
  forfeited: Schema.Number,
  /** Net credit of the real wallet after the conversion: later wins and stakes of the bonus, less those rolled back. */
  late: Schema.Number,
  restored: Schema.Number,
  short: Schema.Number,
  /** Of an interrupted bonus that waits: its money and the time it has left. Null otherwise. */
  held: Schema.NullOr(Schema.Number),
  remainingMs: Schema.NullOr(Schema.Number),
  /** First activation; null before it. */
  startedAt: Schema.NullOr(Instant),
  /** Null while pending. */
  expiresAt: Schema.NullOr(Instant),
  finishedAt: Schema.NullOr(Instant)
})

export type PlayerBonus = typeof PlayerBonus.Type

const neverRun = {
  wagered: 0,
  openRounds: 0,
  openUntil: null,
  restored: 0,
  short: 0,
  held: null,
  remainingMs: null,
  startedAt: null
}

const notEnded = { result: null, converted: 0, forfeited: 0, late: 0, finishedAt: null }

/** Stored form of a pending bonus. */
export const asPending = ({ interrupted, ...bonus }: PendingBonus): PlayerBonus => ({
  ...bonus,
  ...notEnded,
  ...interrupted ?? neverRun,
  state: "pending",
  expiresAt: null
})

/** Stored form of the running bonus. */
export const asActivated = (bonus: ActiveBonus): PlayerBonus => ({
  ...bonus,
  ...notEnded,
  state: "activated",
  held: null,
  remainingMs: null
})

/** Terms of a bonus, without its state. */
export const termsOf = (bonus: GrantedBonus): GrantedBonus => ({
  id: bonus.id,
  bonusId: bonus.bonusId,
  name: bonus.name,
  type: bonus.type,
  amount: bonus.amount,
  wagerRequirement: bonus.wagerRequirement,
  maxBet: bonus.maxBet,
  maxConversion: bonus.maxConversion,
  validDays: bonus.validDays,
  contributions: bonus.contributions,
  createdAt: bonus.createdAt
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
