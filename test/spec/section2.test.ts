import { assert, describe, it } from "@effect/vitest"
import { OpenApi } from "effect/http-api"
import { Api } from "../../src/contract/Api.ts"

// Goal: every resource has the fields of SPEC section 2, with their types, and null exactly where it says so or where a value is known
// to be absent. Method: the fields listed here independently, compared with the schemas of the contract; every HTTP answer in
// the tests is checked against those schemas, without additional fields (kit/Documented.ts).

/**
 * Type of a value: a word, the fields of an object, or a list. `| null` where SPEC says so, `?` where the decisions do;
 * `maybe` is a field that may be left out.
 */
type Shape = string | readonly [Shape] | { readonly [field: string]: Shape }

const orNull = (shape: Shape): Shape => ({ "| null": shape })

const selfExclusion = {
  type: "string",
  since: "timestamp",
  until: "timestamp?",
  // beyond the specification: how it ends, and who asked for it
  ends: "string",
  return_at: "timestamp?",
  source: "string"
} as const

const player = {
  id: "integer",
  external_id: "string?",
  username: "string",
  email: "string",
  first_name: "string",
  last_name: "string",
  middle_name: "string | null",
  gender: "string?",
  birth_date: "date",
  country: "string",
  city: "string?",
  address: "string?",
  zip_code: "string?",
  phone: "string?",
  personal_id: "string | null",
  document_number: "string?",
  // beyond the specification: what some registers ask for
  birth_name: "string?",
  birth_place: "string?",
  last_name_prefix: "string?",
  language: "string",
  currency: "string",
  status: "string",
  category: "string",
  kyc_status: "string",
  is_verified: "boolean",
  risk_level: "string",
  is_test: "boolean",
  // beyond the specification: the profile whose rules the player is under, and what registers said
  jurisdiction: "string",
  register: orNull({ kind: "string", verdict: "string", checked_at: "timestamp" }),
  restrictions: {
    can_login: "boolean",
    can_deposit: "boolean",
    can_withdraw: "boolean",
    can_bet: "boolean",
    excluded_from_bonuses: "boolean"
  },
  self_exclusion: orNull(selfExclusion),
  marketing: { email: "boolean", sms: "boolean", newsletter: "boolean" },
  registration: {
    source: "string",
    ip: "string?",
    promo_code: "string?",
    affiliate_id: "string?",
    btag: "string | null"
  },
  last_login_at: "timestamp | null",
  dormant_since: "timestamp | null",
  created_at: "timestamp",
  updated_at: "timestamp"
}

const identity = {
  api_key: {
    key: "string",
    name: "string",
    scopes: ["string"] as const,
    rate_limit_per_minute: "integer",
    expires_at: "timestamp | null"
  },
  operator: {
    id: "integer",
    slug: "string",
    name: "string",
    currency: "string",
    cooperation_model: "string",
    is_sandbox: "boolean"
  },
  server_time: "timestamp"
}

const balances = { player_id: "integer", currency: "string", balance: "integer", bonus_balance: "integer" }
const wallets = [{ type: "string", balance: "integer", currency: "string", updated_at: "timestamp" }] as const

const transaction = {
  id: "integer",
  player_id: "integer",
  wallet: "string",
  type: "string",
  amount: "integer",
  balance_after: "integer",
  currency: "string",
  payment_request_id: "integer?",
  game_id: "integer | null",
  game_round_id: "string | null",
  player_bonus_id: "integer | null",
  created_at: "timestamp"
}

const payment = {
  id: "integer",
  type: "string",
  status: "string",
  player_id: "integer",
  amount: "integer",
  currency: "string",
  payment_method: "string?",
  external_reference: "string?",
  info: "string | null",
  reject_reason: "string | null",
  is_reversed: "boolean",
  created_at: "timestamp",
  paid_at: "timestamp | null",
  rejected_at: "timestamp | null",
  cancelled_at: "timestamp | null",
  updated_at: "timestamp"
}

const paymentMethod = {
  code: "string",
  name: "string",
  supports_deposit: "boolean",
  supports_withdrawal: "boolean",
  min_deposit: "integer",
  max_deposit: "integer",
  min_withdrawal: "integer",
  max_withdrawal: "integer",
  currencies: ["string"] as const
}

const game = {
  id: "integer",
  external_id: "string",
  name: "string",
  type: "string",
  category: "string",
  rtp: "number?",
  thumbnail_url: "string?",
  is_original: "boolean",
  provider: { id: "integer", slug: "string", name: "string" }
}

const bonus = {
  id: "integer",
  name: "string",
  description: "string",
  type: "string",
  default_amount: "integer",
  wagering_multiplier: "integer",
  valid_days: "integer",
  max_bet: "integer",
  max_conversion_multiplier: "integer",
  max_grants_per_player: "integer",
  is_active: "boolean"
}

const playerBonus = {
  id: "integer",
  player_id: "integer",
  bonus_id: "integer",
  name: "string",
  type: "string",
  state: "string",
  result: "string?",
  amount: "integer",
  currency: "string",
  wager_requirement: "integer",
  wagered_amount: "integer",
  wagering_progress: "integer",
  converted_amount: "integer",
  forfeited_amount: "integer",
  max_bet: "integer",
  started_at: "timestamp?",
  expires_at: "timestamp?",
  finished_at: "timestamp | null",
  created_at: "timestamp"
}

const limitNames =
  `max_single_bet max_daily_bet max_weekly_bet max_monthly_bet casino_max_single_bet casino_max_daily_bet max_daily_loss
  max_weekly_loss max_monthly_loss max_single_deposit max_daily_deposit max_weekly_deposit max_monthly_deposit max_yearly_deposit
  max_balance max_session_minutes`.split(/\s+/)

const perLimit = (shape: Shape): Shape => Object.fromEntries(limitNames.map((name) => [name, shape]))

const limits = {
  player_id: "integer",
  currency: "string",
  limits: perLimit("integer | null"),
  pending_changes: [{
    field: "string",
    current_value: "integer | null",
    requested_value: "integer | null",
    effective_at: "timestamp",
    // beyond the specification: a raise that a jurisdiction wants confirmed
    confirm_from: { maybe: "timestamp" },
    confirm_until: { maybe: "timestamp" }
  }] as const,
  self_exclusion: orNull(selfExclusion),
  // beyond SPEC: usage of each
  usage: perLimit({ used: "integer", remaining: "integer?", resets_at: "timestamp?" })
}

const pageMeta = {
  current_page: "integer",
  per_page: "integer",
  total: "integer",
  last_page: "integer",
  from: "integer",
  to: "integer"
}
const pageLinks = { first: "string", last: "string", prev: "string | null", next: "string | null" }

/** By the names of the contract's schemas. */
const shapes: { readonly [schema: string]: Shape } = {
  Player: player,
  Identity: identity,
  Wallet: { ...balances, unverified_withdrawal_allowance: "integer | null", wallets },
  PlayerWallet: balances,
  Transaction: transaction,
  PaymentRequest: payment,
  PaymentMethod: paymentMethod,
  Game: game,
  GameProvider: { id: "integer", slug: "string", name: "string", games_count: "integer" },
  GameCategory: { category: "string", games_count: "integer" },
  Bonus: bonus,
  PlayerBonus: playerBonus,
  SelfExclusion: selfExclusion,
  Limits: limits,
  LaunchedGame: {
    mode: "string",
    game_id: "integer",
    launch_url: "string | null",
    session_token: "string",
    expires_at: "timestamp",
    is_original: "boolean"
  },
  SessionToken: { token: "string", token_type: "string", player_id: "integer", expires_at: "timestamp" },
  PromoRedemption: { redemption_id: "integer", code: "string", bonus: playerBonus },
  PageMeta: pageMeta,
  PageMetaWithCursor: { ...pageMeta, next_cursor: "string?", total_is_lower_bound: { maybe: "boolean" } },
  PageLinks: pageLinks
}

const isRecord = (value: unknown): value is { readonly [key: string]: unknown } =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** Merges both kinds of null, which schemas do not distinguish. */
const plain = (shape: Shape): unknown =>
  typeof shape === "string"
    ? shape.replace(/\?$/, " | null")
    : Array.isArray(shape)
    ? shape.map(plain)
    : Object.fromEntries(Object.entries(shape).map(([field, inner]) => [field, plain(inner)]))

const document: unknown = JSON.parse(JSON.stringify(OpenApi.fromApi(Api)))

const at = (value: unknown, ...keys: ReadonlyArray<string>): unknown =>
  keys.reduce((inside, key) => isRecord(inside) ? inside[key] : undefined, value)

/** Shape of a schema of the contract. An optional field is `maybe` its shape. */
const shapeOf = (schema: unknown): unknown => {
  if (!isRecord(schema)) return "nothing"
  const { $ref, anyOf, format, items, properties, required, type } = schema
  if (typeof $ref === "string") return shapeOf(at(document, ...$ref.split("/").slice(1)))
  if (Array.isArray(anyOf)) {
    const others = anyOf.filter((one) => at(one, "type") !== "null")
    const inner = others.length === 1 ? shapeOf(others[0]) : others.map(shapeOf)
    return others.length === anyOf.length ? inner : typeof inner === "string" ? `${inner} | null` : { "| null": inner }
  }
  if (isRecord(properties)) {
    const always = Array.isArray(required) ? required : []
    return Object.fromEntries(
      Object.entries(properties).map(([field, inner]) =>
        always.includes(field) ? [field, shapeOf(inner)] : [field, { maybe: shapeOf(inner) }]
      )
    )
  }
  if (type === "array") return [shapeOf(items)]
  return format === "date-time" ? "timestamp" : format === "date" ? "date" : type
}

describe("SPEC 2 resources", () => {
  it("2 each schema of the contract has the fields of its resource, with their types and nulls", () => {
    for (const [name, shape] of Object.entries(shapes)) {
      assert.deepStrictEqual(shapeOf(at(document, "components", "schemas", name)), plain(shape), name)
    }
  })
})
