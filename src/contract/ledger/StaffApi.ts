/** The ledger in the staff API: entries over players, verification and export. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { amountFrom, currency, instant, oneOf, pathId, reference, text } from "../common/Fields.ts"
import { cursorPage, cursorQuery, single } from "../common/Pagination.ts"
import { id, timestamp } from "../common/Resource.ts"
import { entryTypes, walletKinds } from "../../domain/state/Change.ts"
import { Transaction } from "./TransactionResource.ts"

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

/** A restored backup that is to be accepted, or was. */
export const LedgerRestore = Schema.Struct({
  id,
  status: Schema.Literals(["pending", "accepted"]),
  reason: Schema.String,
  requested_by: Schema.String.annotate({ description: "As the audit log names who acts." }),
  requested_at: timestamp,
  approved_by: Schema.NullOr(Schema.String),
  old_seal: Schema.NullOr(Schema.Int).annotate({ description: "The last seal that the service remembered." }),
  old_hash: Schema.NullOr(Schema.String),
  new_seal: Schema.NullOr(Schema.Int).annotate({ description: "The last seal of the restored ledger." }),
  new_hash: Schema.NullOr(Schema.String)
})

/** An entry with its operator, player and game. */
export const StaffEntry = Schema.Struct({
  operator_id: id,
  ...Transaction.fields,
  username: Schema.String,
  provider: Schema.NullOr(Schema.String).annotate({ description: "The slug; null for what is not of a game." }),
  game: Schema.NullOr(Schema.String),
  game_external_id: Schema.NullOr(Schema.String)
})

export const LedgerGroup = HttpApiGroup.make("ledger").add(
  HttpApiEndpoint.get("entries", "/ledger/entries", {
    query: {
      ...cursorQuery,
      operator: optional(reference),
      player: optional(pathId),
      wallet: optional(oneOf(walletKinds)),
      type: optional(oneOf(entryTypes)),
      transaction: optional(reference),
      provider: optional(reference),
      round: optional(reference),
      currency: optional(currency),
      min_amount: optional(amountFrom(0)),
      max_amount: optional(amountFrom(0)),
      from: optional(instant),
      to: optional(instant)
    },
    success: cursorPage(StaffEntry)
  }),
  HttpApiEndpoint.get("verify", "/ledger/verification", {
    query: { operator: optional(reference) },
    success: single(LedgerReport)
  }),
  HttpApiEndpoint.post("accept_restore", "/ledger/restores", {
    payload: Schema.Struct({ reason: text(500) }),
    success: single(LedgerRestore)
  }),
  HttpApiEndpoint.get("export", "/ledger/export", {
    query: { operator: optional(reference) },
    success: HttpApiSchema.StreamUint8Array({ contentType: "application/x-ndjson" })
  })
)
