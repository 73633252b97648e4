import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { OpenApi } from "effect/http-api"
import { SqlClient } from "effect/sql"
import { Api } from "../../src/contract/Api.ts"
import {
  call,
  dataOf,
  deposit,
  issueToken,
  layerPublicApi,
  openGame,
  openOperator,
  playerCall,
  register
} from "../kit/PublicApi.ts"

// Goal: every resource has the fields of SPEC section 2, with their types, and null exactly where it says so or where something is known
// to be absent. Method: the fields written down here once more, by hand; held against the contract's schemas and against real answers.

/**
 * What a value is: a word, the fields of an object, or a list. `| null` stands where SPEC says so, `?` where the decisions do;
 * `maybe` is a field that may be left out.
 */
type Shape = string | readonly [Shape] | { readonly [field: string]: Shape }

const orNull = (shape: Shape): Shape => ({ "| null": shape })

const selfExclusion = { type: "string", since: "timestamp", until: "timestamp?" }

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
  language: "string",
  currency: "string",
  status: "string",
  category: "string",
  kyc_status: "string",
  is_verified: "boolean",
  risk_level: "string",
  is_test: "boolean",
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
  operator: { id: "integer", slug: "string", name: "string", currency: "string", cooperation_model: "string" },
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

const limitNames = [
  "max_single_bet",
  "max_daily_bet",
  "max_weekly_bet",
  "max_monthly_bet",
  "casino_max_single_bet",
  "casino_max_daily_bet",
  "max_daily_loss",
  "max_weekly_loss",
  "max_monthly_loss",
  "max_single_deposit",
  "max_daily_deposit",
  "max_weekly_deposit",
  "max_monthly_deposit",
  "max_yearly_deposit",
  "max_balance",
  "max_session_minutes"
]

const perLimit = (shape: Shape): Shape => Object.fromEntries(limitNames.map((name) => [name, shape]))

const limits = {
  player_id: "integer",
  currency: "string",
  limits: perLimit("integer | null"),
  pending_changes: [{
    field: "string",
    current_value: "integer | null",
    requested_value: "integer | null",
    effective_at: "timestamp"
  }] as const,
  self_exclusion: orNull(selfExclusion),
  // more than SPEC: what was used of each
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

/** Both reasons for null look the same from outside. */
const plain = (shape: Shape): unknown =>
  typeof shape === "string"
    ? shape.replace(/\?$/, " | null")
    : Array.isArray(shape)
    ? shape.map(plain)
    : Object.fromEntries(Object.entries(shape).map(([field, inner]) => [field, plain(inner)]))

const document: unknown = JSON.parse(JSON.stringify(OpenApi.fromApi(Api)))

const at = (value: unknown, ...keys: ReadonlyArray<string>): unknown =>
  keys.reduce((inside, key) => isRecord(inside) ? inside[key] : undefined, value)

/** What a schema of the contract says, in the words of a shape. A field that may be left out is `maybe` something. */
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

const forms: { readonly [word: string]: (value: unknown) => boolean } = {
  integer: Number.isSafeInteger,
  number: Number.isFinite,
  boolean: (value) => typeof value === "boolean",
  string: (value) => typeof value === "string",
  timestamp: (value) => typeof value === "string" && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(value),
  date: (value) => typeof value === "string" && /^\d{4}-\d\d-\d\d$/.test(value)
}

/** What is wrong with a value, field by field. */
const complaints = (shape: Shape, value: unknown, path: string): ReadonlyArray<string> => {
  if (typeof shape === "string") {
    const [word = ""] = shape.split(/[?| ]/)
    const isFine = value === null ? word !== shape : forms[word]?.(value) ?? false
    return isFine ? [] : [`${path} is ${JSON.stringify(value)}, not ${shape}`]
  }
  if (Array.isArray(shape)) {
    return Array.isArray(value)
      ? value.flatMap((item, index) => complaints(shape[0], item, `${path}.${index}`))
      : [`${path} is no list`]
  }
  const fields = Object.entries(shape)
  const [first] = fields
  if (first?.[0] === "maybe") return complaints(first[1], value, path)
  if (first?.[0] === "| null") return value === null ? [] : complaints(first[1], value, path)
  if (!isRecord(value)) return [`${path} is no object`]
  return [
    ...fields.flatMap(([field, inner]) =>
      field in value
        ? complaints(inner, value[field], `${path}.${field}`)
        : isRecord(inner) && "maybe" in inner
        ? []
        : [`${path}.${field} is missing`]
    ),
    ...Object.keys(value).filter((field) => !(field in shape)).map((field) => `${path}.${field} is too much`)
  ]
}

const fits = (name: string, value: unknown) => assert.deepStrictEqual(complaints(shapes[name] ?? "", value, name), [])

layer(layerPublicApi)("SPEC 2", (it) => {
  it.effect("the contract's schemas have its fields", () =>
    Effect.sync(() => {
      for (const [name, shape] of Object.entries(shapes)) {
        assert.deepStrictEqual(shapeOf(at(document, "components", "schemas", name)), plain(shape), name)
      }
    }))

  it.effect("answers have its fields", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { key, operator } = yield* openOperator("resources")
      const opened = yield* openGame("resources")
      yield* sql`INSERT INTO payment_methods (id, operator_id, code, name, currencies, created_at)
        VALUES (1, ${operator.id}, 'bank', 'Bank', '{EUR}', now())`
      yield* sql`INSERT INTO bonuses (id, operator_id, name, type, default_amount, wagering_multiplier, valid_days, created_at,
          updated_at)
        VALUES (1, ${operator.id}, 'Ten', 'no_deposit', 1000, 10, 7, now(), now()),
          (2, ${operator.id}, 'Cash', 'cash', 500, 0, 7, now(), now())`
      yield* sql`INSERT INTO promo_codes (id, operator_id, code, bonus_id, created_at) VALUES (1, ${operator.id}, 'TEN', 1, now())`

      const plainPlayer = yield* register(key, "plain")
      const full = yield* register(key, "full", {
        external_id: "x-1",
        middle_name: "M",
        gender: "female",
        city: "Valletta",
        address: "1 Street",
        zip_code: "VLT",
        phone: "+35621234567",
        personal_id: "P1",
        document_number: "D1",
        affiliate_id: "a",
        btag: "b",
        promo_code: "NONE",
        registration_ip: "203.0.113.7"
      })
      const { id } = full
      const path = `/players/${id}`
      const post = (path: string, body: unknown) => call(key, path, { body })
      for (const one of [plainPlayer, full]) fits("Player", one)
      fits("Identity", dataOf(yield* call(key, "/me")))
      fits("SessionToken", dataOf(yield* post(`${path}/session-tokens`, {}), 201))
      const token = yield* issueToken(key, id)
      fits("Player", dataOf(yield* playerCall(token, "/me")))

      fits("PaymentRequest", yield* deposit(key, id, 5000))
      const withdrawal = { amount: 100, payment_method: "bank", external_reference: "w", info: "IBAN" }
      fits("PaymentRequest", dataOf(yield* post(`${path}/withdrawals`, withdrawal), 201))
      fits("PlayerBonus", dataOf(yield* post(`${path}/bonuses`, { bonus_id: 2 }), 201))
      fits("PromoRedemption", dataOf(yield* post(`${path}/promo-codes`, { code: "ten" }), 201))
      fits("PlayerBonus", dataOf(yield* post(`${path}/bonuses`, { bonus_id: 1 }), 201))
      const launched = dataOf(yield* post(`${path}/games/${opened.id}/launch`, {}))
      fits("LaunchedGame", launched)
      fits("LaunchedGame", dataOf(yield* playerCall(token, `/games/${opened.id}/launch`, { body: { mode: "demo" } })))
      dataOf(yield* opened.bet(launched.session_token, 400))

      fits("Wallet", dataOf(yield* call(key, `${path}/wallet`)))
      fits("PlayerWallet", dataOf(yield* playerCall(token, "/wallet")))
      fits("Game", dataOf(yield* call(key, `/games/${opened.id}`)))
      for (
        const [list, name] of [
          ["/players", "Player"],
          [`${path}/transactions`, "Transaction"],
          ["/payments", "PaymentRequest"],
          ["/payment-methods", "PaymentMethod"],
          ["/games", "Game"],
          ["/games/providers", "GameProvider"],
          ["/games/categories", "GameCategory"],
          ["/bonuses", "Bonus"],
          [`${path}/bonuses`, "PlayerBonus"]
        ] as const
      ) {
        const reply = yield* call(key, list)
        const items: ReadonlyArray<unknown> = dataOf(reply)
        assert.isAbove(items.length, 0, list)
        for (const item of items) fits(name, item)
        const { links, meta } = Object(reply.json)
        assert.strictEqual(meta === undefined, links === undefined)
        if (meta !== undefined) fits("next_cursor" in meta ? "PageMetaWithCursor" : "PageMeta", meta)
        if (links !== undefined) fits("PageLinks", links)
      }

      const put = (value: number | null) =>
        call(key, `${path}/limits`, {
          method: "PUT",
          body: { limits: { max_daily_bet: value, max_session_minutes: 60 } }
        })
      dataOf(yield* put(1000))
      const raised = yield* put(null)
      fits("Limits", dataOf(raised))
      assert.strictEqual(dataOf(raised).pending_changes.length, 1)
      const { meta } = Object(raised.json)
      const changed = { applied: ["string"] as const, pending: ["string"] as const, cooling_off_hours: "integer" }
      assert.deepStrictEqual(complaints(changed, meta, "meta"), [])
      fits("Limits", dataOf(yield* call(key, `${path}/limits`)))
      fits("Limits", dataOf(yield* post(`${path}/self-exclusion`, { period: "6_months" })))
      fits("Player", dataOf(yield* call(key, path)))
    }))
})
