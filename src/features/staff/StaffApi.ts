/** Staff accounts in the staff API. */
import { Schema, Struct } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { amountFrom, oneOf, pathId, text } from "../../contract/Fields.ts"
import { created, list, single } from "../../contract/Pagination.ts"
import { id, money, timestamp } from "../../contract/Resource.ts"
import { roles } from "../../domain/Staff.ts"

const optional = Schema.optionalKey

/** A staff account. */
export const StaffAccount = Schema.Struct({
  id,
  name: Schema.String,
  role: Schema.Literals(roles),
  active: Schema.Boolean,
  daily_budget: Schema.NullOr(money).annotate({
    description:
      "What the account may give away alone in a day by bonuses and corrections, in minor units of each operator's " +
      "currency; null: without a bound."
  }),
  created_at: timestamp,
  created_by: Schema.NullOr(Schema.String),
  token_issued_at: timestamp,
  token_issued_by: Schema.NullOr(Schema.String),
  token_expires_at: timestamp,
  last_used_at: Schema.NullOr(timestamp).annotate({ description: "To the minute." })
})

const StaffUpdate = Schema.Struct({
  name: text(100),
  role: oneOf(roles),
  active: Schema.Boolean,
  daily_budget: Schema.NullOr(amountFrom(0))
}).mapFields(Struct.map(optional))

const StaffInput = Schema.Struct({ ...StaffUpdate.fields, name: text(100) }).mapFields(Struct.omit(["active"]))

export type StaffInput = typeof StaffInput.Type
export type StaffUpdate = typeof StaffUpdate.Type

export const StaffGroup = HttpApiGroup.make("staff").add(
  HttpApiEndpoint.post("create", "/staff", {
    payload: StaffInput,
    success: created(Schema.Struct({ ...StaffAccount.fields, token: Schema.String }))
  }),
  HttpApiEndpoint.patch("update", "/staff/:staff", {
    params: { staff: pathId },
    payload: StaffUpdate,
    success: single(StaffAccount)
  }),
  HttpApiEndpoint.post("rotate", "/staff/:staff/rotate", {
    params: { staff: pathId },
    success: single(Schema.Struct({ ...StaffAccount.fields, token: Schema.String }))
  }),
  HttpApiEndpoint.post("retire_bootstrap", "/staff/bootstrap/retirement", {
    success: single(Schema.Struct({ retired_at: timestamp, retired_by: Schema.String }))
  }),
  HttpApiEndpoint.get("list", "/staff", { success: list(StaffAccount) })
)
