/** The audit log in the staff API. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { instant, pathId, reference, text } from "../common/Fields.ts"
import { part, partQuery } from "../common/Pagination.ts"
import { id, timestamp } from "../common/Resource.ts"

const optional = Schema.optionalKey

/** A line of the audit log. */
export const AuditLine = Schema.Struct({
  id,
  at: timestamp,
  actor: Schema.String,
  action: Schema.String,
  operator_id: Schema.NullOr(id),
  player_id: Schema.NullOr(id),
  subject: Schema.String,
  before: Schema.Unknown,
  after: Schema.Unknown,
  reason: Schema.NullOr(Schema.String)
})

export const AuditGroup = HttpApiGroup.make("audit").add(
  HttpApiEndpoint.get("list", "/audit", {
    query: {
      ...partQuery,
      operator: optional(reference),
      player: optional(pathId),
      staff: optional(
        Schema.String.check(
          Schema.isPattern(/^([1-9]\d{0,14}|bootstrap)$/u, { message: "must be the id of an account" })
        )
      ),
      action: optional(text(64)),
      from: optional(instant),
      to: optional(instant)
    },
    success: part(AuditLine)
  })
)
