/** Verification and export of the ledger in the staff API. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { reference } from "../../contract/Fields.ts"
import { single } from "../../contract/Pagination.ts"
import { id } from "../../contract/Resource.ts"

const optional = Schema.optionalKey

const LedgerReport = Schema.Struct({
  players: Schema.Int,
  entries: Schema.Int,
  violations: Schema.Array(Schema.Struct({
    rule: Schema.String,
    player_id: Schema.NullOr(id),
    subject: Schema.String,
    message: Schema.String
  })),
  links: Schema.Int,
  not_yet_linked: Schema.Int,
  seals: Schema.Int,
  last_seal_hash: Schema.NullOr(Schema.String)
})

export const LedgerGroup = HttpApiGroup.make("ledger").add(
  HttpApiEndpoint.get("verify", "/ledger/verification", {
    query: { operator: optional(reference) },
    success: single(LedgerReport)
  }),
  HttpApiEndpoint.get("export", "/ledger/export", {
    query: { operator: optional(reference) },
    success: HttpApiSchema.StreamUint8Array({ contentType: "application/x-ndjson" })
  })
)
