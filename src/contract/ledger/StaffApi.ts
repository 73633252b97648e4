/** Staff API endpoints for the ledger: entries across players, verification, export, and acceptance of a restored backup. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { ofOperator, ofPlayer, period } from "../common/StaffFields.ts"
import { action, anyRole } from "../common/StaffAction.ts"
import { amountFrom, currency, oneOf, reference, text } from "../common/Fields.ts"
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
  seals: Schema.Int,
  last_seal_hash: Schema.NullOr(Schema.String),
  after_seal: Schema.NullOr(Schema.Int).annotate({
    description: "The seal after which it verified; null where it verified everything."
  }),
  since: Schema.NullOr(timestamp).annotate({ description: "When that seal was made." })
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

export const LedgerGroup = HttpApiGroup.make("ledger").annotate(OpenApi.Description, "The ledger").add(
  HttpApiEndpoint.get("entries", "/ledger/entries", {
    query: {
      ...cursorQuery,
      ...ofOperator,
      ...ofPlayer,
      wallet: optional(oneOf(walletKinds).annotate({ description: "Filter by wallet." })),
      type: optional(oneOf(entryTypes).annotate({ description: "Filter by type." })),
      transaction: optional(
        reference.annotate({
          description:
            "Filter by a message: the provider's id of it, or the id of an entry. With --provider where two providers have that id."
        })
      ),
      provider: optional(reference.annotate({ description: "Filter by provider, id or slug." })),
      round: optional(reference.annotate({ description: "Filter by the provider's id of a round." })),
      currency: optional(
        currency.annotate({
          description: "Filter by currency; required with a minimum or maximum amount, unless a player is named."
        })
      ),
      min_amount: optional(amountFrom(0, "Minimum amount, minor units.")),
      max_amount: optional(amountFrom(0, "Maximum amount, minor units.")),
      ...period
    },
    success: cursorPage(StaffEntry)
  }).annotateMerge(action("Entries over players, newest first", { roles: anyRole, concern: "operator" })),
  HttpApiEndpoint.get("verify", "/ledger/verification", {
    query: {
      ...ofOperator,
      all: optional(
        Schema.Literal("true").annotate({
          description: "Everything, not only what was written since the last verification.",
          flag: { isSwitch: true }
        })
      )
    },
    success: single(LedgerReport)
  }).annotateMerge(
    action("Prove the ledger; exit 1 when a law does not hold", {
      roles: ["payments", "compliance"],
      concern: "one_operator",
      waiting: "Proving the ledger",
      passes: Schema.Struct({ violations: Schema.Tuple([]) })
    })
  ),
  HttpApiEndpoint.post("accept_restore", "/ledger/restores", {
    payload: Schema.Struct({ reason: text(500, { description: "Why commits are gone, and which backup it is." }) }),
    success: single(LedgerRestore)
  }).annotateMerge(
    action("Accept a restored backup in place of the end that was remembered; takes two people", {
      roles: [],
      concern: "installation",
      is: "authority"
    })
  ),
  HttpApiEndpoint.get("export", "/ledger/export", {
    query: ofOperator,
    success: HttpApiSchema.StreamUint8Array({ contentType: "application/x-ndjson" })
  }).annotateMerge(
    action("Print entries and audit lines with their chain of hashes, as lines of JSON", {
      roles: ["compliance"],
      concern: "one_operator"
    })
  )
)
