/** Corrections under the four-eyes rule in the staff API. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { refusals } from "../common/Errors.ts"
import { lines, oneOf, pathId, reference } from "../common/Fields.ts"
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

export const CorrectionGroup = HttpApiGroup.make("correction").add(
  HttpApiEndpoint.get("list", "/corrections", {
    query: {
      ...partQuery,
      operator: optional(reference),
      player: optional(pathId),
      status: optional(oneOf(correctionStatuses))
    },
    success: part(Correction)
  }),
  HttpApiEndpoint.post("approve", "/corrections/:correction/approve", {
    params: { correction: pathId },
    success: single(Correction),
    error: refusals("PAYMENT_REQUEST_INVALID", "LIMIT_EXCEEDED")
  }),
  HttpApiEndpoint.post("reject", "/corrections/:correction/reject", {
    params: { correction: pathId },
    payload: Schema.Struct({ reason: optional(lines(500)) }),
    success: single(Correction),
    error: refusals("PAYMENT_REQUEST_INVALID")
  })
)
