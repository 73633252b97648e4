import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Credentials } from "../../src/auth/Credentials.ts"
import { layerCasinos, SharedCasino } from "../kit/Backoffice.ts"
import {
  assertRefused,
  dataOf,
  type Fields,
  fresh,
  made,
  openCasino,
  outcomeOf,
  registration,
  staff,
  staffCall
} from "../kit/Casino.ts"
import {
  type Call,
  operatorWith,
  plainCall,
  signedCall,
  signedHeaders,
  type Signer,
  unixSeconds
} from "../kit/HttpCalls.ts"
import { hourMs, pass, whileTimePasses } from "../kit/Calendar.ts"

// Goal: where two checks would both refuse, the earlier one of DECISIONS 2.2 and 2.3 answers. Method: for each pair of
// neighbours a request that both refuse; where cheap, the same request with the first fault corrected, to
// prove that the second would refuse it.

const me = "/api/v1/operator/me"
const players = "/api/v1/operator/players"

layer(layerCasinos, { excludeTestServices: true })("DECISIONS 2.2 order of request checks", (it) => {
  it.effect("2.2 a path or a method that does not exist is refused before missing credentials", () =>
    Effect.gen(function*() {
      assertRefused(yield* plainCall("/api/v1/operator/nothing", { method: "POST", raw: "{" }), 404, "NOT_FOUND")
      const wrong = yield* plainCall(players, { method: "DELETE" })
      assertRefused(wrong, 405, "METHOD_NOT_ALLOWED")
      assert.sameMembers((wrong.headers["allow"] ?? "").split(", ").filter((name) => name !== "HEAD"), ["GET", "POST"])
      assertRefused(yield* plainCall(players), 401, "MISSING_CREDENTIALS")
    }))

  it.effect("2.2 credentials: missing, unknown and inactive ones, clock, nonce and signature are refused in this order", () =>
    Effect.gen(function*() {
      const casino = yield* SharedCasino
      const { signer } = casino
      const over = yield* made("/keys", { operator: casino.slug })
      yield* staff("POST", `/keys/${over.key}/revoke`)
      const inactive: Signer = { header: "X-Api-Key", key: over.key, secret: over.secret }
      const nobody: Signer = { ...signer, key: "pk_nobody" }
      const now = yield* unixSeconds
      const faulty = (
        by: Signer,
        timestamp: number,
        nonce: string,
        more: { readonly [name: string]: string } = {}
      ) => ({
        headers: { ...signedHeaders(by, me, { timestamp, nonce }), "X-Signature": "0".repeat(64), ...more }
      })
      const long = "n".repeat(129)
      const rows: ReadonlyArray<readonly [call: Call, code: string]> = [
        [faulty(nobody, now - 301, long, { "X-Signature": "" }), "MISSING_CREDENTIALS"],
        [faulty(nobody, now - 301, long), "INVALID_API_KEY"],
        [faulty(inactive, now - 301, long), "API_KEY_INACTIVE"],
        [faulty(signer, now - 301, long), "TIMESTAMP_OUT_OF_RANGE"],
        [faulty(signer, now, long), "INVALID_NONCE"],
        [faulty(signer, now, "n"), "INVALID_SIGNATURE"]
      ]
      for (const [call, code] of rows) assertRefused(yield* plainCall(me, call), 401, code)
      // an already accepted signature over other bytes fails as a mismatch, before the check for repetition
      const signed = { headers: signedHeaders(signer, me, { timestamp: now, nonce: "once" }) }
      assert.strictEqual((yield* plainCall(me, signed)).status, 200)
      assertRefused(yield* plainCall(`${me}?x=1`, signed), 401, "INVALID_SIGNATURE")
      assertRefused(yield* plainCall(me, signed), 401, "REPLAYED_REQUEST")
    }))

  it.effect("2.2 replay, address, rate, scope, feature and idempotency key are checked in this order", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const credentials = yield* Credentials
      const casino = yield* openCasino({ cooperation_model: "turnkey", disabled_features: ["games"] })
      const poor = yield* made("/keys", { operator: casino.slug, scopes: ["players:read"], rate_limit_per_minute: 2 })
      const signer: Signer = { header: "X-Api-Key", key: poor.key, secret: poor.secret }
      const path = "/api/v1/operator/players/1/games/1/launch"
      const request = { method: "POST", body: {}, headers: { "Idempotency-Key": "k".repeat(256) } }
      const allow = Effect.fnUntraced(function*(list: string) {
        yield* sql`UPDATE api_keys SET ip_allowlist = ${list}::text[] WHERE id = ${poor.id}`
        yield* credentials.invalidate()
      })
      assertRefused(yield* signedCall(signer, path, request), 403, "INSUFFICIENT_SCOPE")
      assertRefused(yield* signedCall(signer, path, request), 403, "INSUFFICIENT_SCOPE")
      assertRefused(yield* signedCall(signer, path, request), 429, "RATE_LIMITED")
      yield* allow("{203.0.113.7}")
      const elsewhere = { ...request, timestamp: yield* unixSeconds, nonce: fresh("same") }
      const headers = { ...signedHeaders(signer, path, elsewhere), ...request.headers }
      assertRefused(yield* plainCall(path, { ...request, headers }), 403, "IP_NOT_ALLOWED")
      assertRefused(yield* plainCall(path, { ...request, headers }), 401, "REPLAYED_REQUEST")
      yield* allow("{}")

      const scoped = operatorWith(yield* made("/keys", { operator: casino.slug, scopes: ["games:launch"] }))
      const off = yield* signedCall(scoped.signer, path, request)
      assertRefused(off, 403, "FEATURE_NOT_AVAILABLE", { feature: "games" })
      yield* staff("PATCH", `/operators/${casino.slug}`, { disabled_features: [] })
      assertRefused(yield* signedCall(scoped.signer, path, request), 422, "INVALID_IDEMPOTENCY_KEY")
    }))

  it.effect("2.2 an idempotency key is checked before the path's resource, the resource before the body, the body before the rules", () =>
    Effect.gen(function*() {
      const casino = yield* SharedCasino
      const { id } = yield* casino.register()
      yield* casino.put(`/players/${id}/status`, { status: "locked" })
      const path = (player: number) => `/players/${player}/deposits`
      const absent = 999_999_999
      const key = { "Idempotency-Key": fresh("used") }
      assertRefused(yield* casino.post(path(id), {}, key), 422, "VALIDATION_FAILED")
      // the key is stored for another request
      assertRefused(yield* casino.post(path(absent), { amount: "x" }, key), 422, "IDEMPOTENCY_KEY_REUSED")
      const long = { "Idempotency-Key": "k".repeat(256) }
      assertRefused(yield* casino.post(path(absent), { amount: "x" }, long), 422, "INVALID_IDEMPOTENCY_KEY")
      // unknown player: whatever the body is
      const raw = { method: "POST", raw: "{" }
      assertRefused(yield* casino.post(path(absent), { amount: "x" }), 404, "NOT_FOUND")
      assertRefused(yield* signedCall(casino.signer, `/api/v1/operator${path(absent)}`, raw), 404, "NOT_FOUND")
      const query = `/players/${absent}/transactions?page=0`
      assertRefused(yield* casino.get(query), 404, "NOT_FOUND")
      // known player: the form, then the rules
      assertRefused(yield* signedCall(casino.signer, `/api/v1/operator${path(id)}`, raw), 422, "INVALID_REQUEST")
      assertRefused(yield* casino.post(path(id), { amount: 0 }), 422, "VALIDATION_FAILED")
      assertRefused(yield* casino.deposit(id, 100), 422, "PLAYER_RESTRICTED", { reason: "locked" })
      // a replay returns the stored refusal, although the deposit would be accepted by now
      const kept = { "Idempotency-Key": fresh("kept") }
      const body = { amount: 100, external_reference: fresh("r") }
      const first = yield* casino.post(path(id), body, kept)
      assertRefused(first, 422, "PLAYER_RESTRICTED")
      yield* casino.put(`/players/${id}/status`, { status: "active" })
      const again = yield* casino.post(path(id), body, kept)
      assert.deepStrictEqual([again.text, again.headers["idempotent-replayed"]], [first.text, "true"])
    }))
})

layer(layerCasinos, { excludeTestServices: true })("DECISIONS 2.3 order of payment, play and staff checks", (it) => {
  const restrict = (id: number, restrictions: Fields) => staff("PATCH", `/players/${id}/restrictions`, restrictions)

  it.effect("2.3 a deposit: reference, status, restriction, exclusion, method, bounds and limits are checked in this order", () =>
    Effect.gen(function*() {
      const casino = yield* SharedCasino
      yield* made("/payment-methods", { operator: casino.slug, code: "card", min_deposit: 10, max_deposit: 5000 })
      const { id } = yield* casino.register()
      dataOf(yield* casino.deposit(id, 700, { external_reference: "known" }), 201)
      dataOf(yield* casino.limit(id, { max_single_deposit: 100, max_daily_deposit: 700 }))
      const wrong = { payment_method: "nothing" }
      // limits alone, then behind bounds, behind the method, behind the exclusion, …
      const limited = yield* casino.deposit(id, 101)
      assertRefused(limited, 422, "LIMIT_EXCEEDED")
      assert.strictEqual(limited.details["limit"], "max_single_deposit")
      const beyond = yield* casino.deposit(id, 5001, { payment_method: "card" })
      assertRefused(beyond, 422, "PAYMENT_REQUEST_INVALID", { min_deposit: 10, max_deposit: 5000 })
      assertRefused(yield* casino.deposit(id, 5001, wrong), 422, "PAYMENT_REQUEST_INVALID", {
        payment_method: "nothing"
      })
      dataOf(yield* casino.exclude(id, { period: "7_days" }))
      assertRefused(yield* casino.deposit(id, 5001, wrong), 422, "PLAYER_RESTRICTED", { reason: "time_out" })
      yield* restrict(id, { can_deposit: false })
      assertRefused(yield* casino.deposit(id, 5001, wrong), 422, "PLAYER_RESTRICTED", { reason: "can_deposit" })
      yield* casino.put(`/players/${id}/status`, { status: "locked" })
      assertRefused(yield* casino.deposit(id, 5001, wrong), 422, "PLAYER_RESTRICTED", { reason: "locked" })
      // an existing payment is replayed in any state of the player
      const known = { external_reference: "known", ...wrong }
      assert.strictEqual((yield* casino.deposit(id, 700, known)).status, 200)
      assertRefused(yield* casino.deposit(id, 701, known), 409, "DUPLICATE_TRANSACTION")
      assertRefused(yield* casino.withdraw(id, 700, known), 409, "DUPLICATE_TRANSACTION")
    }))

  it.effect("2.3 a withdrawal: reference, status, restriction, method, bounds, KYC and funds are checked in this order; an exclusion is not checked", () =>
    Effect.gen(function*() {
      const casino = yield* openCasino({ kyc_withdrawal_threshold: 300 })
      yield* made("/payment-methods", { operator: casino.slug, code: "card", min_withdrawal: 10, max_withdrawal: 5000 })
      const { id } = yield* casino.register()
      dataOf(yield* casino.deposit(id, 200), 201)
      dataOf(yield* casino.withdraw(id, 50, { external_reference: "known" }), 201)
      const wrong = { payment_method: "nothing" }
      assertRefused(yield* casino.withdraw(id, 151), 402, "INSUFFICIENT_FUNDS", { balance: 150 })
      assertRefused(yield* casino.withdraw(id, 251), 422, "KYC_REQUIRED")
      assertRefused(yield* casino.withdraw(id, 5001, { payment_method: "card" }), 422, "PAYMENT_REQUEST_INVALID")
      dataOf(yield* casino.exclude(id, { period: "7_days" }))
      assertRefused(yield* casino.withdraw(id, 251), 422, "KYC_REQUIRED")
      yield* restrict(id, { can_withdraw: false })
      assertRefused(yield* casino.withdraw(id, 5001, wrong), 422, "PLAYER_RESTRICTED", { reason: "can_withdraw" })
      yield* casino.put(`/players/${id}/status`, { status: "closed" })
      assertRefused(yield* casino.withdraw(id, 5001, wrong), 422, "PLAYER_RESTRICTED", { reason: "closed" })
      const known = { external_reference: "known", ...wrong }
      assert.strictEqual((yield* casino.withdraw(id, 50, known)).status, 200)
      assertRefused(yield* casino.withdraw(id, 51, known), 409, "DUPLICATE_TRANSACTION")
    }))

  it.effect("2.3 a bet: transaction id, status, restriction, exclusion, limits, bonus and funds are checked in this order", () =>
    Effect.gen(function*() {
      const casino = yield* SharedCasino
      const seat = yield* casino.sit(100)
      const bonus = yield* casino.newBonus({ max_bet: 300, default_amount: 150 })
      dataOf(yield* seat.bet(10, { transaction_id: "known" }))
      dataOf(yield* casino.grant(seat.id, bonus.id), 201)
      // 240 in both wallets
      assertRefused(yield* seat.bet(241), 402, "INSUFFICIENT_FUNDS", { balance: 90, retry: "never" })
      assertRefused(yield* seat.bet(301), 422, "BONUS_INVALID", { max_bet: 300, retry: "never" })
      dataOf(yield* casino.limit(seat.id, { max_single_bet: 300 }))
      const limited = yield* seat.bet(301)
      assertRefused(limited, 422, "LIMIT_EXCEEDED")
      dataOf(yield* casino.exclude(seat.id, { period: "7_days" }))
      const reasonOf = Effect.map(seat.bet(301), ({ code, details }) => [code, details["reason"]])
      assert.deepStrictEqual(yield* reasonOf, ["PLAYER_RESTRICTED", "time_out"])
      yield* restrict(seat.id, { can_bet: false })
      assert.deepStrictEqual(yield* reasonOf, ["PLAYER_RESTRICTED", "can_bet"])
      yield* casino.put(`/players/${seat.id}/status`, { status: "closed" })
      assert.deepStrictEqual(yield* reasonOf, ["PLAYER_RESTRICTED", "closed"])
      const known = yield* seat.bet(10, { transaction_id: "known" })
      assert.strictEqual(dataOf(known).status, "replayed")
      assertRefused(yield* seat.bet(11, { transaction_id: "known" }), 409, "DUPLICATE_TRANSACTION")
    }))

  it.effect("2.3 a launch: status, restriction, exclusion and session limit are checked in this order for real play, and not at all for demo play", () =>
    whileTimePasses(Effect.gen(function*() {
      const casino = yield* SharedCasino
      const seat = yield* casino.sit(100)
      dataOf(yield* casino.limit(seat.id, { max_session_minutes: 5 }))
      dataOf(yield* seat.bet(1))
      yield* pass(hourMs / 12)
      const launch = Effect.map(casino.launch(seat.id), ({ code, details }) => [code, details["reason"]])
      assert.deepStrictEqual(yield* launch, ["LIMIT_EXCEEDED", undefined])
      dataOf(yield* casino.exclude(seat.id, { period: "7_days" }))
      assert.deepStrictEqual(yield* launch, ["PLAYER_RESTRICTED", "time_out"])
      yield* restrict(seat.id, { can_bet: false })
      assert.deepStrictEqual(yield* launch, ["PLAYER_RESTRICTED", "can_bet"])
      yield* casino.put(`/players/${seat.id}/status`, { status: "locked" })
      assert.deepStrictEqual(yield* launch, ["PLAYER_RESTRICTED", "locked"])
      assert.strictEqual(outcomeOf(yield* casino.launch(seat.id, { mode: "demo" })), 200)
    })))

  it.effect("2.3 a staff request: token, role, resource and body are checked in this order", () =>
    Effect.gen(function*() {
      const support = yield* made("/staff", { name: fresh("support"), role: "support" })
      const path = "/backoffice/v1/players/999999999/corrections"
      const as = (authorization: string) => ({ authorization })
      const bad = { amount: "x" }
      assert.strictEqual(outcomeOf(yield* staffCall("POST", path, bad, {})), "MISSING_CREDENTIALS")
      assert.strictEqual(outcomeOf(yield* staffCall("POST", path, bad, as("Bearer x"))), "INVALID_API_KEY")
      const token = as(`Bearer ${support.token}`)
      assert.strictEqual(outcomeOf(yield* staffCall("POST", path, bad, token)), "INSUFFICIENT_SCOPE")
      assert.strictEqual(outcomeOf(yield* staffCall("POST", path, { amount: 5, reason: "x" })), "NOT_FOUND")
    }))

  it.effect("4.2 a registration: invalid fields and taken values are refused before an excluded identity", () =>
    Effect.gen(function*() {
      const casino = yield* SharedCasino
      const person = { first_name: "Eva", last_name: "Gone", birth_date: "1980-01-02" }
      const taken = yield* casino.register(person)
      dataOf(yield* casino.exclude(taken.id, { period: "6_months" }))
      const again = { ...registration(fresh("again")), ...person }
      const bad = yield* casino.post("/players", { ...again, country: "XX", username: taken.username })
      assertRefused(bad, 422, "VALIDATION_FAILED")
      assert.hasAllKeys(bad.details, ["country", "username"])
      assertRefused(yield* casino.post("/players", again), 422, "SELF_EXCLUDED_IDENTITY")
    }))
})
