import { assert, layer } from "@effect/vitest"
import { Clock, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { layerPersonal } from "../../kit/Personal.ts"
import type { IdempotencyClaim } from "../../../src/domain/Idempotency.ts"
import type { Operator } from "../../../src/domain/Operator.ts"
import { Ids } from "../../../src/platform/Ids.ts"
import { iso } from "../../../src/platform/Time.ts"
import type { PlayerProfile } from "../../../src/features/players/PlayerProfile.ts"
import { Outbox } from "../../../src/store/Outbox.ts"
import { type PlayerQuery, Players } from "../../../src/features/players/Players.ts"
import { TestDatabase } from "../../kit/TestDatabase.ts"

const now = Date.parse("2026-11-20T12:00:00.000Z")

const operatorOf = (id: number, currency: string): Operator => ({
  id,
  slug: `operator-${id}`,
  name: `Operator ${id}`,
  currency,
  cooperationModel: "api",
  active: true,
  coolingOffHours: 24,
  withdrawalSecondApprovalAbove: null,
  kycWithdrawalThreshold: null,
  forfeitBonusOnWithdrawal: true,
  originalBounds: { maxStake: 100_000, maxPayout: 10_000_000 },
  dailyDepositCap: null,
  dailyWithdrawalCap: null,
  defaultLimits: {},
  disabledFeatures: []
})

const one = operatorOf(1, "EUR")
const other = operatorOf(2, "SEK")

const seed = Layer.effectDiscard(Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const at = new Date(now)
  for (const { currency, id, name, slug } of [one, other]) {
    yield* sql`INSERT INTO operators (id, slug, name, currency, created_at, updated_at)
      VALUES (${id}, ${slug}, ${name}, ${currency}, ${at}, ${at})`
  }
}))

// The clock is set before anything sleeps: on the way from 1970 every timer of the pools would have to run.
const live = Players.layer.pipe(
  Layer.provide(layerPersonal),
  Layer.provideMerge(Outbox.layer),
  Layer.provideMerge(seed),
  Layer.provideMerge(Ids.layer),
  Layer.provideMerge(TestDatabase.layer),
  Layer.provideMerge(Layer.effectDiscard(TestClock.setTime(now)))
)

const render = (player: PlayerProfile) => ({ status: 201, body: JSON.stringify({ data: player }) })

/** A body that is unlike every other in this file. */
const bodyOf = (name: string, more: { readonly [field: string]: unknown } = {}) => ({
  username: name,
  email: `${name}@example.com`,
  first_name: `First ${name}`,
  last_name: `Last ${name}`,
  birth_date: "1990-12-31",
  country: "DE",
  terms_accepted: true,
  ...more
})

const register = Effect.fnUntraced(
  function*(operator: Operator, body: { readonly [field: string]: unknown }, claim?: IdempotencyClaim) {
    return yield* (yield* Players).register(operator, body, { source: "api", claim, render })
  }
)

/** Registers and gives the player. */
const newPlayer = Effect.fnUntraced(
  function*(name: string, more: { readonly [field: string]: unknown } = {}, operator = one) {
    const registered = yield* register(operator, bodyOf(name, more))
    assert.strictEqual(registered._tag, "Registered")
    return registered._tag === "Registered" ? registered.player : assert.fail("replayed")
  }
)

const countRows = Effect.fnUntraced(function*(table: string) {
  const sql = yield* SqlClient.SqlClient
  const found = yield* sql<{ readonly n: number }>`SELECT count(*)::int AS n FROM ${sql(table)}`
  return found[0]?.n
})

const found = Effect.fnUntraced(function*(query: Partial<PlayerQuery>, operator = one) {
  const { items } = yield* (yield* Players).list(operator.id, { page: 1, perPage: 100, ...query })
  return items.map((player) => player.username)
})

const claimOf = (key: string, content = "a"): IdempotencyClaim => ({
  scope: "operator:1",
  key,
  fingerprint: new Uint8Array(Buffer.from(content.padEnd(32)))
})

layer(live)("Players", (it) => {
  it.effect("registers a player with wallets, an event and nothing secret in it", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const player = yield* newPlayer("full", {
        email: "Full@Example.com",
        external_id: "ext-full",
        password: "secret-pass-1",
        phone: "+49 151 23456789",
        gender: "female",
        marketing: { email: true },
        registration_ip: "203.0.113.7",
        promo_code: "WELCOME",
        affiliate_id: "aff",
        btag: "tag",
        personal_id: "P-1",
        document_number: "D-1",
        is_test: true
      })
      assert.deepStrictEqual(player, {
        id: player.id,
        external_id: "ext-full",
        username: "full",
        email: "full@example.com",
        first_name: "First full",
        last_name: "Last full",
        middle_name: null,
        gender: "female",
        birth_date: "1990-12-31",
        country: "DE",
        city: null,
        address: null,
        zip_code: null,
        phone: "+4915123456789",
        personal_id: "P-1",
        document_number: "D-1",
        language: "en",
        currency: "EUR",
        status: "active",
        category: "new",
        kyc_status: "not_started",
        is_verified: false,
        risk_level: "low",
        is_test: true,
        restrictions: {
          can_login: true,
          can_deposit: true,
          can_withdraw: true,
          can_bet: true,
          excluded_from_bonuses: false
        },
        self_exclusion: null,
        marketing: { email: true, sms: false, newsletter: false },
        registration: {
          source: "api",
          ip: "203.0.113.7",
          promo_code: "WELCOME",
          affiliate_id: "aff",
          btag: "tag"
        },
        last_login_at: null,
        created_at: "2026-11-20T12:00:00.000Z",
        updated_at: "2026-11-20T12:00:00.000Z"
      })
      // what is read back is what was answered
      assert.deepStrictEqual(yield* (yield* Players).get(one.id, player.id), player)
      const accounts = yield* sql`SELECT version::int, real_balance::int, bonus_balance::int, operator_id::int
        FROM accounts WHERE player_id = ${player.id}`
      assert.deepStrictEqual(accounts, [{ version: 0, real_balance: 0, bonus_balance: 0, operator_id: 1 }])
      const events = yield* sql<{ readonly type: string; readonly data: unknown }>`
        SELECT type, data FROM events WHERE player_id = ${player.id}`
      // the numbers are put into the webhook when it is sent
      assert.deepStrictEqual(events, [{
        type: "player.registered",
        data: { player: { ...player, personal_id: null, document_number: null } }
      }])
      const rows = yield* sql<{ readonly password_hash: string }>`SELECT * FROM players WHERE id = ${player.id}`
      assert.match(rows[0]?.password_hash ?? "", /^\$argon2id\$/)
      assert.notInclude(JSON.stringify([rows[0]?.password_hash, events]), "secret-pass-1")
    }))

  // Goal: the operator's currency is the default, and without a password nobody can sign in.
  it.effect("fills in what was left out", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const player = yield* newPlayer("plain", {}, other)
      assert.deepStrictEqual([player.currency, player.language, player.is_test], ["SEK", "en", false])
      const rows = yield* sql<
        { readonly hash: string }
      >`SELECT password_hash AS hash FROM players WHERE id = ${player.id}`
      assert.match(rows[0]?.hash ?? "", /^\$sha256\$/)
    }))

  // Goal: everything that is taken is named at once, together with what is malformed, and only within the operator.
  it.effect("says which fields are taken", () =>
    Effect.gen(function*() {
      const unique = { phone: "+4915199999999", external_id: "ext-taken" }
      yield* newPlayer("taken", unique)
      const again = { ...bodyOf("TAKEN", unique), email: "taken@EXAMPLE.com", country: "??" }
      const refusal = yield* Effect.flip(register(one, again))
      assert.strictEqual(refusal.code, "VALIDATION_FAILED")
      assert.deepStrictEqual(Object.keys(refusal.details).sort(), [
        "country",
        "email",
        "external_id",
        "phone",
        "username"
      ])
      assert.deepStrictEqual(refusal.details["phone"], ["is already taken"])
      yield* newPlayer("taken", unique, other)
    }))

  // Goal: of any number of simultaneous registrations with a field in common one wins and the others are told which field.
  // Method: twenty at once, sharing one field at a time.
  it.effect("a race for a unique field has one winner", () =>
    Effect.gen(function*() {
      for (const field of ["username", "email", "phone", "external_id"] as const) {
        const shared =
          { username: "race_name", email: "race@example.com", phone: "+4915188888888", external_id: "race" }[field]
        const outcomes = yield* Effect.forEach(
          Array.from({ length: 20 }, (_, index) => bodyOf(`race_${field.slice(0, 5)}_${index}`, { [field]: shared })),
          (body) => Effect.result(register(one, body)),
          { concurrency: "unbounded" }
        )
        const refused = outcomes.flatMap((outcome) => outcome._tag === "Failure" ? [outcome.failure] : [])
        assert.strictEqual(refused.length, 19, field)
        for (const refusal of refused) assert.deepStrictEqual(refusal.details, { [field]: ["is already taken"] })
      }
    }))

  // Goal: a repeated request with its key registers once, whether it comes after the first or together with it.
  // Method: ten at once under one key, as if they came through different processes that do not know of each other.
  it.effect("a retry under an idempotency key gets the first answer", () =>
    Effect.gen(function*() {
      const body = bodyOf("retried")
      const before = yield* countRows("players")
      const outcomes = yield* Effect.forEach(
        Array.from({ length: 10 }),
        () => register(one, body, claimOf("key-1")),
        { concurrency: "unbounded" }
      )
      assert.strictEqual(yield* countRows("players"), (before ?? 0) + 1)
      assert.strictEqual(outcomes.filter((outcome) => outcome._tag === "Registered").length, 1)
      assert.strictEqual(new Set(outcomes.map((outcome) => outcome.reply.body)).size, 1)
      const later = yield* register(one, body, claimOf("key-1"))
      assert.deepStrictEqual(later, { _tag: "Replayed", reply: outcomes[0]?.reply ?? assert.fail() })
      assert.strictEqual(later.reply.status, 201)
    }))

  it.effect("a key that was used for another request is refused", () =>
    Effect.gen(function*() {
      yield* register(one, bodyOf("first_use"), claimOf("key-2"))
      const refusal = yield* Effect.flip(register(one, bodyOf("second_use"), claimOf("key-2", "b")))
      assert.strictEqual(refusal.code, "IDEMPOTENCY_KEY_REUSED")
      assert.deepStrictEqual(yield* found({ username: "second_use" }), [])
    }))

  it.effect("a key is free again after 24 hours", () =>
    Effect.gen(function*() {
      yield* register(one, bodyOf("yesterday"), claimOf("key-3"))
      yield* TestClock.adjust("24 hours")
      const outcome = yield* register(one, bodyOf("today"), claimOf("key-3", "b"))
      assert.strictEqual(outcome._tag, "Registered")
    }))

  // Goal: who is excluded now cannot come back under another name; who was excluded once can.
  it.effect("refuses the identity of an excluded player", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const now = yield* Clock.currentTimeMillis
      const excluded = yield* newPlayer("excluded", {
        first_name: "Zoë",
        last_name: "Müller",
        birth_date: "1985-05-05",
        personal_id: "PID 77-88",
        document_number: "DOC-99"
      })
      const attempts = [
        bodyOf("again_1", { personal_id: "pid7788" }),
        bodyOf("again_2", { document_number: "doc 99" }),
        bodyOf("again_3", { first_name: "ZOE", last_name: "Muller", birth_date: "1985-05-05" })
      ]
      const exclude = (type: string, until: string | null) =>
        sql`UPDATE players SET exclusion_type = ${type}, exclusion_since = ${new Date(now - 1000)},
          exclusion_until = ${until} WHERE id = ${excluded.id}`
      yield* exclude("self_exclusion", null)
      for (const attempt of attempts) {
        assert.strictEqual(
          (yield* Effect.flip(register(one, attempt))).code,
          "SELF_EXCLUDED_IDENTITY",
          attempt.username
        )
      }
      const profile = yield* (yield* Players).get(one.id, excluded.id)
      assert.deepStrictEqual(profile.self_exclusion, {
        type: "self_exclusion",
        since: iso(now - 1000),
        until: null
      })
      // another operator's exclusions are not this one's
      yield* register(other, attempts[0] ?? assert.fail())
      yield* register(one, bodyOf("somebody_else", { birth_date: "1985-05-05" }))
      yield* exclude("time_out", iso(now + 1))
      assert.strictEqual((yield* Effect.flip(register(one, attempts[1] ?? {}))).code, "SELF_EXCLUDED_IDENTITY")
      yield* TestClock.adjust("1 millis")
      assert.isNull((yield* (yield* Players).get(one.id, excluded.id)).self_exclusion)
      yield* register(one, attempts[1] ?? {})
    }))

  it.effect("a player is the operator's own or unknown", () =>
    Effect.gen(function*() {
      const players = yield* Players
      const player = yield* newPlayer("mine")
      assert.strictEqual((yield* Effect.flip(players.get(other.id, player.id))).code, "NOT_FOUND")
      assert.strictEqual((yield* Effect.flip(players.get(one.id, Number.MAX_SAFE_INTEGER))).code, "NOT_FOUND")
      assert.strictEqual((yield* players.staffGet(player.id)).operator_id, one.id)
      assert.notInclude(yield* found({}, other), "mine")
    }))

  // Goal: every filter finds what it says, alone and together. Method: an operator of its own with three players.
  it.effect("lists newest first, filtered and in pages", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const players = yield* Players
      const operator = operatorOf(3, "EUR")
      yield* sql`INSERT INTO operators (id, slug, name, currency, created_at, updated_at)
        VALUES (3, 'operator-3', 'Operator 3', 'EUR', now(), now())`
      const now = yield* Clock.currentTimeMillis
      const a = yield* newPlayer("list_a", { external_id: "x%1", last_name: "Ångström" }, operator)
      yield* TestClock.adjust("1 second")
      const b = yield* newPlayer("list_b", { external_id: "x_2" }, operator)
      yield* TestClock.adjust("1 second")
      yield* newPlayer("list_c", { email: "c@sub.example.org" }, operator)
      yield* sql`UPDATE players SET status = 'locked', kyc_status = 'verified' WHERE id = ${b.id}`
      const names = (query: Partial<PlayerQuery>) => found(query, operator)

      assert.deepStrictEqual(yield* names({}), ["list_c", "list_b", "list_a"])
      assert.deepStrictEqual(yield* names({ status: "locked" }), ["list_b"])
      assert.deepStrictEqual(yield* names({ kycStatus: "verified" }), ["list_b"])
      assert.deepStrictEqual(yield* names({ email: "C@Sub.Example.org" }), ["list_c"])
      assert.deepStrictEqual(yield* names({ username: "list_a" }), ["list_a"])
      assert.deepStrictEqual(yield* names({ username: "list" }), [], "exact")
      assert.deepStrictEqual(yield* names({ externalId: "x%1" }), ["list_a"])
      assert.deepStrictEqual(yield* names({ search: "SUB." }), ["list_c"])
      assert.deepStrictEqual(yield* names({ search: "ngstr" }), ["list_a"])
      assert.deepStrictEqual(yield* names({ search: "T_B" }), ["list_b"], "an underscore is no wildcard")
      assert.deepStrictEqual(yield* names({ search: "%" }), [])
      assert.deepStrictEqual(yield* names({ search: "\u0000" }), [])
      assert.deepStrictEqual(yield* names({ createdFrom: now + 1000 }), ["list_c", "list_b"], "inclusive")
      assert.deepStrictEqual(yield* names({ createdTo: now }), ["list_a"], "inclusive")
      assert.deepStrictEqual(yield* names({ createdFrom: now + 1, createdTo: now + 1999 }), ["list_b"])
      assert.deepStrictEqual(yield* names({ status: "locked", search: "list_a" }), [])

      assert.deepStrictEqual(yield* players.list(operator.id, { page: 2, perPage: 2 }), { items: [a], total: 3 })
      assert.deepStrictEqual(yield* players.list(operator.id, { page: Number.MAX_SAFE_INTEGER, perPage: 100 }), {
        items: [],
        total: 3
      })
      const staff = yield* players.staffList(undefined, { page: 1, perPage: 100, username: "list_a" })
      assert.deepStrictEqual(staff, { items: [{ operator_id: 3, ...a }], total: 1 })
    }))
})
