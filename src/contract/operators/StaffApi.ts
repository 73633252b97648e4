/** Operators in the staff API. */
import { Schema, Struct } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
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

const OperatorUpdate = Schema.Struct({
  slug,
  name: text(100),
  currency,
  cooperation_model: oneOf(cooperationModels),
  active: Schema.Boolean,
  cooling_off_hours: integer(0, 8760),
  withdrawal_second_approval_above: Schema.NullOr(amountFrom(0)),
  kyc_withdrawal_threshold: Schema.NullOr(amountFrom(0)),
  forfeit_bonus_on_withdrawal: Schema.Boolean,
  disabled_features: Schema.Array(oneOf(features)),
  original_max_stake: amountFrom(1),
  original_max_payout: amountFrom(1),
  daily_deposit_cap: Schema.NullOr(amountFrom(0)),
  daily_withdrawal_cap: Schema.NullOr(amountFrom(0)),
  // any name: one that is no limit is refused, where a struct would pass over it
  default_limits: Schema.Record(Schema.String, Schema.NullOr(Schema.Number))
}).mapFields(Struct.map(Schema.optionalKey))

const OperatorInput = Schema.Struct({ ...OperatorUpdate.fields, slug, name: text(100), currency })

export type OperatorInput = typeof OperatorInput.Type
export type OperatorUpdate = typeof OperatorUpdate.Type

export const OperatorGroup = HttpApiGroup.make("operator").add(
  HttpApiEndpoint.post("create", "/operators", { payload: OperatorInput, success: created(StaffOperator) }),
  HttpApiEndpoint.patch("update", "/operators/:operator", {
    params: { operator: reference },
    payload: OperatorUpdate,
    success: single(StaffOperator)
  }),
  HttpApiEndpoint.get("list", "/operators", { success: list(StaffOperator) })
)
