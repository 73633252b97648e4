/** Bonuses and promo codes in the staff API. */
import { Schema, Struct } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { bonusStates, bonusTypes } from "../../domain/state/Bonus.ts"
import { Bonus, PlayerBonus } from "./BonusResource.ts"
import { refusals } from "../common/Errors.ts"
import { amountFrom, instant, integer, lines, oneOf, pathId, reference, text } from "../common/Fields.ts"
import { created, list, part, partQuery, single } from "../common/Pagination.ts"
import { currencyCode, id, money, timestamp } from "../common/Resource.ts"

const optional = Schema.optionalKey

/** A bonus in an operator's catalogue (table `bonuses`). */
export const StaffBonus = Schema.Struct({
  operator_id: id,
  ...Bonus.fields,
  contributions: Schema.Record(Schema.String, Schema.Number),
  created_at: timestamp,
  updated_at: timestamp
})

/** A bonus with its terms in words and its liability. */
export const ShownBonus = Schema.Struct({
  ...StaffBonus.fields,
  currency: currencyCode,
  terms: Schema.Array(Schema.String).annotate({ description: "What the terms mean, in sentences." }),
  liability: Schema.NullOr(Schema.Array(Schema.Struct({
    currency: currencyCode.annotate({ description: "The players'." }),
    running: Schema.Int.annotate({ description: "Grants that run or wait." }),
    amount: money.annotate({ description: "Bonus funds of those." }),
    at: timestamp.annotate({
      description: "When it was read: now, or every five minutes where more than 1,000 grants of the bonus run or wait."
    })
  }))).annotate({
    description: "Empty where no grant runs or waits; null where more than 1,000 do and they were not read yet."
  })
})

/** A promo code (table `promo_codes`). */
export const Promo = Schema.Struct({
  id,
  operator_id: id,
  code: Schema.String,
  bonus_id: id,
  expires_at: Schema.NullOr(timestamp),
  max_redemptions: Schema.NullOr(Schema.Int),
  redemptions: Schema.Int,
  active: Schema.Boolean,
  created_at: timestamp
})

/** Percent by game id. */
const contributions = Schema.Record(
  Schema.String.check(Schema.isPattern(/^[1-9]\d{0,14}$/u, { message: "must be a game id" })),
  integer(0, 100)
)

const BonusUpdate = Schema.Struct({
  name: text(100),
  type: oneOf(bonusTypes),
  default_amount: amountFrom(1),
  description: lines(2000),
  wagering_multiplier: integer(0, 1000),
  valid_days: integer(1, 3650),
  max_bet: amountFrom(0),
  max_conversion_multiplier: integer(0, 100_000),
  max_grants_per_player: integer(0, 1_000_000),
  contributions,
  active: Schema.Boolean
}).mapFields(Struct.map(Schema.optionalKey))

const BonusInput = Schema.Struct({
  operator: reference,
  ...BonusUpdate.fields,
  name: text(100),
  type: oneOf(bonusTypes),
  default_amount: amountFrom(1)
})

const PromoInput = Schema.Struct({
  operator: reference,
  code: Schema.String.annotate({ examples: ["WELCOME10"] }).check(
    Schema.isPattern(/^[A-Za-z0-9_-]{1,64}$/u, {
      message: "must be 1 to 64 characters: letters, digits, dashes and underscores"
    })
  ),
  bonus: integer(1, Number.MAX_SAFE_INTEGER),
  expires_at: optional(Schema.NullOr(instant)),
  max_redemptions: optional(Schema.NullOr(integer(1, 1_000_000_000)))
})

/** Bonus as staff submit it. Amounts are minor units of the operator's currency; a cap of 0 means no cap. */
export type BonusInput = typeof BonusInput.Type
export type BonusUpdate = typeof BonusUpdate.Type
export type PromoInput = typeof PromoInput.Type

export const BonusGroup = HttpApiGroup.make("bonus").add(
  HttpApiEndpoint.post("create", "/bonuses", {
    payload: BonusInput,
    success: created(StaffBonus)
  }),
  HttpApiEndpoint.patch("update", "/bonuses/:bonus", {
    params: { bonus: pathId },
    payload: BonusUpdate,
    success: single(StaffBonus)
  }),
  HttpApiEndpoint.get("show", "/bonuses/:bonus", { params: { bonus: pathId }, success: single(ShownBonus) }),
  HttpApiEndpoint.get("grants", "/bonuses/:bonus/grants", {
    params: { bonus: pathId },
    query: { ...partQuery, state: optional(oneOf(bonusStates)) },
    success: part(PlayerBonus)
  }),
  HttpApiEndpoint.get("list", "/bonuses", { query: { operator: optional(reference) }, success: list(StaffBonus) }),
  HttpApiEndpoint.post("grant", "/players/:player/bonuses", {
    params: { player: pathId },
    payload: Schema.Struct({
      bonus: integer(1, Number.MAX_SAFE_INTEGER),
      amount: optional(amountFrom(1)),
      note: optional(lines(2000).check(Schema.isPattern(/\S/u, { message: "must not be blank" })))
    }),
    success: created(PlayerBonus),
    error: refusals("BONUS_INVALID", "LIMIT_EXCEEDED")
  }),
  HttpApiEndpoint.post("cancel", "/player-bonuses/:bonus/cancel", {
    params: { bonus: pathId },
    payload: Schema.Struct({ reason: optional(text(500)) }),
    success: single(PlayerBonus),
    error: refusals("BONUS_INVALID")
  })
)

export const PromoGroup = HttpApiGroup.make("promo").add(
  HttpApiEndpoint.post("create", "/promo-codes", {
    payload: PromoInput,
    success: created(Promo)
  }),
  HttpApiEndpoint.patch("update", "/promo-codes/:promo", {
    params: { promo: pathId },
    payload: Schema.Struct({ active: Schema.Boolean }),
    success: single(Promo)
  }),
  HttpApiEndpoint.get("list", "/promo-codes", { query: { operator: optional(reference) }, success: list(Promo) })
)
