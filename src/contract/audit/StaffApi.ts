/** Staff API endpoint and wire schema of the audit log. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { ofOperator, ofPlayer, period } from "../common/StaffFields.ts"
import { action } from "../common/StaffAction.ts"
import { text } from "../common/Fields.ts"
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

export const AuditGroup = HttpApiGroup.make("audit").annotate(OpenApi.Description, "Who did what").add(
  HttpApiEndpoint.get("list", "/audit", {
    query: {
      ...partQuery,
      ...ofOperator,
      ...ofPlayer,
      staff: optional(
        Schema.String.check(
          Schema.isPattern(/^([1-9]\d{0,14}|bootstrap)$/u, { message: "must be the id of an account" })
        )
          .annotate({ description: "Id of the account that acted, or bootstrap." })
      ),
      action: optional(text(64, { description: "What was done, like key.rotate." })),
      ...period
    },
    success: part(AuditLine)
  }).annotateMerge(action("Newest first", { roles: ["compliance"], concern: "operator" }))
)
