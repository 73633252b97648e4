/** Operators in the staff API. */
import { Schema, Struct } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { action, anyRole } from "../common/StaffAction.ts"
import { amountFrom, currency, integer, oneOf, reference, slug, text } from "../common/Fields.ts"
import { created, list, single } from "../common/Pagination.ts"
import { currencyCode, id, money, timestamp } from "../common/Resource.ts"
import { cooperationModels, features } from "../../domain/state/Operator.ts"

/** An operator with its settings. */
export const StaffOperator = Schema.Struct({
  id,
  slug: Schema.String,
  name: Schema.String,
  currency: currencyCode,
  cooperation_model: Schema.String,
  active: Schema.Boolean,
  cooling_off_hours: Schema.Int,
  withdrawal_second_approval_above: Schema.NullOr(money),
  kyc_withdrawal_threshold: Schema.NullOr(money),
  forfeit_bonus_on_withdrawal: Schema.Boolean,
  disabled_features: Schema.Array(Schema.String),
  original_max_stake: money,
  original_max_payout: money,
  daily_deposit_cap: Schema.NullOr(money),
  daily_withdrawal_cap: Schema.NullOr(money),
  default_limits: Schema.Record(Schema.String, Schema.Int),
  created_at: timestamp,
  updated_at: timestamp
})

const identity = {
  slug: slug.annotate({ description: "Short name, unique." }),
  name: text(100, { description: "Full name." }),
  currency: currency.annotate({ description: "ISO 4217 code of reports and new players." })
}

const OperatorUpdate = Schema.Struct({
  ...identity,
  cooperation_model: oneOf(cooperationModels).annotate({ description: "Who keeps the front end (api)." }),
  active: Schema.Boolean.annotate({ description: "Whether its keys and players are served (true)." }),
  cooling_off_hours: integer(0, 8760).annotate({ description: "Hours that a raised limit waits (24)." }),
  withdrawal_second_approval_above: Schema.NullOr(amountFrom(0)).annotate({
    description: "Amount above which withdrawals need two approvals, minor units."
  }),
  kyc_withdrawal_threshold: Schema.NullOr(amountFrom(0)).annotate({
    description: "Total that an unverified player may withdraw, minor units."
  }),
  forfeit_bonus_on_withdrawal: Schema.Boolean.annotate({
    description: "Whether a withdrawal ends a running bonus (true)."
  }),
  disabled_features: Schema.Array(oneOf(features)).annotate({
    description: "Features that are off for a turnkey operator.",
    flag: { name: "disable-features" }
  }),
  original_max_stake: amountFrom(1, "The most that a round of an original takes, minor units (100000)."),
  original_max_payout: amountFrom(1, "The most that a round of an original pays, minor units (10000000)."),
  daily_deposit_cap: Schema.NullOr(amountFrom(0)).annotate({
    description: "Daily limit of a player's deposits, minor units."
  }),
  daily_withdrawal_cap: Schema.NullOr(amountFrom(0)).annotate({
    description: "Daily limit of a player's withdrawals, minor units."
  }),
  // any name: one that is no limit is refused, where a struct would pass over it
  default_limits: Schema.Record(Schema.String, Schema.NullOr(Schema.Number)).annotate({
    description: "Limits that new players begin with, in place of those set (none)."
  })
}).mapFields(Struct.map(Schema.optionalKey))

const OperatorInput = Schema.Struct({ ...OperatorUpdate.fields, ...identity })

export type OperatorInput = typeof OperatorInput.Type
export type OperatorUpdate = typeof OperatorUpdate.Type

export const OperatorGroup = HttpApiGroup.make("operator").annotate(OpenApi.Description, "Operators").add(
  HttpApiEndpoint.post("create", "/operators", { payload: OperatorInput, success: created(StaffOperator) })
    .annotateMerge(action("Add an operator", { roles: [], concern: "installation" })),
  HttpApiEndpoint.patch("update", "/operators/:operator", {
    params: { operator: reference },
    payload: OperatorUpdate,
    success: single(StaffOperator)
  }).annotateMerge(action("Change an operator", { roles: [], concern: "operator", is: "authority" })),
  HttpApiEndpoint.get("list", "/operators", { success: list(StaffOperator) }).annotateMerge(
    action("All operators", { roles: anyRole, concern: "operator" })
  )
)
