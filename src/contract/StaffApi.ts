/**
 * What staff and the command line can call, on the back-office port only. The name of a group and the name of its endpoint are
 * together the name of an action, which the roles of staff allow or do not.
 */
import { Context, Schema } from "effect"
import { HttpApi, HttpApiEndpoint, HttpApiGroup, HttpApiMiddleware, HttpApiSchema, OpenApi } from "effect/http-api"
import ipaddr from "ipaddr.js"
import { features, scopes } from "../domain/Operator.ts"
import { refusals } from "./Errors.ts"
import { PaymentGroup } from "../features/payments/StaffApi.ts"
import { amountFrom, currency, instant, integer, oneOf, pathId, reference, text } from "./Fields.ts"
import { AuditGroup } from "../features/audit/StaffApi.ts"
import { AlertGroup } from "../features/compliance/StaffApi.ts"
import { BonusGroup, PromoGroup } from "../features/bonuses/StaffApi.ts"
import { CorrectionGroup } from "../features/corrections/StaffApi.ts"
import { PlayerGroup } from "../features/players/StaffApi.ts"
import { JobGroup, RoundGroup } from "../features/jobs/StaffApi.ts"
import { DeliveryGroup, WebhookGroup } from "../features/webhooks/StaffApi.ts"
import { RateGroup, ReportGroup } from "../features/reports/StaffApi.ts"
import { SecretGroup } from "../features/secrets/StaffApi.ts"
import { list, page, pageQuery, single } from "./Pagination.ts"
import { currencyCode, id, money, timestamp } from "./Resource.ts"

export const roles = ["admin", "support", "payments", "compliance"] as const

/** Who acts. */
export class CurrentStaff extends Context.Service<CurrentStaff, {
  /** Null for who holds the bootstrap token. */
  readonly id: number | null
  readonly name: string
  readonly role: (typeof roles)[number]
  /** How the audit log names the actor. */
  readonly label: string
}>()("pitboss/api/CurrentStaff") {}

/** Lets in who holds a staff token (`Authorization: Bearer …`) whose role may take the endpoint's action. */
export class StaffAuth extends HttpApiMiddleware.Service<StaffAuth, { provides: CurrentStaff }>()(
  "pitboss/api/StaffAuth",
  {
    error: refusals(
      "MISSING_CREDENTIALS",
      "INVALID_API_KEY",
      "RATE_LIMITED",
      "INSUFFICIENT_SCOPE",
      "NOT_FOUND",
      "INVALID_REQUEST",
      "VALIDATION_FAILED",
      "SERVER_ERROR",
      "TRY_AGAIN"
    )
  }
) {}

// ---------------------------------------------------------------------------------------------------------------------
// Fields

const slug = Schema.String.annotate({ examples: ["lucky-casino"] }).check(
  Schema.isPattern(/^[a-z][a-z0-9-]{1,62}$/u, {
    message: "must be 2 to 63 characters: lower-case letters, digits and dashes, a letter first"
  })
)

const address = Schema.String.annotate({ examples: ["203.0.113.7", "10.0.0.0/8"] }).check(
  Schema.makeFilter(
    (value: string) =>
      ipaddr.isValidCIDR(value) || ipaddr.IPv4.isValidFourPartDecimal(value) ||
      (value.includes(":") && ipaddr.IPv6.isValid(value)),
    { message: "must be an address or a range like 10.0.0.0/8", expected: "an address" }
  )
)

const addresses = Schema.Array(address).check(Schema.isMaxLength(100, { message: "must have at most 100 entries" }))

/** A web address; placeholders may stand anywhere after the host. */
const webAddress = text(2000).check(
  Schema.makeFilter(
    (value: string) => /^https?:\/\//.test(value) && URL.canParse(value.replaceAll(/[{}]/g, "x")),
    { message: "must be an http or https address", expected: "a web address" }
  )
)

const percent = Schema.Number.check(
  Schema.isBetween({ minimum: 0, maximum: 100 }, { message: "must be between 0 and 100" })
)

/** `true` or `false` in a query. */
const flagInQuery = oneOf(["true", "false"])

const optional = Schema.optionalKey

// ---------------------------------------------------------------------------------------------------------------------
// Resources

const Staff = Schema.Struct({
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

const Operator = Schema.Struct({
  id,
  slug: Schema.String,
  name: Schema.String,
  currency: currencyCode,
  cooperation_model: Schema.String,
  active: Schema.Boolean,
  cooling_off_hours: Schema.Int,
  withdrawal_second_approval_above: Schema.NullOr(money),
  kyc_withdrawal_threshold: Schema.NullOr(money),
  forfeit_bonus_on_withdrawal: Schema.Boolean,
  disabled_features: Schema.Array(Schema.String),
  original_max_stake: money,
  original_max_payout: money,
  daily_deposit_cap: Schema.NullOr(money),
  daily_withdrawal_cap: Schema.NullOr(money),
  default_limits: Schema.Record(Schema.String, Schema.Int),
  created_at: timestamp,
  updated_at: timestamp
})

const ApiKey = Schema.Struct({
  id,
  operator_id: id,
  key: Schema.String,
  name: Schema.String,
  scopes: Schema.Array(Schema.String),
  ip_allowlist: Schema.Array(Schema.String),
  rate_limit_per_minute: Schema.Int,
  expires_at: Schema.NullOr(timestamp),
  revoked_at: Schema.NullOr(timestamp),
  created_at: timestamp,
  updated_at: timestamp
})

const Provider = Schema.Struct({
  id,
  slug: Schema.String,
  name: Schema.String,
  key: Schema.String,
  launch_url: Schema.NullOr(Schema.String),
  demo_url: Schema.NullOr(Schema.String),
  ip_allowlist: Schema.Array(Schema.String),
  active: Schema.Boolean,
  created_at: timestamp,
  updated_at: timestamp
})

/** Shown once, in the answer that made it. */
const secret = { secret: Schema.String }

const Game = Schema.Struct({
  id,
  external_id: Schema.String,
  name: Schema.String,
  type: Schema.Literals(["rng", "live"]),
  category: Schema.String,
  rtp: Schema.NullOr(Schema.Number),
  thumbnail_url: Schema.NullOr(Schema.String),
  is_original: Schema.Boolean,
  original: Schema.NullOr(Schema.String),
  active: Schema.Boolean,
  provider: Schema.Struct({ id, slug: Schema.String, name: Schema.String }),
  created_at: timestamp,
  updated_at: timestamp
})

const PaymentMethod = Schema.Struct({
  id,
  operator_id: id,
  code: Schema.String,
  name: Schema.String,
  currencies: Schema.Array(currencyCode),
  supports_deposit: Schema.Boolean,
  supports_withdrawal: Schema.Boolean,
  min_deposit: money,
  max_deposit: money,
  min_withdrawal: money,
  max_withdrawal: money,
  active: Schema.Boolean,
  created_at: timestamp
})

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

// ---------------------------------------------------------------------------------------------------------------------
// Endpoints

const created = <S extends Schema.Top>(item: S) => single(item).pipe(HttpApiSchema.status(201))

const dailyBudget = optional(Schema.NullOr(amountFrom(0)))

const StaffGroup = HttpApiGroup.make("staff").add(
  HttpApiEndpoint.post("create", "/staff", {
    payload: Schema.Struct({ name: text(100), role: optional(oneOf(roles)), daily_budget: dailyBudget }),
    success: created(Schema.Struct({ ...Staff.fields, token: Schema.String }))
  }),
  HttpApiEndpoint.patch("update", "/staff/:staff", {
    params: { staff: pathId },
    payload: Schema.Struct({
      name: optional(text(100)),
      role: optional(oneOf(roles)),
      active: optional(Schema.Boolean),
      daily_budget: dailyBudget
    }),
    success: single(Staff)
  }),
  HttpApiEndpoint.post("rotate", "/staff/:staff/rotate", {
    params: { staff: pathId },
    success: single(Schema.Struct({ ...Staff.fields, token: Schema.String }))
  }),
  HttpApiEndpoint.post("retire_bootstrap", "/staff/bootstrap/retirement", {
    success: single(Schema.Struct({ retired_at: timestamp, retired_by: Schema.String }))
  }),
  HttpApiEndpoint.get("list", "/staff", { success: list(Staff) })
)

const operatorSettings = {
  cooperation_model: optional(oneOf(["api", "turnkey"])),
  active: optional(Schema.Boolean),
  cooling_off_hours: optional(integer(0, 8760)),
  withdrawal_second_approval_above: optional(Schema.NullOr(amountFrom(0))),
  kyc_withdrawal_threshold: optional(Schema.NullOr(amountFrom(0))),
  forfeit_bonus_on_withdrawal: optional(Schema.Boolean),
  disabled_features: optional(Schema.Array(oneOf(features))),
  original_max_stake: optional(amountFrom(1)),
  original_max_payout: optional(amountFrom(1)),
  daily_deposit_cap: optional(Schema.NullOr(amountFrom(0))),
  daily_withdrawal_cap: optional(Schema.NullOr(amountFrom(0))),
  // any name: one that is no limit is refused, where a struct would pass over it
  default_limits: optional(Schema.Record(Schema.String, Schema.NullOr(Schema.Number)))
}

const OperatorGroup = HttpApiGroup.make("operator").add(
  HttpApiEndpoint.post("create", "/operators", {
    payload: Schema.Struct({ slug, name: text(100), currency, ...operatorSettings }),
    success: created(Operator)
  }),
  HttpApiEndpoint.patch("update", "/operators/:operator", {
    params: { operator: reference },
    payload: Schema.Struct({
      slug: optional(slug),
      name: optional(text(100)),
      currency: optional(currency),
      ...operatorSettings
    }),
    success: single(Operator)
  }),
  HttpApiEndpoint.get("list", "/operators", { success: list(Operator) })
)

const KeyGroup = HttpApiGroup.make("key").add(
  HttpApiEndpoint.post("create", "/keys", {
    payload: Schema.Struct({
      operator: reference,
      name: optional(text(100)),
      scopes: optional(Schema.Array(oneOf(scopes))),
      ip_allowlist: optional(addresses),
      rate_limit_per_minute: optional(integer(1, 10_000_000)),
      expires_at: optional(Schema.NullOr(instant))
    }),
    success: created(Schema.Struct({ ...ApiKey.fields, ...secret }))
  }),
  HttpApiEndpoint.post("rotate", "/keys/:key/rotate", {
    params: { key: reference },
    query: { operator: optional(reference) },
    success: single(Schema.Struct({ ...ApiKey.fields, ...secret }))
  }),
  HttpApiEndpoint.post("revoke", "/keys/:key/revoke", {
    params: { key: reference },
    query: { operator: optional(reference) },
    success: single(ApiKey)
  }),
  HttpApiEndpoint.get("list", "/keys", { query: { operator: optional(reference) }, success: list(ApiKey) })
)

const providerSettings = {
  launch_url: optional(Schema.NullOr(webAddress)),
  demo_url: optional(Schema.NullOr(webAddress)),
  ip_allowlist: optional(addresses),
  active: optional(Schema.Boolean)
}

const ProviderGroup = HttpApiGroup.make("provider").add(
  HttpApiEndpoint.post("create", "/providers", {
    payload: Schema.Struct({ slug, name: text(100), ...providerSettings }),
    success: created(Schema.Struct({ ...Provider.fields, ...secret }))
  }),
  HttpApiEndpoint.patch("update", "/providers/:provider", {
    params: { provider: reference },
    payload: Schema.Struct({ slug: optional(slug), name: optional(text(100)), ...providerSettings }),
    success: single(Provider)
  }),
  HttpApiEndpoint.post("rotate", "/providers/:provider/rotate", {
    params: { provider: reference },
    success: single(Schema.Struct({ ...Provider.fields, ...secret }))
  }),
  HttpApiEndpoint.get("list", "/providers", { success: list(Provider) })
)

const gameSettings = {
  type: optional(oneOf(["rng", "live"])),
  category: optional(text(50)),
  rtp: optional(Schema.NullOr(percent)),
  thumbnail_url: optional(Schema.NullOr(webAddress)),
  original: optional(Schema.NullOr(text(50))),
  active: optional(Schema.Boolean)
}

const GameGroup = HttpApiGroup.make("game").add(
  HttpApiEndpoint.post("create", "/games", {
    payload: Schema.Struct({ provider: reference, external_id: text(128), name: text(200), ...gameSettings }),
    success: created(Game)
  }),
  HttpApiEndpoint.patch("update", "/games/:game", {
    params: { game: pathId },
    payload: Schema.Struct({ external_id: optional(text(128)), name: optional(text(200)), ...gameSettings }),
    success: single(Game)
  }),
  HttpApiEndpoint.get("list", "/games", {
    query: { ...pageQuery, provider: optional(reference), active: optional(flagInQuery) },
    success: page(Game)
  })
)

const methodSettings = {
  name: optional(text(100)),
  currencies: optional(Schema.Array(currency)),
  supports_deposit: optional(Schema.Boolean),
  supports_withdrawal: optional(Schema.Boolean),
  min_deposit: optional(amountFrom(1)),
  max_deposit: optional(amountFrom(1)),
  min_withdrawal: optional(amountFrom(1)),
  max_withdrawal: optional(amountFrom(1)),
  active: optional(Schema.Boolean)
}

const PaymentMethodGroup = HttpApiGroup.make("payment_method").add(
  HttpApiEndpoint.post("create", "/payment-methods", {
    payload: Schema.Struct({
      operator: reference,
      code: Schema.String.annotate({ examples: ["card"] }).check(
        Schema.isPattern(/^[A-Za-z0-9_.-]{1,50}$/u, {
          message: "must be 1 to 50 characters: letters, digits, dots, dashes and underscores"
        })
      ),
      ...methodSettings
    }),
    success: created(PaymentMethod)
  }),
  HttpApiEndpoint.patch("update", "/payment-methods/:method", {
    params: { method: pathId },
    payload: Schema.Struct(methodSettings),
    success: single(PaymentMethod)
  }),
  HttpApiEndpoint.get("list", "/payment-methods", {
    query: { operator: optional(reference) },
    success: list(PaymentMethod)
  })
)

const LedgerGroup = HttpApiGroup.make("ledger").add(
  HttpApiEndpoint.get("verify", "/ledger/verification", {
    query: { operator: optional(reference) },
    success: single(LedgerReport)
  }),
  HttpApiEndpoint.get("export", "/ledger/export", {
    query: { operator: optional(reference) },
    success: HttpApiSchema.StreamUint8Array({ contentType: "application/x-ndjson" })
  })
)

export const BackofficeApi = HttpApi.make("backoffice")
  .add(
    StaffGroup,
    OperatorGroup,
    KeyGroup,
    ProviderGroup,
    GameGroup,
    PaymentMethodGroup,
    BonusGroup,
    PromoGroup,
    PlayerGroup,
    CorrectionGroup,
    PaymentGroup,
    WebhookGroup,
    DeliveryGroup,
    AlertGroup,
    LedgerGroup,
    SecretGroup,
    RoundGroup,
    JobGroup,
    RateGroup,
    ReportGroup,
    AuditGroup
  )
  .prefix("/backoffice/v1")
  .middleware(StaffAuth)
  .annotate(HttpApi.ParseOptions, { errors: "all" })
  .annotate(OpenApi.Title, "Pitboss back office")
