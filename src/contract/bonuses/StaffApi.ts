/** Staff API endpoints for bonuses and promo codes. */
import { Schema, Struct } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { auditReason, ofOperator, operatorReference } from "../common/StaffFields.ts"
import { action, anyRole } from "../common/StaffAction.ts"
import { bonusStates, bonusTypes } from "../../domain/state/Bonus.ts"
import { Bonus, PlayerBonus } from "./BonusResource.ts"
import { bulkOutcome, idsOf } from "../common/Bulk.ts"
import { refusals } from "../common/Errors.ts"
import { StaffIdempotentPost } from "../common/StaffMiddleware.ts"
import { amountFrom, instant, integer, lines, oneOf, pathId, text } from "../common/Fields.ts"
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

/** A grant with the terms that it was granted by, and what its player is told of it. */
const GrantedBonus = Schema.Struct({
  ...PlayerBonus.fields,
  left_to_wager: money.annotate({ description: "Stakes that it still needs, minor units." }),
  max_conversion: money.annotate({ description: "The most that becomes real money; 0 means no cap." }),
  valid_days: Schema.Int.annotate({ description: "How long it runs once activated." }),
  contributions: Schema.Record(Schema.String, Schema.Number).annotate({
    description: "Percent of a stake that counts, by game id; other games count in full, live ones with 10 percent."
  }),
  sentences: Schema.Array(Schema.String).annotate({ description: "What the player is told of it." })
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
).annotate({ description: "Percent of a stake that counts, by the id of a game." })

const offer = {
  name: text(100, { description: "Name." }),
  type: oneOf(bonusTypes).annotate({ description: "Type; deposit_match: a fixed amount on a deposit." }),
  default_amount: amountFrom(1, "Amount of a grant, minor units of the operator's currency.")
}

const BonusUpdate = Schema.Struct({
  ...offer,
  description: lines(2000, { description: "What players read." }),
  wagering_multiplier: integer(0, 1000).annotate({ description: "How often it has to be wagered (30; cash 0)." }),
  valid_days: integer(1, 3650).annotate({ description: "How long it runs once activated (30)." }),
  max_bet: amountFrom(0, "Largest stake while it runs, minor units (0: no cap)."),
  max_conversion_multiplier: integer(0, 100_000).annotate({
    description: "How many times its amount can be converted (0: no cap)."
  }),
  max_grants_per_player: integer(0, 1_000_000).annotate({
    description: "How often a player can have it (1; 0: no cap)."
  }),
  contributions,
  active: Schema.Boolean.annotate({ description: "Whether it is offered (true)." })
}).mapFields(Struct.map(Schema.optionalKey))

const BonusInput = Schema.Struct({
  operator: operatorReference,
  ...BonusUpdate.fields,
  ...offer
})

const PromoInput = Schema.Struct({
  operator: operatorReference,
  code: Schema.String.annotate({ examples: ["WELCOME10"] }).check(
    Schema.isPattern(/^[A-Za-z0-9_-]{1,64}$/u, {
      message: "must be 1 to 64 characters: letters, digits, dashes and underscores"
    })
  ).annotate({ description: "What players enter, in any case of its letters." }),
  bonus: integer(1, Number.MAX_SAFE_INTEGER).annotate({ description: "Id of the bonus it grants." }),
  expires_at: optional(
    Schema.NullOr(instant).annotate({ description: "End of validity, like 2026-11-20T12:00:00Z (never)." })
  ),
  max_redemptions: optional(
    Schema.NullOr(integer(1, 1_000_000_000)).annotate({ description: "How often it can be redeemed, by all players." })
  )
})

/** Bonus as staff submit it. Amounts are minor units of the operator's currency; a cap of 0 means no cap. */
export type BonusInput = typeof BonusInput.Type
export type BonusUpdate = typeof BonusUpdate.Type
export type PromoInput = typeof PromoInput.Type

export const BonusGroup = HttpApiGroup.make("bonus").annotate(OpenApi.Description, "Bonuses").add(
  HttpApiEndpoint.post("create", "/bonuses", {
    payload: BonusInput,
    success: created(StaffBonus)
  }).annotateMerge(action("Add a bonus", {
    // a bonus becomes money by wagering or at once, and its code grants it to any player, outside all budgets
    roles: [],
    concern: "operator",
    is: "authority"
  })),
  HttpApiEndpoint.patch("update", "/bonuses/:bonus", {
    params: { bonus: pathId },
    payload: BonusUpdate,
    success: single(StaffBonus)
  }).annotateMerge(
    action("Change a bonus for grants from now on", { roles: [], concern: "operator", is: "authority" })
  ),
  HttpApiEndpoint.get("show", "/bonuses/:bonus", { params: { bonus: pathId }, success: single(ShownBonus) })
    .annotateMerge(
      action("One bonus, with what its terms mean and what it may still cost", { roles: anyRole, concern: "operator" })
    ),
  HttpApiEndpoint.get("grants", "/bonuses/:bonus/grants", {
    params: { bonus: pathId },
    query: { ...partQuery, state: optional(oneOf(bonusStates).annotate({ description: "Filter by state." })) },
    success: part(PlayerBonus)
  }).annotateMerge(action("Grants of a bonus, newest first", { roles: anyRole, concern: "operator" })),
  HttpApiEndpoint.get("granted", "/player-bonuses/:bonus", {
    params: { bonus: pathId.annotate({ description: "Id of the player's bonus." }) },
    success: single(GrantedBonus)
  }).annotateMerge(
    action("One grant, with what is left to wager and what to tell its player", { roles: anyRole, concern: "operator" })
  ),
  HttpApiEndpoint.get("list", "/bonuses", { query: ofOperator, success: list(StaffBonus) }).annotateMerge(
    action("Bonuses, offered or not", { roles: anyRole, concern: "operator" })
  ),
  HttpApiEndpoint.post("grant", "/players/:player/bonuses", {
    params: { player: pathId },
    payload: Schema.Struct({
      bonus: integer(1, Number.MAX_SAFE_INTEGER).annotate({ description: "Id of the bonus." }),
      amount: optional(
        amountFrom(1, "Minor units of the player's currency (the bonus's own amount).")
      ),
      note: optional(
        lines(2000).check(Schema.isPattern(/\S/u, { message: "must not be blank" })).annotate({
          description: "A note on the player."
        })
      )
    }),
    success: created(PlayerBonus),
    error: refusals("BONUS_INVALID", "LIMIT_EXCEEDED")
  }).annotateMerge(action("Grant a player a bonus of the operator", {
    // support grants offered bonuses at their offered amount
    roles: ["support", "payments"],
    concern: "operator",
    is: "money"
  })),
  HttpApiEndpoint.post("cancel", "/player-bonuses/:bonus/cancel", {
    params: { bonus: pathId.annotate({ description: "Id of the player's bonus." }) },
    payload: Schema.Struct({ reason: optional(auditReason) }),
    success: single(PlayerBonus),
    error: refusals("BONUS_INVALID")
  }).annotateMerge(
    action("End a player's bonus; what is left of it is forfeited", {
      roles: ["support", "compliance"],
      concern: "operator"
    })
  )
)

export const PromoGroup = HttpApiGroup.make("promo").annotate(OpenApi.Description, "Promo codes").add(
  HttpApiEndpoint.post("create", "/promo-codes", {
    payload: PromoInput,
    success: created(Promo)
  }).annotateMerge(action("Add a code", { roles: [], concern: "operator", is: "authority" })),
  HttpApiEndpoint.patch("update", "/promo-codes/:promo", {
    params: { promo: pathId.annotate({ description: "Id of the promo code." }) },
    payload: Schema.Struct({ active: Schema.Boolean.annotate({ description: "Whether it can be redeemed." }) }),
    success: single(Promo)
  }).annotateMerge(action("Switch a code off or on", { roles: [], concern: "operator", is: "authority" })),
  HttpApiEndpoint.post("update_many", "/promo-codes/update", {
    payload: Schema.Struct({
      promos: idsOf("promo codes"),
      active: Schema.Boolean.annotate({ description: "Whether they can be redeemed." })
    }),
    success: bulkOutcome
  }).middleware(StaffIdempotentPost).annotateMerge(
    action("Switch codes off or on", { roles: [], concern: "operator", is: "authority" })
  ),
  HttpApiEndpoint.get("list", "/promo-codes", { query: ofOperator, success: list(Promo) }).annotateMerge(
    action("Promo codes", { roles: anyRole, concern: "operator" })
  )
)
