/** Staff API endpoints for game providers. */
import { Schema, Struct } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { action, anyRole } from "../common/StaffAction.ts"
import { addresses, date, integer, reference, slug, text, webAddress } from "../common/Fields.ts"
import { created, list, single } from "../common/Pagination.ts"
import { id, timestamp } from "../common/Resource.ts"
import { SettingsInput } from "./SettingsResource.ts"

/** A game provider: never with its secret. */
export const StaffProvider = Schema.Struct({
  id,
  slug: Schema.String,
  name: Schema.String,
  key: Schema.String,
  launch_url: Schema.NullOr(Schema.String),
  demo_url: Schema.NullOr(Schema.String),
  ip_allowlist: Schema.Array(Schema.String),
  active: Schema.Boolean,
  protocol: Schema.String,
  settings: Schema.Record(Schema.String, Schema.Unknown).annotate({ description: "Without the secret ones." }),
  sync_hours: Schema.Int.annotate({ description: "How often the vendor's catalogue is read; 0: never." }),
  created_at: timestamp,
  updated_at: timestamp
})

const names = {
  slug: slug.annotate({ description: "Short name, unique." }),
  name: text(100, { description: "Full name." })
}

const ProviderUpdate = Schema.Struct({
  ...names,
  launch_url: Schema.NullOr(webAddress).annotate({ description: "Where games open, with {token}, {game} and {mode}." }),
  demo_url: Schema.NullOr(webAddress).annotate({ description: "Where free play opens." }),
  ip_allowlist: addresses.annotate({
    description: "Addresses and ranges it calls from (any).",
    flag: { name: "ip" }
  }),
  active: Schema.Boolean.annotate({
    description: "Whether its games are offered and take bets; what was begun is settled all the same (true)."
  }),
  protocol: text(50, { description: "Protocol of its vendor (pitboss)." }),
  settings: SettingsInput.annotate({
    description: "Settings of its protocol; an update replaces those that it names."
  }),
  sync_hours: integer(0, 8760).annotate({
    description: "Hours between readings of its vendor's catalogue (24; 0: never)."
  })
}).mapFields(Struct.map(Schema.optionalKey))

const ProviderInput = Schema.Struct({ ...ProviderUpdate.fields, ...names })

export type ProviderDetails = typeof ProviderDetails.Type
export type SyncReport = typeof SyncReport.Type
export type Compared = typeof Compared.Type
export type Difference = typeof Difference.Type
export type ReconciliationReport = typeof ReconciliationReport.Type
export type VendorCallLine = typeof VendorCallLine.Type
export type ProviderInput = typeof ProviderInput.Type
export type ProviderUpdate = typeof ProviderUpdate.Type

/** A game provider with its vendor settings and call statistics. */
const ProviderDetails = Schema.Struct({
  ...StaffProvider.fields,
  secret_settings: Schema.Array(Schema.String).annotate({ description: "Names of the secret settings that it has." }),
  wallet_address: Schema.String.annotate({ description: "What the vendor calls." }),
  last_called_at: Schema.NullOr(timestamp).annotate({ description: "Null: not since the nodes were started." }),
  refusals: Schema.Record(Schema.String, Schema.Int).annotate({
    description: "Refused calls at any node since they were started, by reason."
  })
})

/** A call of a vendor. */
const VendorCallLine = Schema.Struct({
  at: timestamp,
  method: Schema.String,
  player: Schema.NullOr(Schema.String),
  transaction_id: Schema.NullOr(Schema.String).annotate({ description: "Of its first message." }),
  round: Schema.NullOr(Schema.String),
  amount: Schema.NullOr(Schema.String),
  answer: Schema.Int.annotate({ description: "HTTP status." }),
  refusal: Schema.NullOr(Schema.String),
  latency_ms: Schema.Number
})

const externalIds = Schema.Array(Schema.String).annotate({ description: "The vendor's ids." })

const LeftLine = Schema.Struct({
  id: Schema.NullOr(Schema.String).annotate({ description: "The vendor's id; null where it gives none." }),
  reason: Schema.String
})

/** Result of a catalogue synchronisation. */
const SyncReport = Schema.Struct({
  games: Schema.Int.annotate({ description: "How many the vendor has." }),
  added: externalIds,
  changed: externalIds,
  gone: externalIds,
  unreadable: Schema.Int.annotate({
    description: "Games that could not be taken: not understood, named twice, or with an id of a wrong form."
  }),
  not_taken: Schema.Array(LeftLine).annotate({
    description:
      "Games of the vendor that were not taken, with the reason: those that could not be, and those that it does not offer. The first 1,000."
  })
})

const Compared = Schema.Struct({
  kind: Schema.NullOr(Schema.String),
  amount: Schema.NullOr(Schema.Number).annotate({ description: "Minor units; null: not whole." }),
  win: Schema.optionalKey(Schema.NullOr(Schema.Number)),
  currency: Schema.String,
  player_id: Schema.NullOr(Schema.Int)
})
const Difference = Schema.Struct({
  id: Schema.String.annotate({ description: "The transaction, or the game and the round." }),
  here: Schema.optionalKey(Compared),
  vendor: Schema.optionalKey(Compared)
})

const NotUnderstood = Schema.Struct({ ...LeftLine.fields, here: Schema.optionalKey(Compared) })

const LineCounts = Schema.Record(Schema.String, Schema.Int)

/** A vendor's day beside ours. The lists are cut at 1,000 each; the counts are whole. */
const ReconciliationReport = Schema.Struct({
  date: Schema.String,
  by: Schema.Literals(["transaction", "round"]),
  matched: Schema.Int,
  only_vendor: Schema.Array(Difference),
  only_here: Schema.Array(Difference),
  different: Schema.Array(Difference),
  not_understood: Schema.Array(NotUnderstood).annotate({
    description: "Lines of the vendor that were not compared, with the reason, and ours of the same id."
  }),
  totals: Schema.Struct({
    only_vendor: Schema.Int,
    only_here: Schema.Int,
    different: Schema.Int,
    not_understood: Schema.Int
  }),
  lines: Schema.Struct({
    vendor: LineCounts.annotate({
      description:
        "Each line of the vendor's, by kind; `unsettled`: declined, as it says; `not_understood`: not compared."
    }),
    here: LineCounts.annotate({
      description:
        "Each of ours of the day, by kind; `without_effect`: moved nothing, or was taken back; `not_due`: a round that is open or goes " +
        "beyond the day."
    })
  }),
  is_clean: Schema.Boolean.annotate({ description: "Each line of both sides was understood, and is the same." })
})

/** Shown once, in the answer that made it. */
const withSecret = Schema.Struct({ ...StaffProvider.fields, secret: Schema.String })

export const ProviderGroup = HttpApiGroup.make("provider").annotate(OpenApi.Description, "Game providers").add(
  HttpApiEndpoint.post("create", "/providers", { payload: ProviderInput, success: created(withSecret) }).annotateMerge(
    action("Add a provider; prints its secret once", { roles: [], concern: "installation", is: "authority" })
  ),
  HttpApiEndpoint.patch("update", "/providers/:provider", {
    params: { provider: reference },
    payload: ProviderUpdate,
    success: single(StaffProvider)
  }).annotateMerge(action("Change a provider", { roles: [], concern: "installation", is: "authority" })),
  HttpApiEndpoint.post("rotate", "/providers/:provider/rotate", {
    params: { provider: reference },
    success: single(withSecret)
  }).annotateMerge(
    action("Give a provider a new secret; prints it once", { roles: [], concern: "installation", is: "authority" })
  ),
  HttpApiEndpoint.get("show", "/providers/:provider", {
    params: { provider: reference },
    success: single(ProviderDetails)
  }).annotateMerge(
    action("A provider: settings, what to tell its vendor, when that called last, what it was refused", {
      roles: anyRole,
      concern: "catalogue"
    })
  ),
  HttpApiEndpoint.post("sync", "/providers/:provider/sync", {
    params: { provider: reference },
    payload: Schema.Struct({
      activate: Schema.optionalKey(
        Schema.Boolean.annotate({ description: "Offer new games at once.", flag: { isSwitch: true } })
      )
    }),
    success: single(SyncReport)
  }).annotateMerge(
    action("Read the catalogue of a provider's vendor: new games are added, others changed, gone ones switched off", {
      roles: [],
      concern: "installation",
      waiting: "Reading the catalogue"
    })
  ),
  HttpApiEndpoint.get("reconcile", "/providers/:provider/reconciliation", {
    params: { provider: reference },
    query: { date: date.annotate({ description: "A day in UTC, like 2026-11-20." }) },
    success: single(ReconciliationReport)
  }).annotateMerge(action("Compare a day with what a provider's vendor has of it; exit 1 when it differs", {
    // a vendor's day is of all operators' players
    roles: ["payments", "compliance"],
    concern: "installation",
    waiting: "Comparing the day",
    passes: Schema.Struct({ is_clean: Schema.Literal(true) })
  })),
  HttpApiEndpoint.get("calls", "/providers/:provider/calls", {
    params: { provider: reference },
    success: list(VendorCallLine)
  }).annotateMerge(action("The last calls of a provider's vendor, newest first", {
    // of players of other operators only that there was a call
    roles: anyRole,
    concern: "catalogue"
  })),
  HttpApiEndpoint.get("list", "/providers", { success: list(StaffProvider) }).annotateMerge(
    action("All providers", { roles: anyRole, concern: "catalogue" })
  )
)
