import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { Credentials } from "../../src/auth/Credentials.ts"
import { limitFields } from "../../src/domain/limit/Limits.ts"
import {
  assertRefused,
  call,
  dataOf,
  deposit,
  layerPublicApi,
  noon,
  openGame,
  openOperator,
  register,
  registration
} from "../kit/PublicApi.ts"

// Goal: limits and exclusions hold against everybody who calls: SPEC sections 2.9, 3.5, 3.6 and 4.7 over real HTTP, with what they refuse
// elsewhere. The rules themselves are held against plain models in test/rules.

const put = (key: Parameters<typeof call>[0], player: number, limits: unknown) =>
  call(key, `/players/${player}/limits`, { method: "PUT", body: { limits } })

const exclude = (key: Parameters<typeof call>[0], player: number, body: unknown, headers = {}) =>
  call(key, `/players/${player}/self-exclusion`, { body, headers })

layer(layerPublicApi)("SPEC 2.9 and 3.6 limits", (it) => {
  it.effect("begin without any, and show all sixteen", () =>
    Effect.gen(function*() {
      const { key } = yield* openOperator("fresh")
      const { id } = yield* register(key, "ada")
      const limits = dataOf(yield* call(key, `/players/${id}/limits`))
      assert.deepInclude(limits, { player_id: id, currency: "EUR", pending_changes: [], self_exclusion: null })
      assert.deepStrictEqual(limits.limits, Object.fromEntries(limitFields.map((field) => [field, null])))
      assert.hasAllKeys(limits.usage, [...limitFields])
      assert.deepStrictEqual(limits.usage.max_daily_bet, {
        used: 0,
        remaining: null,
        resets_at: "2026-11-21T00:00:00.000Z"
      })
    }))

  it.effect("apply at once when stricter and wait when looser, until the moment they were promised for", () =>
    Effect.gen(function*() {
      const { key } = yield* openOperator("cooling")
      const { id } = yield* register(key, "ada")
      const first = yield* put(key, id, { max_daily_deposit: 1000, max_balance: 5000 })
      assert.strictEqual(first.status, 200, first.text)
      assert.deepStrictEqual(Object(first.json).meta, {
        applied: ["max_daily_deposit", "max_balance"],
        pending: [],
        cooling_off_hours: 24
      })
      const second = yield* put(key, id, { max_daily_deposit: 3000, max_balance: 4000, max_single_bet: 50 })
      assert.deepStrictEqual(Object(second.json).meta, {
        applied: ["max_balance", "max_single_bet"],
        pending: ["max_daily_deposit"],
        cooling_off_hours: 24
      })
      const waiting = dataOf(second)
      assert.deepInclude(waiting.limits, { max_daily_deposit: 1000, max_balance: 4000, max_single_bet: 50 })
      assert.deepStrictEqual(waiting.pending_changes, [{
        field: "max_daily_deposit",
        current_value: 1000,
        requested_value: 3000,
        effective_at: "2026-11-21T12:00:00.000Z"
      }])
      assert.deepStrictEqual(dataOf(yield* call(key, `/players/${id}/limits`)), waiting)

      yield* deposit(key, id, 900)
      const over = { amount: 101, external_reference: "over" }
      const refused = yield* call(key, `/players/${id}/deposits`, { body: over })
      assertRefused(refused, 422, "LIMIT_EXCEEDED", {
        limit: "max_daily_deposit",
        value: 1000,
        used: 900,
        resets_at: "2026-11-21T00:00:00.000Z"
      })
      const { usage } = dataOf(yield* call(key, `/players/${id}/limits`))
      assert.deepStrictEqual(usage.max_daily_deposit, {
        used: 900,
        remaining: 100,
        resets_at: "2026-11-21T00:00:00.000Z"
      })
      assert.deepStrictEqual(usage.max_balance, { used: 900, remaining: 3100, resets_at: null })

      yield* TestClock.setTime(Date.parse("2026-11-21T11:59:59.999Z"))
      const early = { amount: 1001, external_reference: "early" }
      assertRefused(yield* call(key, `/players/${id}/deposits`, { body: early }), 422, "LIMIT_EXCEEDED")
      yield* TestClock.adjust("1 millis")
      // no job has to run: the raise is in force when it was promised
      yield* deposit(key, id, 1001)
      const after = dataOf(yield* call(key, `/players/${id}/limits`))
      assert.deepStrictEqual([after.limits.max_daily_deposit, after.pending_changes], [3000, []])
      yield* TestClock.setTime(Date.parse(noon))
    }))

  it.effect("are refused with every bad field named, and then none of them changes", () =>
    Effect.gen(function*() {
      const { key } = yield* openOperator("formal")
      const { id } = yield* register(key, "ada")
      const bad = yield* put(key, id, {
        max_daily_bet: -1,
        max_weekly_bet: 1.5,
        max_balance: "100",
        max_session_minutes: 4,
        max_dayly_bet: 100,
        max_single_bet: 100
      })
      assertRefused(bad, 422, "VALIDATION_FAILED")
      assert.hasAllKeys(bad.details, [
        "limits.max_daily_bet",
        "limits.max_weekly_bet",
        "limits.max_balance",
        "limits.max_session_minutes",
        "limits.max_dayly_bet"
      ])
      assert.isNull(dataOf(yield* call(key, `/players/${id}/limits`)).limits.max_single_bet)
      for (const limits of [undefined, null, [], 5]) {
        assertRefused(yield* put(key, id, limits), 422, "VALIDATION_FAILED", { limits: ["must be an object"] })
      }
      assertRefused(yield* call(key, `/players/${id}/limits`, { method: "PUT", raw: "[]" }), 422, "INVALID_REQUEST")
      const none = yield* put(key, id, {})
      assert.deepStrictEqual(Object(none.json).meta, { applied: [], pending: [], cooling_off_hours: 24 })
    }))

  it.effect("follow the operator's cooling-off, and none is none", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { key, operator } = yield* openOperator("impatient")
      const { id } = yield* register(key, "ada")
      dataOf(yield* put(key, id, { max_daily_bet: 100 }))
      yield* sql`UPDATE operators SET cooling_off_hours = 0 WHERE id = ${operator.id}`
      ;(yield* Credentials).invalidate()
      const raised = yield* put(key, id, { max_daily_bet: null })
      assert.deepStrictEqual(Object(raised.json).meta, {
        applied: ["max_daily_bet"],
        pending: [],
        cooling_off_hours: 0
      })
      assert.isNull(dataOf(raised).limits.max_daily_bet)
    }))

  it.effect("stop bets and launches", () =>
    Effect.gen(function*() {
      const { key } = yield* openOperator("betting")
      const game = yield* openGame("betting")
      const { id } = yield* register(key, "ada")
      yield* deposit(key, id, 10_000)
      const launch = () => call(key, `/players/${id}/games/${game.id}/launch`, { body: {} })
      const { session_token } = dataOf(yield* launch())
      dataOf(yield* put(key, id, { max_single_bet: 500, max_daily_loss: 800, max_session_minutes: 5 }))
      const over = yield* game.bet(session_token, 501)
      assertRefused(over, 422, "LIMIT_EXCEEDED")
      assert.strictEqual(over.details["limit"], "max_single_bet")
      dataOf(yield* game.bet(session_token, 500))
      assert.strictEqual((yield* game.bet(session_token, 301)).details["limit"], "max_daily_loss")
      dataOf(yield* game.bet(session_token, 300))
      assert.deepInclude(dataOf(yield* call(key, `/players/${id}/limits`)).usage.max_daily_loss, {
        used: 800,
        remaining: 0
      })
      yield* TestClock.adjust("5 minutes")
      const late = yield* launch()
      assertRefused(late, 422, "LIMIT_EXCEEDED", {
        limit: "max_session_minutes",
        value: 5,
        used: 5,
        resets_at: "2026-11-20T12:15:00.000Z"
      })
      yield* TestClock.setTime(Date.parse("2026-11-20T12:15:00.000Z"))
      dataOf(yield* launch())
      yield* TestClock.setTime(Date.parse(noon))
    }))
})

layer(layerPublicApi)("SPEC 3.5 and 4.7 self-exclusion", (it) => {
  it.effect("takes its type from its length, and exactly one way to say how long", () =>
    Effect.gen(function*() {
      const { key } = yield* openOperator("lengths")
      const expected: ReadonlyArray<readonly [unknown, string, string]> = [
        [{ period: "24_hours" }, "time_out", "2026-11-21T12:00:00.000Z"],
        [{ period: "7_days" }, "time_out", "2026-11-27T12:00:00.000Z"],
        [{ period: "30_days" }, "time_out", "2026-12-20T12:00:00.000Z"],
        [{ period: "3_months" }, "self_exclusion", "2027-02-20T12:00:00.000Z"],
        [{ period: "6_months" }, "self_exclusion", "2027-05-20T12:00:00.000Z"],
        [{ period: "12_months" }, "self_exclusion", "2027-11-20T12:00:00.000Z"],
        [{ period: "5_years" }, "self_exclusion", "2031-11-20T12:00:00.000Z"],
        [{ until: "2026-12-01T00:00:00+01:00" }, "time_out", "2026-11-30T23:00:00.000Z"],
        [{ until: "2027-01-20T12:00:00Z", type: "self_closure" }, "self_closure", "2027-01-20T12:00:00.000Z"]
      ]
      for (const [index, [body, type, until]] of expected.entries()) {
        const { id } = yield* register(key, `len-${index}`, { last_name: `Nr ${index}` })
        const excluded = dataOf(yield* exclude(key, id, body))
        assert.deepStrictEqual(excluded.self_exclusion, { type, since: noon, until })
        assert.deepStrictEqual(dataOf(yield* call(key, `/players/${id}`)).self_exclusion, excluded.self_exclusion)
        assert.deepStrictEqual(dataOf(yield* call(key, `/players/${id}/limits`)), excluded)
      }
      const { id } = yield* register(key, "formal", { last_name: "Formal" })
      const bad = [
        {},
        { period: "7_days", until: "2026-12-01T00:00:00Z" },
        { period: "2_days" },
        { until: "tomorrow" },
        { until: noon },
        { until: "2027-01-20T12:00:00Z" },
        { period: "3_months", type: "time_out" },
        { period: "7_days", type: "self_exclusion" },
        { period: "7_days", type: "holiday" }
      ]
      for (const body of bad) assertRefused(yield* exclude(key, id, body), 422, "VALIDATION_FAILED")
      assert.isNull(dataOf(yield* call(key, `/players/${id}`)).self_exclusion)
    }))

  it.effect("can be prolonged, never shortened or weakened", () =>
    Effect.gen(function*() {
      const { key } = yield* openOperator("firm")
      const { id } = yield* register(key, "ada")
      const first = dataOf(yield* exclude(key, id, { period: "3_months" })).self_exclusion
      yield* TestClock.adjust("1 hour")
      for (
        const body of [{ period: "24_hours" }, { until: first.until }, { until: noon }, {
          period: "30_days",
          type: "time_out"
        }]
      ) {
        assertRefused(yield* exclude(key, id, body), 422, "RESPONSIBLE_GAMING_RULE", { self_exclusion: first })
      }
      const longer = dataOf(yield* exclude(key, id, { period: "3_months" })).self_exclusion
      assert.deepStrictEqual(longer, { ...first, until: "2027-02-20T13:00:00.000Z" })
      // opening the account does not open the door
      dataOf(yield* call(key, `/players/${id}/status`, { method: "PUT", body: { status: "active" } }))
      assert.deepStrictEqual(dataOf(yield* call(key, `/players/${id}`)).self_exclusion, longer)
      yield* TestClock.setTime(Date.parse(noon))
    }))

  it.effect("is done once under an idempotency key", () =>
    Effect.gen(function*() {
      const { key } = yield* openOperator("keyed")
      const { id } = yield* register(key, "ada")
      const headers = { "Idempotency-Key": "x-1" }
      const first = yield* exclude(key, id, { period: "7_days" }, headers)
      assert.strictEqual(first.status, 200, first.text)
      yield* TestClock.adjust("1 minute")
      const again = yield* exclude(key, id, { period: "7_days" }, headers)
      assert.deepStrictEqual([again.status, again.text, again.headers["idempotent-replayed"]], [
        200,
        first.text,
        "true"
      ])
      assert.strictEqual(dataOf(yield* call(key, `/players/${id}`)).self_exclusion.until, "2026-11-27T12:00:00.000Z")
      assertRefused(yield* exclude(key, id, { period: "30_days" }, headers), 422, "IDEMPOTENCY_KEY_REUSED")
      yield* TestClock.setTime(Date.parse(noon))
    }))

  it.effect("stops play, deposits and tokens at once; wins are still paid; all opens again at its end", () =>
    Effect.gen(function*() {
      const { key } = yield* openOperator("shut")
      const game = yield* openGame("shut")
      const { id } = yield* register(key, "ada")
      yield* deposit(key, id, 1000)
      const launch = (body: unknown) => call(key, `/players/${id}/games/${game.id}/launch`, { body })
      const { session_token } = dataOf(yield* launch({}))
      const open = yield* game.bet(session_token, 100)
      const { player_ref } = dataOf(
        yield* call(game.provider, "/api/v1/provider/wallet/authenticate", {
          body: { session_token }
        })
      )
      const because = { reason: "time_out" }
      dataOf(yield* exclude(key, id, { period: "24_hours" }))

      assertRefused(yield* launch({}), 422, "PLAYER_RESTRICTED", because)
      const bet = yield* game.bet(session_token, 100)
      assertRefused(bet, 422, "PLAYER_RESTRICTED", { ...because, retry: "never" })
      const more = { amount: 100, external_reference: "more" }
      assertRefused(yield* call(key, `/players/${id}/deposits`, { body: more }), 422, "PLAYER_RESTRICTED", because)
      assertRefused(yield* call(key, `/players/${id}/session-tokens`, { body: {} }), 422, "PLAYER_RESTRICTED", because)
      const { transaction_id } = dataOf(open)
      const win = yield* call(game.provider, "/api/v1/provider/wallet/win", {
        body: {
          request_id: "w-1",
          transaction_id: "w-1",
          player_ref,
          game_id: "g-1",
          round_id: transaction_id,
          bet_transaction_id: transaction_id,
          amount: 250,
          currency: "EUR"
        }
      })
      assert.strictEqual(dataOf(win).balance, 1150)

      yield* TestClock.adjust("24 hours")
      assert.isNull(dataOf(yield* call(key, `/players/${id}`)).self_exclusion)
      dataOf(yield* launch({}))
      yield* deposit(key, id, 100)
      dataOf(yield* call(key, `/players/${id}/session-tokens`, { body: {} }), 201)
      yield* TestClock.setTime(Date.parse(noon))
    }))

  it.effect("keeps who is excluded from registering anew, with this operator, for as long as it lasts", () =>
    Effect.gen(function*() {
      const { key } = yield* openOperator("gate")
      const other = yield* openOperator("next-door")
      const known = { personal_id: "PID 77-88", document_number: "D 1", first_name: "Zoë", last_name: "Müller" }
      const { id } = yield* register(key, "zoe", known)
      yield* register(key, "sibling", { last_name: "Müller", birth_date: "1990-12-31" })
      dataOf(yield* exclude(key, id, { period: "24_hours" }))
      const attempts = [
        registration("zoe-2", { personal_id: "pid7788" }),
        registration("zoe-3", { document_number: "d-1" }),
        registration("zoe-4", { first_name: "ZOE", last_name: "Muller" })
      ]
      for (const body of attempts) assertRefused(yield* call(key, "/players", { body }), 422, "SELF_EXCLUDED_IDENTITY")
      yield* register(key, "namesake", { first_name: "Zoë", last_name: "Müller", birth_date: "1991-12-31" })
      yield* register(other.key, "zoe", known)
      yield* TestClock.adjust("24 hours")
      yield* register(key, "zoe-2", { personal_id: "pid7788" })
      yield* TestClock.setTime(Date.parse(noon))
    }))

  it.effect("knows who is excluded under every name they ever had", () =>
    Effect.gen(function*() {
      const { key } = yield* openOperator("renamed")
      const { id } = yield* register(key, "maiden", { first_name: "Ada", last_name: "Byron", birth_date: "1990-12-10" })
      const change = (body: unknown) => call(key, `/players/${id}`, { method: "PATCH", body })
      dataOf(yield* change({ last_name: "King" }))
      dataOf(yield* exclude(key, id, { period: "24_hours" }))
      dataOf(yield* change({ last_name: "Lovelace" }))
      dataOf(yield* change({ birth_date: "1990-12-11", city: "London" }))
      const attempt = (last_name: string, birth_date: string) =>
        call(key, "/players", { body: registration(`ada-${last_name}`, { first_name: "Ada", last_name, birth_date }) })
      for (
        const reply of [
          yield* attempt("Byron", "1990-12-10"),
          yield* attempt("king", "1990-12-10"),
          yield* attempt("Lovelace", "1990-12-10"),
          yield* attempt("Lovelace", "1990-12-11")
        ]
      ) assertRefused(reply, 422, "SELF_EXCLUDED_IDENTITY")
      // nobody was ever called so on that day
      dataOf(yield* attempt("Byron", "1990-12-11"), 201)
      yield* TestClock.adjust("24 hours")
      dataOf(yield* attempt("King", "1990-12-10"), 201)
      yield* TestClock.setTime(Date.parse(noon))
    }))

  it.effect("and limits are of the feature responsible_gaming", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { key, operator } = yield* openOperator("without")
      const { id } = yield* register(key, "ada")
      yield* sql`UPDATE operators SET cooperation_model = 'turnkey', disabled_features = '{responsible_gaming}'
        WHERE id = ${operator.id}`
      ;(yield* Credentials).invalidate()
      const feature = { feature: "responsible_gaming" }
      assertRefused(yield* call(key, `/players/${id}/limits`), 403, "FEATURE_NOT_AVAILABLE", feature)
      assertRefused(yield* put(key, id, {}), 403, "FEATURE_NOT_AVAILABLE", feature)
      assertRefused(yield* exclude(key, id, { period: "7_days" }), 403, "FEATURE_NOT_AVAILABLE", feature)
    }))
})
