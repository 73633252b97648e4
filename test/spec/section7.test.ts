import { assert, layer } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { SqlClient } from "effect/sql"
import { Credentials } from "../../src/auth/Credentials.ts"
import { layerCasinos, SharedCasino } from "../kit/Backoffice.ts"
import { dataOf, type Fields, fresh, made, openCasino, registration, staff } from "../kit/Casino.ts"
import {
  browserCall,
  operatorWith,
  plainCall,
  type Reply,
  signedCall,
  signedHeaders,
  unixSeconds
} from "../kit/HttpCalls.ts"
import { noon } from "../kit/Noon.ts"
import { holdPlayer, untilSomeoneWaits } from "../kit/E2eHold.ts"

// Goal: every code of SPEC 7 has its status, the one envelope, and the details of SPEC and DECISIONS.
// Method: cause each over HTTP as a caller would. Expected values come from the specification's table, not from the
// service; a code without a row fails the last test.

const me = "/api/v1/operator/me"

const met = new Set<string>()

/** Asserts this refusal, in the envelope and with exactly these details. */
const assertError = (answer: Reply, status: number, code: string, details: Fields) => {
  assert.deepStrictEqual([answer.status, answer.code], [status, code], answer.text)
  assert.strictEqual(answer.headers["content-type"], "application/json")
  assert.match(answer.headers["x-request-id"] ?? "", /^\S{1,128}$/)
  const { error, ...rest } = Object(answer.json)
  assert.deepStrictEqual(rest, {}, "nothing beside the error")
  assert.deepStrictEqual(Object.keys(error).sort(), ["code", "details", "message"])
  assert.isString(error.message)
  assert.isNotEmpty(error.message)
  assert.deepStrictEqual(error.details, details, code)
  met.add(code)
}

layer(layerCasinos, { excludeTestServices: true })("SPEC 7 each error code is returned with its status", (it) => {
  it.effect("7 MISSING_CREDENTIALS 401, INVALID_API_KEY 401, API_KEY_INACTIVE 401", () =>
    Effect.gen(function*() {
      const { signer, slug } = yield* SharedCasino
      const headers = signedHeaders(signer, me, { timestamp: yield* unixSeconds, nonce: fresh("n") })
      for (const name of ["X-Api-Key", "X-Timestamp", "X-Signature"]) {
        const { [name]: _, ...others } = headers
        for (const faulty of [others, { ...headers, [name]: "" }]) {
          const answer = yield* plainCall(me, { headers: faulty })
          assertError(answer, 401, "MISSING_CREDENTIALS", answer.details)
        }
      }
      assertError(yield* signedCall({ ...signer, key: "pk_nobody" }, me), 401, "INVALID_API_KEY", {})
      const revoked = yield* made("/keys", { operator: slug })
      yield* staff("POST", `/keys/${revoked.key}/revoke`)
      const expired = yield* made("/keys", { operator: slug, expires_at: "2026-11-20T12:00:01Z" })
      const sql = yield* SqlClient.SqlClient
      yield* sql`UPDATE api_keys SET expires_at = ${noon} WHERE id = ${expired.id}`
      yield* (yield* Credentials).invalidate()
      for (const { key, secret } of [revoked, expired]) {
        assertError(yield* signedCall({ header: "X-Api-Key", key, secret }, me), 401, "API_KEY_INACTIVE", {})
      }
      const closed = yield* openCasino()
      yield* staff("PATCH", `/operators/${closed.slug}`, { active: false })
      assertError(yield* closed.get("/me"), 401, "API_KEY_INACTIVE", {})
    }))

  it.effect("7 TIMESTAMP_OUT_OF_RANGE 401 with server_time, INVALID_NONCE 401, INVALID_SIGNATURE 401, REPLAYED_REQUEST 401", () =>
    Effect.gen(function*() {
      const { signer } = yield* SharedCasino
      const timestamp = yield* unixSeconds
      const headers = (at: number, nonce: string) => ({ headers: signedHeaders(signer, me, { timestamp: at, nonce }) })
      assertError(yield* plainCall(me, headers(timestamp - 301, "a")), 401, "TIMESTAMP_OUT_OF_RANGE", {
        server_time: noon
      })
      const long = yield* plainCall(me, headers(timestamp, "n".repeat(129)))
      assertError(long, 401, "INVALID_NONCE", long.details)
      assertError(yield* signedCall({ ...signer, secret: "another" }, me), 401, "INVALID_SIGNATURE", {})
      const once = headers(timestamp, fresh("once"))
      assert.strictEqual((yield* plainCall(me, once)).status, 200)
      assertError(yield* plainCall(me, once), 401, "REPLAYED_REQUEST", {})
    }))

  it.effect("7 INVALID_PLAYER_TOKEN 401: missing, invalid, expired", () =>
    Effect.gen(function*() {
      for (const call of [plainCall("/api/v1/player/me"), browserCall("pt_no", "/me")]) {
        assertError(yield* call, 401, "INVALID_PLAYER_TOKEN", {})
      }
    }))

  it.effect("7 IP_NOT_ALLOWED 403, INSUFFICIENT_SCOPE 403 with required_scopes, FEATURE_NOT_AVAILABLE 403 with feature", () =>
    Effect.gen(function*() {
      const { slug } = yield* SharedCasino
      const fenced = yield* made("/keys", { operator: slug, ip_allowlist: ["203.0.113.7"] })
      assertError(yield* operatorWith(fenced).get("/me"), 403, "IP_NOT_ALLOWED", {})
      const poor = operatorWith(yield* made("/keys", { operator: slug, scopes: ["wallet:read"] }))
      assertError(yield* poor.get("/players"), 403, "INSUFFICIENT_SCOPE", { required_scopes: ["players:read"] })
      const turnkey = yield* openCasino({ cooperation_model: "turnkey", disabled_features: ["bonuses"] })
      assertError(yield* turnkey.get("/bonuses"), 403, "FEATURE_NOT_AVAILABLE", { feature: "bonuses" })
    }))

  it.effect("7 NOT_FOUND 404, METHOD_NOT_ALLOWED 405 with Allow", () =>
    Effect.gen(function*() {
      const house = yield* SharedCasino
      assertError(yield* house.get("/players/999999999"), 404, "NOT_FOUND", {})
      assertError(yield* house.get("/players/abc"), 404, "NOT_FOUND", {})
      assertError(yield* house.get("/nothing"), 404, "NOT_FOUND", {})
      const wrong = yield* house.call("DELETE", "/players")
      assertError(wrong, 405, "METHOD_NOT_ALLOWED", wrong.details)
      assert.isNotEmpty(wrong.headers["allow"])
    }))

  it.effect("7 IDEMPOTENCY_IN_PROGRESS 409, IDEMPOTENCY_KEY_REUSED 422, INVALID_IDEMPOTENCY_KEY 422", () =>
    Effect.gen(function*() {
      const house = yield* SharedCasino
      const { id } = yield* house.register()
      const path = `/players/${id}/deposits`
      const body = { amount: 100, external_reference: fresh("held") }
      const key = { "Idempotency-Key": fresh("key") }
      const letGo = yield* holdPlayer(id)
      const first = yield* Effect.forkChild(house.post(path, body, key))
      yield* untilSomeoneWaits
      assertError(yield* house.post(path, body, key), 409, "IDEMPOTENCY_IN_PROGRESS", {})
      yield* letGo
      assert.strictEqual((yield* Fiber.join(first)).status, 201)
      const reused = yield* house.post(path, { ...body, amount: 101 }, key)
      assertError(reused, 422, "IDEMPOTENCY_KEY_REUSED", reused.details)
      const long = yield* house.post(path, body, { "Idempotency-Key": "k".repeat(256) })
      assertError(long, 422, "INVALID_IDEMPOTENCY_KEY", { max_length: 255 })
    }))

  it.effect("7 DUPLICATE_TRANSACTION 409, INSUFFICIENT_FUNDS 402 with balance", () =>
    Effect.gen(function*() {
      const house = yield* SharedCasino
      const { bet, id } = yield* house.sit(500)
      const external_reference = fresh("twice")
      dataOf(yield* house.deposit(id, 100, { external_reference }), 201)
      const other = yield* house.deposit(id, 101, { external_reference })
      assertError(other, 409, "DUPLICATE_TRANSACTION", { external_reference })
      assertError(yield* house.withdraw(id, 601), 402, "INSUFFICIENT_FUNDS", { balance: 600 })
      assertError(yield* bet(601), 402, "INSUFFICIENT_FUNDS", { balance: 600, retry: "never" })
    }))

  it.effect("7 VALIDATION_FAILED 422 maps each field to messages, INVALID_REQUEST 422 and 413", () =>
    Effect.gen(function*() {
      const house = yield* SharedCasino
      const { id } = yield* house.register()
      const bad = yield* house.post(`/players/${id}/deposits`, { amount: 1.5, external_reference: 7, notes: false })
      assertError(bad, 422, "VALIDATION_FAILED", bad.details)
      assert.hasAllKeys(bad.details, ["amount", "external_reference", "notes"])
      const nested = yield* house.patch(`/players/${id}`, { marketing: { email: "yes" } })
      assertError(nested, 422, "VALIDATION_FAILED", nested.details)
      assert.hasAllKeys(nested.details, ["marketing.email"])
      for (const messages of Object.values({ ...bad.details, ...nested.details })) {
        assert.isArray(messages)
        assert.isNotEmpty(messages)
        for (const message of [messages].flat()) assert.isString(message)
      }
      const uri = `/api/v1/operator/players/${id}/deposits`
      for (const raw of ["", "{", "[]", "5", "null"]) {
        const answer = yield* signedCall(house.signer, uri, { method: "POST", raw })
        assertError(answer, 422, "INVALID_REQUEST", answer.details)
      }
      // 256 KiB are accepted, one byte more is not
      const padded = (bytes: number) => {
        const head = `{"amount":1,"external_reference":"${fresh("large")}","padding":"`
        return `${head}${"x".repeat(bytes - head.length - 2)}"}`
      }
      const large = yield* signedCall(house.signer, uri, { method: "POST", raw: padded(256 * 1024) })
      assert.strictEqual(large.status, 201, large.text)
      const larger = yield* signedCall(house.signer, uri, { method: "POST", raw: padded(256 * 1024 + 1) })
      assertError(larger, 413, "INVALID_REQUEST", larger.details)
    }))

  it.effect("7 SELF_EXCLUDED_IDENTITY 422, PLAYER_RESTRICTED 422 with reason, RESPONSIBLE_GAMING_RULE 422", () =>
    Effect.gen(function*() {
      const house = yield* SharedCasino
      const person = { first_name: "Ines", last_name: "Away", birth_date: "1971-02-03" }
      const { id } = yield* house.register(person)
      const { self_exclusion } = dataOf(yield* house.exclude(id, { period: "3_months" }))
      const again = yield* house.post("/players", { ...registration(fresh("again")), ...person })
      assertError(again, 422, "SELF_EXCLUDED_IDENTITY", { source: "operator" })
      const shorter = yield* house.exclude(id, { period: "7_days" })
      assertError(shorter, 422, "RESPONSIBLE_GAMING_RULE", { self_exclusion })
      assertError(yield* house.deposit(id, 1), 422, "PLAYER_RESTRICTED", { reason: "self_exclusion" })
      const locked = yield* house.register()
      yield* house.put(`/players/${locked.id}/status`, { status: "locked" })
      assertError(yield* house.launch(locked.id), 422, "PLAYER_RESTRICTED", { reason: "locked" })
      const kept = yield* house.register()
      yield* staff("PATCH", `/players/${kept.id}/restrictions`, { can_login: false })
      const token = yield* house.post(`/players/${kept.id}/session-tokens`)
      assertError(token, 422, "PLAYER_RESTRICTED", { reason: "can_login" })
    }))

  it.effect("7 LIMIT_EXCEEDED 422 with limit, value, used and resets_at", () =>
    Effect.gen(function*() {
      const house = yield* SharedCasino
      const { id } = yield* house.register()
      dataOf(yield* house.limit(id, { max_daily_deposit: 100, max_single_deposit: 70 }))
      dataOf(yield* house.deposit(id, 60), 201)
      const used = { limit: "max_daily_deposit", value: 100, used: 60, resets_at: "2026-11-21T00:00:00.000Z" }
      assertError(yield* house.deposit(id, 41), 422, "LIMIT_EXCEEDED", used)
      const single = { limit: "max_single_deposit", value: 70, used: 0, resets_at: null }
      assertError(yield* house.deposit(id, 71), 422, "LIMIT_EXCEEDED", single)
    }))

  it.effect("7 KYC_REQUIRED 422, PAYMENT_REQUEST_INVALID 422", () =>
    Effect.gen(function*() {
      const casino = yield* openCasino({ kyc_withdrawal_threshold: 100 })
      const { id } = yield* casino.register()
      dataOf(yield* casino.deposit(id, 500), 201)
      assertError(yield* casino.withdraw(id, 101), 422, "KYC_REQUIRED", {
        kyc_status: "not_started",
        threshold: 100,
        unverified_withdrawal_allowance: 100
      })
      const method = { payment_method: "cheque" }
      assertError(yield* casino.withdraw(id, 50, method), 422, "PAYMENT_REQUEST_INVALID", method)
      assertError(yield* casino.deposit(id, 50, method), 422, "PAYMENT_REQUEST_INVALID", method)
    }))

  it.effect("7 BONUS_INVALID 422: excluded player, grant cap, max bet; PROMO_CODE_INVALID 422: unknown, expired, used", () =>
    Effect.gen(function*() {
      const house = yield* SharedCasino
      const bonus = yield* house.newBonus({ max_grants_per_player: 1, max_bet: 50 })
      const seat = yield* house.sit(1000)
      dataOf(yield* house.grant(seat.id, bonus.id), 201)
      const capped = { reason: "max_grants_per_player", max_grants_per_player: 1 }
      assertError(yield* house.grant(seat.id, bonus.id), 422, "BONUS_INVALID", capped)
      assertError(yield* seat.bet(51), 422, "BONUS_INVALID", { max_bet: 50, retry: "never" })
      const kept = yield* house.register()
      yield* staff("PATCH", `/players/${kept.id}/restrictions`, { excluded_from_bonuses: true })
      const excluded = { reason: "excluded_from_bonuses" }
      assertError(yield* house.grant(kept.id, bonus.id), 422, "BONUS_INVALID", excluded)

      const { id } = yield* house.register()
      const [good, old] = [fresh("GOOD"), fresh("OLD")]
      yield* made("/promo-codes", { operator: house.slug, code: good, bonus: bonus.id })
      yield* made("/promo-codes", { operator: house.slug, code: old, bonus: bonus.id, expires_at: noon })
      const redeem = (code: string) => house.post(`/players/${id}/promo-codes`, { code })
      dataOf(yield* redeem(good), 201)
      for (const [code, reason] of [[good, "used"], [old, "expired"], ["NOTHING", "unknown"]] as const) {
        assertError(yield* redeem(code), 422, "PROMO_CODE_INVALID", { reason })
      }
    }))

  it.effect("7 NOT_AN_ORIGINAL 422", () =>
    Effect.gen(function*() {
      const house = yield* SharedCasino
      const { id } = yield* house.register()
      const { token } = dataOf(yield* house.post(`/players/${id}/session-tokens`), 201)
      const body = { stake: 1, params: {} }
      const answer = yield* browserCall(token, `/games/${house.slots.id}/play`, { body })
      assertError(answer, 422, "NOT_AN_ORIGINAL", answer.details)
    }))

  it.effect("7 RATE_LIMITED 429 with Retry-After", () =>
    Effect.gen(function*() {
      const { slug } = yield* SharedCasino
      const slow = operatorWith(yield* made("/keys", { operator: slug, rate_limit_per_minute: 1 }))
      assert.strictEqual((yield* slow.get("/me")).status, 200)
      const over = yield* slow.get("/me")
      assertError(over, 429, "RATE_LIMITED", over.details)
      assert.strictEqual(over.headers["retry-after"], "60")
      assert.deepStrictEqual([over.headers["x-ratelimit-limit"], over.headers["x-ratelimit-remaining"]], ["1", "0"])
    }))

  // Goal: a server error reveals no internals, and the same idempotency key may be retried. Method: rename
  // a table that the request needs, and restore it.
  it.effect("7 SERVER_ERROR 500 reveals no internals; a retry under the same idempotency key is executed", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const house = yield* SharedCasino
      const person = registration(fresh("unlucky"))
      const key = { "Idempotency-Key": fresh("key") }
      yield* sql`ALTER TABLE accounts RENAME TO accounts_away`
      const failed = yield* Effect.ensuring(
        house.post("/players", person, key),
        Effect.orDie(sql`ALTER TABLE accounts_away RENAME TO accounts`)
      )
      assertError(failed, 500, "SERVER_ERROR", failed.details)
      assert.notMatch(failed.text, /accounts|relation|sql|src/i)
      const again = yield* house.post("/players", person, key)
      assert.strictEqual(again.status, 201, again.text)
      assert.isUndefined(again.headers["idempotent-replayed"])
    }))

  it.effect("7 every code of the table in the specification was returned by a test of this file", () =>
    Effect.sync(() => {
      const codes =
        `MISSING_CREDENTIALS INVALID_API_KEY API_KEY_INACTIVE TIMESTAMP_OUT_OF_RANGE INVALID_NONCE INVALID_SIGNATURE
        REPLAYED_REQUEST INVALID_PLAYER_TOKEN IP_NOT_ALLOWED INSUFFICIENT_SCOPE FEATURE_NOT_AVAILABLE NOT_FOUND METHOD_NOT_ALLOWED
        IDEMPOTENCY_IN_PROGRESS DUPLICATE_TRANSACTION INSUFFICIENT_FUNDS VALIDATION_FAILED INVALID_REQUEST IDEMPOTENCY_KEY_REUSED
        INVALID_IDEMPOTENCY_KEY SELF_EXCLUDED_IDENTITY PLAYER_RESTRICTED LIMIT_EXCEEDED RESPONSIBLE_GAMING_RULE KYC_REQUIRED
        PAYMENT_REQUEST_INVALID BONUS_INVALID PROMO_CODE_INVALID NOT_AN_ORIGINAL RATE_LIMITED SERVER_ERROR`
      assert.sameMembers([...met], codes.split(/\s+/))
    }))
})
