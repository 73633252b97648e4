/** Staff API endpoints for balance corrections under the four-eyes rule. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { ofOperator, ofPlayer } from "../common/StaffFields.ts"
import { action } from "../common/StaffAction.ts"
import { refusals } from "../common/Errors.ts"
import { lines, oneOf, pathId } from "../common/Fields.ts"
import { part, partQuery, single } from "../common/Pagination.ts"
import { currencyCode, id, money, timestamp } from "../common/Resource.ts"
import { walletKinds } from "../../domain/state/Change.ts"

const optional = Schema.optionalKey

export const correctionStatuses = ["pending", "posted", "rejected"] as const

export const Correction = Schema.Struct({
  id,
  operator_id: id,
  player_id: id,
  wallet: Schema.Literals(walletKinds),
  amount: money,
  currency: currencyCode,
  reason: Schema.String,
  status: Schema.Literals(correctionStatuses),
  requested_by: Schema.String.annotate({ description: "As the audit log names who acts." }),
  requested_at: timestamp,
  decided_by: Schema.NullOr(Schema.String),
  decided_at: Schema.NullOr(timestamp),
  transaction_id: Schema.NullOr(id).annotate({ description: "The ledger entry, once it is posted." }),
  reject_reason: Schema.NullOr(Schema.String)
})

export const CorrectionGroup = HttpApiGroup.make("correction").annotate(
  OpenApi.Description,
  "Corrections above the threshold for a second approval"
).add(
  HttpApiEndpoint.get("list", "/corrections", {
    query: {
      ...partQuery,
      ...ofOperator,
      ...ofPlayer,
      status: optional(oneOf(correctionStatuses).annotate({ description: "Filter by status." }))
    },
    success: part(Correction)
  }).annotateMerge(
    action("Corrections that took or take a second person, newest first", {
      roles: ["payments", "compliance"],
      concern: "operator"
    })
  ),
  HttpApiEndpoint.post("approve", "/corrections/:correction/approve", {
    params: { correction: pathId },
    success: single(Correction),
    error: refusals("PAYMENT_REQUEST_INVALID", "LIMIT_EXCEEDED")
  }).annotateMerge(
    action("Approve a pending correction of another person", { roles: ["payments"], concern: "operator", is: "money" })
  ),
  HttpApiEndpoint.post("reject", "/corrections/:correction/reject", {
    params: { correction: pathId },
    payload: Schema.Struct({ reason: optional(lines(500, { description: "Why, for the audit log." })) }),
    success: single(Correction),
    error: refusals("PAYMENT_REQUEST_INVALID")
  }).annotateMerge(action("Drop what was asked for", { roles: ["payments"], concern: "operator" }))
)
