/** How bonuses stand in their tables. */
import { Schema } from "effect"
import { bonusStates, bonusTypes, type PlayerBonus } from "../domain/bonus/Bonus.ts"
import type { CatalogueBonus } from "../domain/bonus/BonusGrants.ts"

const optionalTime = Schema.NullOr(Schema.Date)

/** The columns of `bonuses b JOIN operators o` in the names and types of {@link CatalogueRow}. */
export const catalogueColumns = `b.id, b.operator_id AS "operatorId", b.name, b.description, b.type,
  b.default_amount AS "defaultAmount", b.wagering_multiplier AS "wageringMultiplier",
  b.valid_days AS "validDays", b.max_bet AS "maxBet",
  b.max_conversion_multiplier AS "maxConversionMultiplier",
  b.max_grants_per_player AS "maxGrantsPerPlayer", b.active AS "isActive", b.contributions, o.currency`

export const CatalogueRow = Schema.Struct({
  id: Schema.Number,
  operatorId: Schema.Number,
  name: Schema.String,
  description: Schema.String,
  type: Schema.Literals(bonusTypes),
  defaultAmount: Schema.Number,
  wageringMultiplier: Schema.Number,
  validDays: Schema.Number,
  maxBet: Schema.Number,
  maxConversionMultiplier: Schema.Number,
  maxGrantsPerPlayer: Schema.Number,
  isActive: Schema.Boolean,
  contributions: Schema.Record(Schema.String, Schema.Number),
  currency: Schema.String
})

/** A catalogue entry as operators see it (SPEC section 2.8). */
export const catalogueFields = (bonus: CatalogueBonus) => ({
  id: bonus.id,
  name: bonus.name,
  description: bonus.description,
  type: bonus.type,
  default_amount: bonus.defaultAmount,
  wagering_multiplier: bonus.wageringMultiplier,
  valid_days: bonus.validDays,
  max_bet: bonus.maxBet,
  max_conversion_multiplier: bonus.maxConversionMultiplier,
  max_grants_per_player: bonus.maxGrantsPerPlayer,
  is_active: bonus.isActive
})

/** The columns of `player_bonuses b JOIN players p` in the names and types of {@link PlayerBonusRow}. */
export const playerBonusColumns = `b.id, b.player_id AS "playerId", p.currency,
  b.bonus_id AS "bonusId", b.name, b.type, b.state, b.result, b.amount,
  b.wager_requirement AS "wagerRequirement", b.wagered, b.max_bet AS "maxBet",
  b.max_conversion AS "maxConversion", b.valid_days AS "validDays", b.contributions,
  b.open_rounds AS "openRounds", b.converted, b.forfeited,
  b.late_amount AS late, b.restored_amount AS restored,
  b.started_at AS "startedAt", b.expires_at AS "expiresAt", b.finished_at AS "finishedAt", b.created_at AS "createdAt"`

export const PlayerBonusRow = Schema.Struct({
  id: Schema.Number,
  playerId: Schema.Number,
  currency: Schema.String,
  bonusId: Schema.Number,
  name: Schema.String,
  type: Schema.Literals(bonusTypes),
  state: Schema.Literals(bonusStates),
  result: Schema.NullOr(Schema.Literals(["converted", "lost", "expired", "cancelled"])),
  amount: Schema.Number,
  wagerRequirement: Schema.Number,
  wagered: Schema.Number,
  maxBet: Schema.Number,
  maxConversion: Schema.Number,
  validDays: Schema.Number,
  contributions: Schema.Record(Schema.String, Schema.Number),
  openRounds: Schema.Number,
  converted: Schema.Number,
  forfeited: Schema.Number,
  late: Schema.Number,
  restored: Schema.Number,
  startedAt: optionalTime,
  expiresAt: optionalTime,
  finishedAt: optionalTime,
  createdAt: Schema.Date
})

const at = (date: Date | null): number | null => date === null ? null : date.getTime()

/** A player's bonus, with whose it is and in which currency. */
export interface OwnedBonus {
  readonly playerId: number
  readonly currency: string
  readonly bonus: PlayerBonus
}

export const toOwnedBonus = ({ currency, playerId, ...row }: typeof PlayerBonusRow.Type): OwnedBonus => ({
  playerId,
  currency,
  bonus: {
    ...row,
    startedAt: at(row.startedAt),
    expiresAt: at(row.expiresAt),
    finishedAt: at(row.finishedAt),
    createdAt: row.createdAt.getTime()
  }
})
