import { assert, layer } from "@effect/vitest"
import { Clock, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { Credentials } from "../../src/auth/Credentials.ts"
import { restrictStep } from "../../src/domain/player/AccountStatus.ts"
import { PlayerActors } from "../../src/store/PlayerActors.ts"
import { Calendar, goTo, hourMs, minuteMs, pass } from "../kit/Calendar.ts"
import { assertRefused, dataOf, deposit, issueToken, openCasinoInRows, registered } from "../kit/Casino.ts"
import { layerE2eServer } from "../kit/E2eServer.ts"
import {
  browserCall,
  type Caller,
  callerOf,
  portOf,
  type Reply,
  send,
  signedCall,
  type Signer
} from "../kit/HttpCalls.ts"
import { noon } from "../kit/Noon.ts"
import { addApiKey } from "../kit/Keys.ts"

// Goal: a player session token opens the endpoints of SPEC sections 4.9 and 5.4, for their lifetimes. Method: for each event of a key, an
// operator, a player or time a token of one hour, then the answers to reading, launching and issuing another token; also, the
// player endpoints over HTTP.

interface Subject {
  readonly caller: Caller
  readonly key: Signer & { readonly id: number }
  readonly operatorId: number
  readonly playerId: number
}

const changed = Effect.flatMap(Credentials, (credentials) => credentials.invalidate())

const setKey = (column: string, value: Date | number) =>
  Effect.fnUntraced(function*({ key }: Subject) {
    const sql = yield* SqlClient.SqlClient
    yield* sql`UPDATE api_keys SET ${sql(column)} = ${value} WHERE id = ${key.id}`
    yield* changed
  })

const setStatus = (status: string) =>
  Effect.fnUntraced(function*({ key, playerId }: Subject) {
    dataOf(yield* signedCall(key, `/players/${playerId}/status`, { method: "PUT", body: { status } }))
  })

const exclude = (body: object) =>
  Effect.fnUntraced(function*({ key, playerId }: Subject) {
    dataOf(yield* signedCall(key, `/players/${playerId}/self-exclusion`, { body }))
  })

const restrict = (restrictions: { readonly canLogin?: boolean; readonly canBet?: boolean }) =>
  Effect.fnUntraced(function*({ playerId }: Subject) {
    yield* (yield* PlayerActors).ask(null, playerId, restrictStep({ restrictions, actor: "staff:1" }))
  })

const signOut = Effect.fnUntraced(function*({ key, playerId }: Subject) {
  const data = dataOf(yield* signedCall(key, `/players/${playerId}/session-tokens`, { method: "DELETE" }))
  assert.deepStrictEqual(data, { player_id: playerId, sessions_ended_at: noon })
})

const signOutByPlayer = Effect.fnUntraced(function*({ caller, playerId }: Subject) {
  const token = yield* issueToken(caller, playerId)
  dataOf(yield* browserCall(token, "/session-tokens", { method: "DELETE" }))
})

const inTurn = <E, R, E2, R2>(
  first: (subject: Subject) => Effect.Effect<void, E, R>,
  second: (subject: Subject) => Effect.Effect<void, E2, R2>
) =>
(subject: Subject) => Effect.andThen(first(subject), second(subject))

const dead = "401 INVALID_PLAYER_TOKEN"
const restricted = (reason: string) => `422 PLAYER_RESTRICTED ${reason}`

const said = ({ code, details: { reason }, status }: Reply): string =>
  [String(status), code, typeof reason === "string" ? reason : undefined].filter((part) => part !== undefined).join(" ")

const endpoints = [["GET", "/me"], ["GET", "/wallet"], ["GET", "/transactions"], ["POST", "/games/1/launch"]] as const

/** Asserts that the token opens nothing any more. */
const assertDead = Effect.fnUntraced(function*(token: string) {
  for (const [method, path] of endpoints) {
    assertRefused(yield* browserCall(token, path, { method }), 401, "INVALID_PLAYER_TOKEN", {})
  }
})

const byCalendar = layerE2eServer.pipe(Layer.provideMerge(Calendar.layer))

layer(byCalendar, { excludeTestServices: true })("SPEC 5.4 player session tokens", (it) => {
  const rows = [
    ["no change", () => Effect.void, "200", "200", "201"],
    ["almost its lifetime", () => pass(hourMs - 1), "200", "200", "201"],
    ["its lifetime", () => pass(hourMs), dead, dead, "201"],
    ["its key is revoked", setKey("revoked_at", new Date(noon)), dead, dead, "401 API_KEY_INACTIVE"],
    ["its key expires", setKey("expires_at", new Date(noon)), dead, dead, "401 API_KEY_INACTIVE"],
    ["its key will expire", setKey("expires_at", new Date("2026-11-20T12:00:01Z")), "200", "200", "201"],
    [
      "its operator is switched off",
      ({ operatorId }: Subject) =>
        Effect.flatMap(
          SqlClient.SqlClient,
          (sql) => Effect.andThen(sql`UPDATE operators SET active = false WHERE id = ${operatorId}`, changed)
        ),
      dead,
      dead,
      "401 API_KEY_INACTIVE"
    ],
    ["its key was rotated", setKey("rotated_at", new Date(noon)), dead, dead, "201"],
    ["its account is locked", setStatus("locked"), dead, dead, restricted("locked")],
    ["its account is closed", setStatus("closed"), dead, dead, restricted("closed")],
    ["its account was locked, and is open again", inTurn(setStatus("locked"), setStatus("active")), dead, dead, "201"],
    ["its account was closed, and is open again", inTurn(setStatus("closed"), setStatus("active")), dead, dead, "201"],
    ["its operator signs the player out", signOut, dead, dead, "201"],
    ["its player signs out everywhere", signOutByPlayer, dead, dead, "201"],
    ["its player takes a time-out", exclude({ period: "24_hours" }), dead, dead, restricted("time_out")],
    [
      "its player took a time-out, which is over",
      inTurn(exclude({ until: "2026-11-20T12:30:00Z" }), () => pass(30 * minuteMs)),
      dead,
      dead,
      "201"
    ],
    ["its player is excluded", exclude({ period: "6_months" }), dead, dead, restricted("self_exclusion")],
    [
      "its player closes the account",
      exclude({ until: "2027-11-20T12:00:00Z", type: "self_closure" }),
      dead,
      dead,
      restricted("self_closure")
    ],
    ["its player may not log in", restrict({ canLogin: false }), dead, dead, restricted("can_login")],
    [
      "its player could not log in, and can again",
      inTurn(restrict({ canLogin: false }), restrict({ canLogin: true })),
      dead,
      dead,
      "201"
    ],
    ["its player may not bet", restrict({ canBet: false }), "200", restricted("can_bet"), "201"],
    [
      "its key has no requests left",
      setKey("rate_limit_per_minute", 1),
      "429 RATE_LIMITED",
      "429 RATE_LIMITED",
      "429 RATE_LIMITED"
    ]
  ] as const

  for (const [index, [what, happens, reading, launching, another]] of rows.entries()) {
    it.effect(`5.4 a token after: ${what}: a read answers ${reading}, a launch ${launching}, a request for a token ${another}`, () =>
      Effect.gen(function*() {
        yield* goTo(noon)
        const { caller, key, operator, slots: game } = yield* openCasinoInRows(`row-${index}`)
        const { id } = yield* registered(caller, "ada")
        const token = yield* issueToken(caller, id, { ttl_minutes: 60 })
        yield* happens({ caller, key, operatorId: operator.id, playerId: id })
        const answers = [
          yield* browserCall(token, "/me"),
          yield* browserCall(token, "/wallet"),
          yield* browserCall(token, "/transactions"),
          yield* browserCall(token, `/games/${game.id}/launch`, { body: {} }),
          yield* signedCall(key, `/players/${id}/session-tokens`, { body: {} })
        ]
        assert.deepStrictEqual(answers.map(said), [reading, reading, reading, launching, another])
        for (const { headers, status } of answers) {
          assert.match(headers["content-type"] ?? "", /^application\/json/)
          assert.isDefined(headers["x-request-id"])
          assert.match(headers["x-ratelimit-limit"] ?? "", /^\d+$/)
          assert.match(headers["x-ratelimit-remaining"] ?? "", /^\d+$/)
          assert.strictEqual(headers["retry-after"] !== undefined, status === 429)
        }
      }))
  }

  it.effect("5.4 rule 4: a token's calls count against its issuing key alone; a refused token counts nowhere", () =>
    Effect.gen(function*() {
      const { caller, operator } = yield* openCasinoInRows("counts", { rateLimit: 100 })
      const other = yield* addApiKey(operator.id, { rateLimit: 50 })
      const { id } = yield* registered(caller, "ada") // 1
      const [mine, theirs] = [
        yield* issueToken(caller, id),
        yield* issueToken(callerOf(false, yield* portOf, other), id)
      ] // 2 and 1
      const left = (reply: Reply) => [reply.headers["x-ratelimit-limit"], reply.headers["x-ratelimit-remaining"]]
      assert.deepStrictEqual(left(yield* browserCall(mine, "/me")), ["100", "97"])
      assert.deepStrictEqual(left(yield* browserCall(theirs, "/me")), ["50", "48"])
      // a refused request counts; a refused token does not
      assert.deepStrictEqual(left(yield* browserCall(mine, "/transactions?page=0")), ["100", "96"])
      yield* pass(31 * minuteMs)
      assert.deepStrictEqual(left(yield* browserCall(mine, "/me")), ["100", "100"])
      const forged = yield* browserCall(`${mine}A`, "/me")
      assert.deepStrictEqual([said(forged), ...left(forged)], [dead, undefined, undefined])
      assert.isDefined(forged.headers["x-request-id"])
    }))

  it.effect("2.4 idempotency keys belong to the player, whatever the token", () =>
    Effect.gen(function*() {
      const { caller, slots: game } = yield* openCasinoInRows("keyed")
      const path = `/games/${game.id}/launch`
      const headers = { "Idempotency-Key": "one" }
      const [ada, bob] = [(yield* registered(caller, "ada")).id, (yield* registered(caller, "bob")).id]
      const first = yield* browserCall(yield* issueToken(caller, ada), path, { body: {}, headers })
      assert.strictEqual(first.status, 200, first.text)
      // another token counts for the same player
      const again = yield* browserCall(yield* issueToken(caller, ada), path, { body: {}, headers })
      assert.deepStrictEqual([again.text, again.headers["idempotent-replayed"]], [first.text, "true"])
      const other = yield* browserCall(yield* issueToken(caller, bob), path, { body: {}, headers })
      assert.isUndefined(other.headers["idempotent-replayed"])
      assert.notStrictEqual(dataOf(other).session_token, dataOf(first).session_token)
      const reused = yield* browserCall(yield* issueToken(caller, ada), path, { body: { mode: "demo" }, headers })
      assertRefused(reused, 422, "IDEMPOTENCY_KEY_REUSED")
      const long = { "Idempotency-Key": "x".repeat(256) }
      assertRefused(
        yield* browserCall(yield* issueToken(caller, ada), path, { body: {}, headers: long }),
        422,
        "INVALID_IDEMPOTENCY_KEY"
      )
    }))

  it.effect("5.4 a token is accepted only in exactly the form in which it was issued", () =>
    Effect.gen(function*() {
      const { caller } = yield* openCasinoInRows("forged")
      const player = yield* registered(caller, "ada")
      const token = yield* issueToken(caller, player.id)
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
        assertRefused(yield* browserCall(token, "/me", { headers: { authorization } }), 401, "INVALID_PLAYER_TOKEN")
      }
      dataOf(yield* browserCall(token, "/me"))
      dataOf(yield* browserCall(token, "/me", { headers: { authorization: `bearer   ${token}` } }))
    }))

  it.effect("5.4 a token opens no operator endpoint, a signature no player endpoint", () =>
    Effect.gen(function*() {
      const { caller, key } = yield* openCasinoInRows("apart")
      const player = yield* registered(caller, "ada")
      const token = yield* issueToken(caller, player.id)
      const headers = { authorization: `Bearer ${token}` }
      const asOperator = yield* send(yield* portOf, `/api/v1/operator/players/${player.id}`, { headers })
      assertRefused(asOperator, 401, "MISSING_CREDENTIALS")
      assertRefused(yield* signedCall(key, "/api/v1/player/me"), 401, "INVALID_PLAYER_TOKEN")
    }))

  it.effect("2.1 last_login_at: is set to the minute when a token is issued, and by nothing else", () =>
    Effect.gen(function*() {
      const { caller, key, slots: game } = yield* openCasinoInRows("logins")
      const player = yield* registered(caller, "ada")
      const other = yield* registered(caller, "bob")
      const begun = yield* Clock.currentTimeMillis
      const after = (ms: number) => new Date(begun + ms).toISOString()
      const shown = Effect.gen(function*() {
        const shown = dataOf(yield* signedCall(key, `/players/${player.id}`))
        assert.deepStrictEqual({ ...shown, last_login_at: null }, player)
        return shown.last_login_at
      })
      assert.isNull(yield* shown)
      const headers = { "Idempotency-Key": "login" }
      const first = yield* signedCall(key, `/players/${player.id}/session-tokens`, { body: {}, headers })
      const { token } = dataOf(first, 201)
      assert.strictEqual(yield* shown, after(0))
      yield* pass(minuteMs - 1)
      yield* issueToken(caller, player.id)
      assert.strictEqual(yield* shown, after(0))
      yield* pass(1)
      // not by using a token, a replayed answer, a launch, or a token that is refused
      dataOf(yield* browserCall(token, "/me"))
      dataOf(yield* browserCall(token, `/games/${game.id}/launch`, { body: {} }))
      yield* signedCall(key, `/players/${player.id}/session-tokens`, { body: {}, headers })
      dataOf(yield* signedCall(key, `/players/${player.id}/games/${game.id}/launch`, { body: {} }))
      assertRefused(
        yield* signedCall(key, `/players/${player.id}/session-tokens`, { body: { ttl_minutes: 0 } }),
        422,
        "VALIDATION_FAILED"
      )
      assert.strictEqual(yield* shown, after(0))
      yield* issueToken(caller, player.id)
      assert.strictEqual(yield* shown, after(60_000))
      assert.deepStrictEqual(dataOf(yield* signedCall(key, `/players/${other.id}`)), other)
    }))

  it.effect("5.4 a token works from any address, whatever the allowlist of its key", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { caller, key } = yield* openCasinoInRows("elsewhere")
      const player = yield* registered(caller, "ada")
      const token = yield* issueToken(caller, player.id)
      yield* sql`UPDATE api_keys SET ip_allowlist = '{203.0.113.7}' WHERE id = ${key.id}`
      yield* (yield* Credentials).invalidate()
      assert.strictEqual((yield* signedCall(key, `/players/${player.id}`)).code, "IP_NOT_ALLOWED")
      dataOf(yield* browserCall(token, "/me"))
    }))

  it.effect("4.9 the player endpoints: have their own paths and links, validate the launch body, and follow the operator's features", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { caller, operator, playOf, slots: game } = yield* openCasinoInRows("front")
      const player = yield* registered(caller, "ada")
      for (const amount of [100, 200, 300]) yield* deposit(caller, player.id, amount)
      const token = yield* issueToken(caller, player.id)
      const mine = yield* browserCall(token, "/transactions?per_page=2&page=2")
      assert.strictEqual(Object(mine.json).links.prev, "/api/v1/player/transactions?per_page=2&page=1")
      assertRefused(yield* browserCall(token, "/nothing"), 404, "NOT_FOUND")
      assertRefused(yield* browserCall(token, "/me", { method: "POST", body: {} }), 405, "METHOD_NOT_ALLOWED")
      const path = `/games/${game.id}/launch`
      const launched = dataOf(yield* browserCall(token, path, { method: "POST" }))
      assert.deepInclude(launched, { mode: "real", game_id: game.id, is_original: false })
      assert.include(launched.launch_url, encodeURIComponent(launched.session_token))
      dataOf(yield* playOf(launched.session_token, "").bet(400))
      assert.strictEqual(dataOf(yield* browserCall(token, "/wallet")).balance, 200)
      assert.strictEqual(dataOf(yield* browserCall(token, path, { body: { mode: "demo" } })).mode, "demo")
      assertRefused(yield* browserCall(token, path, { body: { mode: "fun" } }), 422, "VALIDATION_FAILED")
      assertRefused(yield* browserCall(token, path, { raw: "{" }), 422, "INVALID_REQUEST")
      for (const id of ["999999999", "x"]) {
        assertRefused(yield* browserCall(token, `/games/${id}/launch`, { body: { mode: "fun" } }), 404, "NOT_FOUND")
      }
      yield* sql`UPDATE operators SET cooperation_model = 'turnkey', disabled_features = '{games}' WHERE id = ${operator.id}`
      yield* changed
      assertRefused(yield* browserCall(token, path, { body: {} }), 403, "FEATURE_NOT_AVAILABLE", { feature: "games" })
      dataOf(yield* browserCall(token, "/me"))
    }))
})
