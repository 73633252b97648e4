/** Staff API endpoints for operators and licensees. */
import { Schema, Struct } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { action, anyRole } from "../common/StaffAction.ts"
import { amountFrom, currency, integer, oneOf, reference, slug, text } from "../common/Fields.ts"
import { created, list, single } from "../common/Pagination.ts"
import { currencyCode, formOf, id, money, shownOf, timestamp } from "../common/Resource.ts"
import { offsetHours } from "../../domain/LocalDays.ts"
import { setupSteps } from "../../domain/operator/OperatorSetup.ts"
import { cooperationModels, features } from "../../domain/state/Operator.ts"

const identity = {
  slug: {
    // words of the command line, which names operators
    form: slug.annotate({ description: "Short name, unique." }).check(
      Schema.makeFilter((value: string) => !["all", "none"].includes(value) || "must not be all or none")
    ),
    shown: Schema.String
  },
  name: {
    form: text(100, { description: "Full name." }),
    shown: Schema.String
  },
  currency: {
    form: currency.annotate({ description: "ISO 4217 code of reports and new players." }),
    shown: currencyCode
  }
}

/** Settings of an operator: as they are sent, and as they show. */
const settings = {
  ...identity,
  cooperation_model: {
    form: oneOf(cooperationModels).annotate({ description: "Who keeps the front end (api)." }),
    shown: Schema.String
  },
  active: {
    form: Schema.Boolean.annotate({ description: "Whether its keys and players are served (true)." }),
    shown: Schema.Boolean
  },
  cooling_off_hours: {
    form: integer(0, 8760).annotate({ description: "Hours that a raised limit waits (24)." }),
    shown: Schema.Int
  },
  withdrawal_second_approval_above: {
    form: Schema.NullOr(amountFrom(0)).annotate({
      description: "Amount above which withdrawals need two approvals, minor units."
    }),
    shown: Schema.NullOr(money)
  },
  kyc_withdrawal_threshold: {
    form: Schema.NullOr(amountFrom(0)).annotate({
      description: "Total that an unverified player may withdraw, minor units (any)."
    }),
    shown: Schema.NullOr(money)
  },
  forfeit_bonus_on_withdrawal: {
    form: Schema.Boolean.annotate({
      description: "Whether a withdrawal ends a running bonus (true)."
    }),
    shown: Schema.Boolean
  },
  disabled_features: {
    form: Schema.Array(oneOf(features)).annotate({
      description: "Features that are off for a turnkey operator.",
      flag: { name: "disable-features" }
    }),
    shown: Schema.Array(Schema.String)
  },
  original_max_stake: {
    form: amountFrom(1, "The most that a round of an original takes, minor units (100000)."),
    shown: money
  },
  original_max_payout: {
    form: amountFrom(1, "The most that a round of an original pays, minor units (10000000)."),
    shown: money
  },
  report_offset_hours: {
    form: integer(offsetHours.minimum, offsetHours.maximum).annotate({
      description: "Hours by which the days of its local reports are ahead of UTC (0); days of UTC stay beside them."
    }),
    shown: Schema.Int
  },
  daily_deposit_cap: {
    form: Schema.NullOr(amountFrom(0)).annotate({
      description: "Daily limit of a player's deposits, minor units."
    }),
    shown: Schema.NullOr(money)
  },
  daily_withdrawal_cap: {
    form: Schema.NullOr(amountFrom(0)).annotate({
      description: "Daily limit of a player's withdrawals, minor units."
    }),
    shown: Schema.NullOr(money)
  },
  profiles: {
    form: Schema.Array(text(64)).annotate({
      description: "Codes of the jurisdictions of its players (none).",
      flag: { hasNone: true }
    }),
    shown: Schema.Array(Schema.String)
  },
  default_profile: {
    form: text(64, { description: "Jurisdiction of a registration that names none (none)." }),
    shown: Schema.String
  },
  terms_version: {
    form: Schema.NullOr(text(64)).annotate({
      description: "Version of the terms that players have to accept before they play or deposit (none)."
    }),
    shown: Schema.NullOr(Schema.String)
  },
  // any name: one that is no limit is refused, where a struct would pass over it
  default_limits: {
    form: Schema.Record(Schema.String, Schema.NullOr(Schema.Number)).annotate({
      description: "Limits that new players begin with, in place of those set (none)."
    }),
    shown: Schema.Record(Schema.String, Schema.Int)
  }
}

/** An operator with its settings. */
export const StaffOperator = Schema.Struct({
  id,
  ...Struct.map(settings, shownOf),
  is_sandbox: Schema.Boolean,
  licensee_id: Schema.NullOr(id),
  created_at: timestamp,
  updated_at: timestamp
})

/** What there is of an operator, and what is missing before its players can play. */
const OperatorSetup = Schema.Struct({
  operator_id: id,
  keys: Schema.Int.annotate({ description: "API keys that are neither revoked nor expired." }),
  webhooks: Schema.Int.annotate({ description: "Webhooks that are active." }),
  payment_methods: Schema.Int.annotate({ description: "Methods on offer." }),
  games: Schema.Int.annotate({ description: "Games on offer, which operators share; 1,000 at most are counted." }),
  first_call_at: Schema.NullOr(timestamp).annotate({
    description: "When the first signed request of one of its keys was accepted."
  }),
  missing: Schema.Array(Schema.Literals(setupSteps)).annotate({ description: "Steps to take, in their order." })
})

export type OperatorSetup = typeof OperatorSetup.Type

const OperatorUpdate = Schema.Struct({
  ...Struct.map(settings, formOf),
  licensee: Schema.NullOr(integer(1, Number.MAX_SAFE_INTEGER)).annotate({
    description: "Id of the licensee whose licence it works under (none)."
  })
}).mapFields(Struct.map(Schema.optionalKey))

const OperatorInput = Schema.Struct({
  ...OperatorUpdate.fields,
  ...Struct.map(identity, formOf),
  is_sandbox: Schema.optionalKey(Schema.Boolean.annotate({
    description: "Whether it is for testing (false). This never changes.",
    flag: { name: "sandbox", isSwitch: true }
  }))
})

export type OperatorInput = typeof OperatorInput.Type
export type OperatorUpdate = typeof OperatorUpdate.Type

export const OperatorGroup = HttpApiGroup.make("operator").annotate(OpenApi.Description, "Operators").add(
  HttpApiEndpoint.post("create", "/operators", { payload: OperatorInput, success: created(StaffOperator) })
    .annotateMerge(action("Add an operator", { roles: [], concern: "installation" })),
  HttpApiEndpoint.patch("update", "/operators/:operator", {
    params: { operator: reference },
    payload: OperatorUpdate,
    success: single(StaffOperator)
  }).annotateMerge(action("Change an operator", { roles: [], concern: "operator", is: "authority" })),
  HttpApiEndpoint.get("setup", "/operators/:operator/setup", {
    params: { operator: reference },
    success: single(OperatorSetup)
  }).annotateMerge(
    action("What an operator needs before its players can play", { roles: anyRole, concern: "operator" })
  ),
  HttpApiEndpoint.get("list", "/operators", { success: list(StaffOperator) }).annotateMerge(
    action("All operators", { roles: anyRole, concern: "operator" })
  )
)

/** A holder of a licence; its operators share exclusions. */
export const Licensee = Schema.Struct({ id, name: Schema.String, created_at: timestamp })

const LicenseeInput = Schema.Struct({ name: text(100, { description: "Name, unique." }) })

export type LicenseeInput = typeof LicenseeInput.Type

export const LicenseeGroup = HttpApiGroup.make("licensee").annotate(
  OpenApi.Description,
  "Licensees, each of which groups operators"
).add(
  HttpApiEndpoint.post("create", "/licensees", { payload: LicenseeInput, success: created(Licensee) })
    .annotateMerge(action("Add a licensee", { roles: [], concern: "installation" })),
  HttpApiEndpoint.get("list", "/licensees", { success: list(Licensee) }).annotateMerge(
    action("All licensees", { roles: [], concern: "installation" })
  )
)
