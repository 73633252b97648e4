import { assert, layer } from "@effect/vitest"
import { Clock, Effect } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { Credentials } from "../../src/auth/Credentials.ts"
import { portOf } from "../kit/E2eServer.ts"
import { send } from "../kit/HttpCalls.ts"
import { addApiKey } from "../kit/Keys.ts"
import {
  assertRefused,
  call,
  dataOf,
  deposit,
  issueToken,
  layerPublicApi,
  noon,
  openGame,
  openOperator,
  playerCall,
  register
} from "../kit/PublicApi.ts"

// Goal: a player session token opens exactly what SPEC sections 4.9 and 5.4 say, for exactly as long. Method: tokens issued over the API,
// used over real HTTP; what ends one is done as operators and staff do it.

const endpoints = [["GET", "/me"], ["GET", "/wallet"], ["GET", "/transactions"], ["POST", "/games/1/launch"]] as const

/** That nothing opens for the token any more. */
const assertDead = Effect.fnUntraced(function*(token: string) {
  for (const [method, path] of endpoints) {
    assertRefused(yield* playerCall(token, path, { method }), 401, "INVALID_PLAYER_TOKEN", {})
  }
})

layer(layerPublicApi)("SPEC 4.9 player session endpoints", (it) => {
  it.effect("give the token's player, wallet and ledger", () =>
    Effect.gen(function*() {
      const { key } = yield* openOperator("front")
      const player = yield* register(key, "ada")
      yield* register(key, "other")
      for (const amount of [100, 200, 300]) yield* deposit(key, player.id, amount)
      const token = yield* issueToken(key, player.id)
      assert.deepStrictEqual(dataOf(yield* playerCall(token, "/me")), { ...player, last_login_at: noon })
      assert.deepStrictEqual(dataOf(yield* playerCall(token, "/wallet")), {
        player_id: player.id,
        currency: "EUR",
        balance: 600,
        bonus_balance: 0
      })
      const mine = yield* playerCall(token, "/transactions?per_page=2&page=2")
      const theirs = yield* call(key, `/players/${player.id}/transactions?per_page=2&page=2`)
      assert.deepStrictEqual(dataOf(mine), dataOf(theirs))
      assert.deepStrictEqual(Object(mine.json).meta, Object(theirs.json).meta)
      assert.strictEqual(Object(mine.json).links.prev, "/api/v1/player/transactions?per_page=2&page=1")
      assertRefused(yield* playerCall(token, "/transactions?per_page=101"), 422, "VALIDATION_FAILED")
      const unknown = yield* playerCall(token, "/nothing")
      assertRefused(unknown, 404, "NOT_FOUND")
      assertRefused(yield* playerCall(token, "/me", { method: "POST", body: {} }), 405, "METHOD_NOT_ALLOWED")
    }))

  it.effect("launch games, whose sessions take bets", () =>
    Effect.gen(function*() {
      const { key } = yield* openOperator("launching")
      const game = yield* openGame("launching")
      const player = yield* register(key, "ada")
      yield* deposit(key, player.id, 1000)
      const token = yield* issueToken(key, player.id)
      const launched = dataOf(yield* playerCall(token, `/games/${game.id}/launch`, { method: "POST" }))
      assert.deepInclude(launched, {
        mode: "real",
        game_id: game.id,
        expires_at: "2026-11-21T00:00:00.000Z",
        is_original: false
      })
      assert.include(launched.launch_url, encodeURIComponent(launched.session_token))
      dataOf(yield* game.bet(launched.session_token, 400))
      assert.strictEqual(dataOf(yield* playerCall(token, "/wallet")).balance, 600)

      const demo = dataOf(
        yield* playerCall(token, `/games/${game.id}/launch`, { body: { mode: "demo", platform: "ios" } })
      )
      assert.strictEqual(demo.mode, "demo")
      const launch = (path: string, body: unknown) => playerCall(token, path, { body })
      assertRefused(yield* launch(`/games/${game.id}/launch`, { mode: "fun" }), 422, "VALIDATION_FAILED")
      assertRefused(yield* launch("/games/999999999/launch", {}), 404, "NOT_FOUND")
      assertRefused(yield* launch("/games/999999999/launch", { mode: "fun" }), 404, "NOT_FOUND")
      assertRefused(yield* launch("/games/x/launch", {}), 404, "NOT_FOUND")
      assertRefused(yield* playerCall(token, `/games/${game.id}/launch`, { raw: "{" }), 422, "INVALID_REQUEST")
    }))

  it.effect("keep idempotency keys per player", () =>
    Effect.gen(function*() {
      const { key } = yield* openOperator("keyed")
      const game = yield* openGame("keyed")
      const path = `/games/${game.id}/launch`
      const headers = { "Idempotency-Key": "one" }
      const [ada, bob] = [(yield* register(key, "ada")).id, (yield* register(key, "bob")).id]
      const first = yield* playerCall(yield* issueToken(key, ada), path, { body: {}, headers })
      assert.strictEqual(first.status, 200, first.text)
      // another token is the same player
      const again = yield* playerCall(yield* issueToken(key, ada), path, { body: {}, headers })
      assert.deepStrictEqual([again.text, again.headers["idempotent-replayed"]], [first.text, "true"])
      const other = yield* playerCall(yield* issueToken(key, bob), path, { body: {}, headers })
      assert.isUndefined(other.headers["idempotent-replayed"])
      assert.notStrictEqual(dataOf(other).session_token, dataOf(first).session_token)
      const reused = yield* playerCall(yield* issueToken(key, ada), path, { body: { mode: "demo" }, headers })
      assertRefused(reused, 422, "IDEMPOTENCY_KEY_REUSED")
      const long = { "Idempotency-Key": "x".repeat(256) }
      assertRefused(
        yield* playerCall(yield* issueToken(key, ada), path, { body: {}, headers: long }),
        422,
        "INVALID_IDEMPOTENCY_KEY"
      )
    }))

  it.effect("belong to features of the operator", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { key, operator } = yield* openOperator("turnkey")
      const game = yield* openGame("turnkey")
      const player = yield* register(key, "ada")
      const token = yield* issueToken(key, player.id)
      yield* sql`UPDATE operators SET cooperation_model = 'turnkey', disabled_features = '{games}' WHERE id = ${operator.id}`
      ;(yield* Credentials).invalidate()
      const refused = yield* playerCall(token, `/games/${game.id}/launch`, { body: {} })
      assertRefused(refused, 403, "FEATURE_NOT_AVAILABLE", { feature: "games" })
      dataOf(yield* playerCall(token, "/me"))
    }))
})

layer(layerPublicApi)("SPEC 5.4 player session tokens", (it) => {
  it.effect("are taken only as they were issued", () =>
    Effect.gen(function*() {
      const { key } = yield* openOperator("forged")
      const player = yield* register(key, "ada")
      const token = yield* issueToken(key, player.id)
      const flipped = (at: number) => `${token.slice(0, at)}${token[at] === "A" ? "B" : "A"}${token.slice(at + 1)}`
      const wrong = [
        "",
        "pt_",
        "x",
        token.slice(3),
        `${token}A`,
        token.slice(0, -1),
        flipped(20),
        flipped(60),
        flipped(token.length - 3)
      ]
      for (const other of wrong) yield* assertDead(other)
      for (const authorization of ["", token, `Basic ${token}`, `Bearer ${token} ${token}`]) {
        assertRefused(yield* playerCall(token, "/me", { headers: { authorization } }), 401, "INVALID_PLAYER_TOKEN")
      }
      dataOf(yield* playerCall(token, "/me"))
      dataOf(yield* playerCall(token, "/me", { headers: { authorization: `bearer   ${token}` } }))
    }))

  it.effect("open nothing of operators, and signatures open nothing of players", () =>
    Effect.gen(function*() {
      const { key } = yield* openOperator("apart")
      const player = yield* register(key, "ada")
      const token = yield* issueToken(key, player.id)
      const headers = { authorization: `Bearer ${token}` }
      const asOperator = yield* send(yield* portOf, `/api/v1/operator/players/${player.id}`, { headers })
      assertRefused(asOperator, 401, "MISSING_CREDENTIALS")
      assertRefused(yield* call(key, "/api/v1/player/me"), 401, "INVALID_PLAYER_TOKEN")
    }))

  it.effect("end at their expiry, to the millisecond", () =>
    Effect.gen(function*() {
      const { key } = yield* openOperator("expiring")
      const player = yield* register(key, "ada")
      const token = yield* issueToken(key, player.id, { ttl_minutes: 1 })
      yield* TestClock.adjust("59999 millis")
      dataOf(yield* playerCall(token, "/me"))
      yield* TestClock.adjust("1 millis")
      yield* assertDead(token)
    }))

  it.effect("end when the issuing key is revoked or expires, or its operator is switched off; another key's go on", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const credentials = yield* Credentials
      const { key, operator } = yield* openOperator("revoking")
      const player = yield* register(key, "ada")
      const other = yield* addApiKey(operator.id)
      const [token, kept] = [yield* issueToken(key, player.id), yield* issueToken(other, player.id)]
      const works = Effect.fnUntraced(function*() {
        credentials.invalidate()
        return (yield* playerCall(token, "/me")).status === 200
      })
      assert.isTrue(yield* works())
      yield* sql`UPDATE api_keys SET expires_at = ${"2026-11-20T12:00:00Z"} WHERE id = ${key.id}`
      assert.isFalse(yield* works())
      yield* sql`UPDATE api_keys SET expires_at = NULL WHERE id = ${key.id}`
      yield* sql`UPDATE operators SET active = false WHERE id = ${operator.id}`
      assert.isFalse(yield* works())
      yield* sql`UPDATE operators SET active = true WHERE id = ${operator.id}`
      assert.isTrue(yield* works())
      yield* sql`UPDATE api_keys SET revoked_at = now() WHERE id = ${key.id}`
      assert.isFalse(yield* works())
      yield* assertDead(token)
      dataOf(yield* playerCall(kept, "/me"))
    }))

  it.effect("count against the rate of the issuing key, and say how it stands", () =>
    Effect.gen(function*() {
      const { key } = yield* openOperator("counted", { rateLimit: 6 })
      const player = yield* register(key, "ada") // 1
      const token = yield* issueToken(key, player.id) // 2
      const me = yield* playerCall(token, "/me") // 3
      assert.deepStrictEqual([me.headers["x-ratelimit-limit"], me.headers["x-ratelimit-remaining"]], ["6", "3"])
      // what the token does not open is not counted, what its request lacks is
      yield* playerCall("pt_nothing", "/me")
      const missing = yield* playerCall(token, "/games/999999999/launch", { method: "POST" }) // 4
      assert.deepStrictEqual([missing.status, missing.headers["x-ratelimit-remaining"]], [404, "2"])
      assert.strictEqual((yield* call(key, `/players/${player.id}`)).headers["x-ratelimit-remaining"], "1") // 5
      dataOf(yield* playerCall(token, "/wallet")) // 6
      yield* TestClock.adjust("20 seconds")
      const over = yield* playerCall(token, "/me")
      assertRefused(over, 429, "RATE_LIMITED")
      assert.strictEqual(over.headers["retry-after"], "40")
      assert.strictEqual((yield* call(key, `/players/${player.id}`)).code, "RATE_LIMITED")
      yield* TestClock.adjust("40 seconds")
      dataOf(yield* playerCall(token, "/me"))
    }))

  it.effect("say when the player last came: at an issue, to the minute, and at nothing else", () =>
    Effect.gen(function*() {
      const { key } = yield* openOperator("logins")
      const game = yield* openGame("logins")
      const player = yield* register(key, "ada")
      const other = yield* register(key, "bob")
      const begun = yield* Clock.currentTimeMillis
      const after = (ms: number) => new Date(begun + ms).toISOString()
      const shown = Effect.gen(function*() {
        const shown = dataOf(yield* call(key, `/players/${player.id}`))
        assert.deepStrictEqual({ ...shown, last_login_at: null }, player)
        return shown.last_login_at
      })
      assert.isNull(yield* shown)
      const headers = { "Idempotency-Key": "login" }
      const first = yield* call(key, `/players/${player.id}/session-tokens`, { body: {}, headers })
      const { token } = dataOf(first, 201)
      assert.strictEqual(yield* shown, after(0))
      yield* TestClock.adjust("59999 millis")
      yield* issueToken(key, player.id)
      assert.strictEqual(yield* shown, after(0))
      yield* TestClock.adjust("1 millis")
      // not by using a token, a replayed answer, a launch, or a token that is refused
      dataOf(yield* playerCall(token, "/me"))
      dataOf(yield* playerCall(token, `/games/${game.id}/launch`, { body: {} }))
      yield* call(key, `/players/${player.id}/session-tokens`, { body: {}, headers })
      dataOf(yield* call(key, `/players/${player.id}/games/${game.id}/launch`, { body: {} }))
      assertRefused(
        yield* call(key, `/players/${player.id}/session-tokens`, { body: { ttl_minutes: 0 } }),
        422,
        "VALIDATION_FAILED"
      )
      assert.strictEqual(yield* shown, after(0))
      yield* issueToken(key, player.id)
      assert.strictEqual(yield* shown, after(60_000))
      assert.deepStrictEqual(dataOf(yield* call(key, `/players/${other.id}`)), other)
    }))

  // The allowlist says where the operator's servers are; a player's browser is elsewhere.
  it.effect("work from any address, whatever the key's own list says", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { key } = yield* openOperator("elsewhere")
      const player = yield* register(key, "ada")
      const token = yield* issueToken(key, player.id)
      yield* sql`UPDATE api_keys SET ip_allowlist = '{203.0.113.7}' WHERE id = ${key.id}`
      ;(yield* Credentials).invalidate()
      assert.strictEqual((yield* call(key, `/players/${player.id}`)).code, "IP_NOT_ALLOWED")
      dataOf(yield* playerCall(token, "/me"))
    }))

  it.effect("stop when an exclusion starts and stay stopped when it is over; new ones work then", () =>
    Effect.gen(function*() {
      const { key } = yield* openOperator("excluded")
      const player = yield* register(key, "ada")
      const token = yield* issueToken(key, player.id, { ttl_minutes: 720 })
      dataOf(yield* playerCall(token, "/me"))
      const until = "2026-11-20T18:00:00Z"
      const issue = () => call(key, `/players/${player.id}/session-tokens`, { body: {} })
      dataOf(yield* call(key, `/players/${player.id}/self-exclusion`, { body: { until } }))
      yield* assertDead(token)
      assertRefused(yield* issue(), 422, "PLAYER_RESTRICTED", { reason: "time_out" })
      yield* TestClock.setTime(Date.parse(until))
      yield* assertDead(token)
      dataOf(yield* playerCall(dataOf(yield* issue(), 201).token, "/me"))
    }))

  it.effect("end with a lock, and do not come back when the account is opened again", () =>
    Effect.gen(function*() {
      const { key } = yield* openOperator("locked")
      const game = yield* openGame("locked")
      const player = yield* register(key, "ada")
      const token = yield* issueToken(key, player.id)
      dataOf(yield* call(key, `/players/${player.id}/status`, { method: "PUT", body: { status: "locked" } }))
      yield* assertDead(token)
      assertRefused(yield* playerCall(token, `/games/${game.id}/launch`, { body: {} }), 401, "INVALID_PLAYER_TOKEN")
      dataOf(yield* call(key, `/players/${player.id}/status`, { method: "PUT", body: { status: "active" } }))
      yield* assertDead(token)
      dataOf(yield* playerCall(yield* issueToken(key, player.id), "/me"))
    }))
})
