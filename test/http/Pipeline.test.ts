import { assert, layer } from "@effect/vitest"
import { Clock, Deferred, Effect, Fiber, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { Credentials } from "../../src/auth/Credentials.ts"
import { layerEdgeServer, portOf, Probe } from "../kit/EdgeServer.ts"
import {
  type Call,
  type Reply,
  send,
  sendSigned,
  type SignedCall,
  signedHeaders,
  type Signer
} from "../kit/HttpCalls.ts"
import { addApiKey, addProvider, type KeyOptions } from "../kit/Keys.ts"
import { addOperator } from "../kit/TestService.ts"

// Goal: every check of the pipeline refuses what it must, in the order that is promised, and nothing that a caller sends
// ends in a 500. Method: real HTTP against the pipeline around handlers that only count and obey.

const start = Date.parse("2026-11-20T12:00:00.000Z")
const AtNoon = Layer.effectDiscard(TestClock.setTime(start))
const Live = layerEdgeServer({ trustProxy: ["127.0.0.0/8"] }).pipe(Layer.provideMerge(AtNoon))

let count = 0
const unique = (prefix: string) => `${prefix}${(count++).toString(36)}`

const seconds = Effect.map(Clock.currentTimeMillis, (now) => Math.floor(now / 1000))

/** A signed call at the current time that no other call equals. */
const call = Effect.fnUntraced(function*(signer: Signer, path: string, options: Partial<SignedCall> = {}) {
  const port = yield* portOf
  return yield* sendSigned(port, signer, path, { timestamp: yield* seconds, nonce: unique("n"), ...options })
})

const newKey = Effect.fnUntraced(function*(options: KeyOptions = {}) {
  const operator = yield* addOperator(unique("op"))
  return { ...(yield* addApiKey(operator.id, options)), operator }
})

const order = { amount: 500, name: "one" }

const assertRefused = (reply: Reply, status: number, code: string) => {
  assert.strictEqual(`${reply.status} ${reply.code}`, `${status} ${code}`, reply.text)
  assert.isString(reply.headers["x-request-id"])
  assert.strictEqual(reply.headers["content-type"], "application/json")
}

layer(Live)("operator requests", (it) => {
  it.effect("a signed request comes through, once", () =>
    Effect.gen(function*() {
      const key = yield* newKey()
      const first = yield* call(key, "/api/v1/operator/open", { nonce: "same" })
      assert.strictEqual(first.status, 200, first.text)
      assertRefused(yield* call(key, "/api/v1/operator/open", { nonce: "same" }), 401, "REPLAYED_REQUEST")
      assert.strictEqual((yield* call(key, "/api/v1/operator/open", { nonce: "other" })).status, 200)
      yield* TestClock.adjust("1 second")
      assert.strictEqual((yield* call(key, "/api/v1/operator/open", { nonce: "same" })).status, 200)
    }))

  it.effect("the same bytes by another name of the same method and path are another signature", () =>
    Effect.gen(function*() {
      const key = yield* newKey()
      const port = yield* portOf
      const timestamp = yield* seconds
      const headers = signedHeaders(key, "/api/v1/operator/open?a=1", { timestamp })
      assertRefused(yield* send(port, "/api/v1/operator/open?a=2", { headers }), 401, "INVALID_SIGNATURE")
      assertRefused(yield* send(port, "/api/v1/operator/open", { headers }), 401, "INVALID_SIGNATURE")
      assertRefused(yield* send(port, "/api/v1/operator/open?a=%31", { headers }), 401, "INVALID_SIGNATURE")
      assert.strictEqual((yield* send(port, "/api/v1/operator/open?a=1", { headers })).status, 200)
    }))

  it.effect("checks come in their order, the first that fails is the answer", () =>
    Effect.gen(function*() {
      const operator = yield* addOperator(unique("op"))
      const good = yield* addApiKey(operator.id, { scopes: [], ipAllowlist: ["203.0.113.9"], rateLimit: 1 })
      const revoked = yield* addApiKey(operator.id, { revokedAt: new Date(start), ipAllowlist: ["203.0.113.9"] })
      const port = yield* portOf
      const path = "/api/v1/operator/list"
      const timestamp = yield* seconds
      const bad = { timestamp: timestamp - 301, nonce: "n".repeat(129) }
      const forge = (signer: Signer, options: SignedCall): Call => ({
        headers: { ...signedHeaders(signer, path, options), "X-Signature": "0".repeat(64) }
      })
      // each call mends what the one before was refused for
      assertRefused(yield* send(port, "/api/v1/operator/nowhere"), 404, "NOT_FOUND")
      const wrongMethod = yield* send(port, path, { method: "PATCH" })
      assertRefused(wrongMethod, 405, "METHOD_NOT_ALLOWED")
      assert.strictEqual(wrongMethod.headers["allow"], "GET, HEAD")
      assertRefused(yield* send(port, path), 401, "MISSING_CREDENTIALS")
      const unknown: Signer = { ...good, key: "pbk_live_nobody" }
      assertRefused(yield* send(port, path, forge(unknown, bad)), 401, "INVALID_API_KEY")
      assertRefused(yield* send(port, path, forge(revoked, bad)), 401, "API_KEY_INACTIVE")
      assertRefused(yield* send(port, path, forge(good, bad)), 401, "TIMESTAMP_OUT_OF_RANGE")
      assertRefused(yield* send(port, path, forge(good, { ...bad, timestamp })), 401, "INVALID_NONCE")
      assertRefused(yield* send(port, path, forge(good, { timestamp })), 401, "INVALID_SIGNATURE")
      const first = yield* sendSigned(port, good, path, { timestamp })
      assertRefused(first, 403, "IP_NOT_ALLOWED")
      assertRefused(yield* sendSigned(port, good, path, { timestamp }), 401, "REPLAYED_REQUEST")
      const from = { "X-Forwarded-For": "203.0.113.9" }
      const scopeless = yield* call(good, path, { headers: from })
      assertRefused(scopeless, 403, "INSUFFICIENT_SCOPE")
      assert.deepStrictEqual(scopeless.details, { required_scopes: ["reports:read"] })
      assertRefused(yield* call(good, path, { headers: from }), 429, "RATE_LIMITED")
    }))

  it.effect("credentials that are absent or empty are missing, whichever of the three", () =>
    Effect.gen(function*() {
      const key = yield* newKey()
      const port = yield* portOf
      const headers = signedHeaders(key, "/api/v1/operator/open", { timestamp: yield* seconds })
      for (const name of ["X-Api-Key", "X-Timestamp", "X-Signature"]) {
        const { [name]: _, ...rest } = headers
        assertRefused(yield* send(port, "/api/v1/operator/open", { headers: rest }), 401, "MISSING_CREDENTIALS")
        const empty = { ...headers, [name]: "" }
        assertRefused(yield* send(port, "/api/v1/operator/open", { headers: empty }), 401, "MISSING_CREDENTIALS")
      }
    }))

  it.effect("a timestamp counts up to 300 seconds off on either side, and only as whole seconds", () =>
    Effect.gen(function*() {
      const key = yield* newKey()
      const now = yield* seconds
      for (const off of [-300, 300]) {
        assert.strictEqual((yield* call(key, "/api/v1/operator/open", { timestamp: now + off })).status, 200)
      }
      for (const off of [-301, 301, 1e9]) {
        const reply = yield* call(key, "/api/v1/operator/open", { timestamp: now + off })
        assertRefused(reply, 401, "TIMESTAMP_OUT_OF_RANGE")
        assert.deepStrictEqual(reply.details, { server_time: "2026-11-20T12:00:01.000Z" })
      }
      const port = yield* portOf
      for (const text of ["now", `${now}.5`, `${now * 1000}`, "-1", "1e9", "99999999999999999999", "0x10"]) {
        const headers = { ...signedHeaders(key, "/api/v1/operator/open", { timestamp: now }), "X-Timestamp": text }
        assertRefused(yield* send(port, "/api/v1/operator/open", { headers }), 401, "TIMESTAMP_OUT_OF_RANGE")
      }
    }))

  it.effect("a signature is lower-case hex and nothing else", () =>
    Effect.gen(function*() {
      const key = yield* newKey()
      const port = yield* portOf
      const headers = signedHeaders(key, "/api/v1/operator/open", { timestamp: yield* seconds })
      const signature = headers["X-Signature"] ?? ""
      for (
        const text of [signature.toUpperCase(), signature.slice(1), `${signature}0`, ` ${signature.slice(0, 63)}g`, "x"]
      ) {
        const reply = yield* send(port, "/api/v1/operator/open", { headers: { ...headers, "X-Signature": text } })
        assertRefused(reply, 401, "INVALID_SIGNATURE")
      }
    }))

  it.effect("a nonce of 128 characters counts, and is part of what is signed", () =>
    Effect.gen(function*() {
      const key = yield* newKey()
      const port = yield* portOf
      assert.strictEqual((yield* call(key, "/api/v1/operator/open", { nonce: "n".repeat(128) })).status, 200)
      const headers = signedHeaders(key, "/api/v1/operator/open", { timestamp: yield* seconds, nonce: "a" })
      const swapped = { ...headers, "X-Nonce": "b" }
      assertRefused(yield* send(port, "/api/v1/operator/open", { headers: swapped }), 401, "INVALID_SIGNATURE")
    }))

  it.effect("keys end when revoked, at their expiry, and with their operator", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const credentials = yield* Credentials
      const expiring = yield* newKey({ expiresAt: new Date((yield* Clock.currentTimeMillis) + 10_000) })
      assert.strictEqual((yield* call(expiring, "/api/v1/operator/open")).status, 200)
      yield* TestClock.adjust("10 seconds")
      assertRefused(yield* call(expiring, "/api/v1/operator/open"), 401, "API_KEY_INACTIVE")

      const key = yield* newKey()
      assert.strictEqual((yield* call(key, "/api/v1/operator/open")).status, 200)
      yield* sql`UPDATE operators SET active = false WHERE id = ${key.operator.id}`
      credentials.invalidate()
      assertRefused(yield* call(key, "/api/v1/operator/open"), 401, "API_KEY_INACTIVE")
    }))

  it.effect("an allowlist takes addresses and ranges of both families, from behind a trusted proxy", () =>
    Effect.gen(function*() {
      const key = yield* newKey({ ipAllowlist: ["198.51.100.7", "10.1.0.0/16", "2001:db8::/32"] })
      const from = (address: string) =>
        Effect.map(
          call(key, "/api/v1/operator/open", { headers: { "X-Forwarded-For": address } }),
          ({ code, status }) => code ?? status
        )
      for (const address of ["198.51.100.7", "10.1.200.3", "2001:db8::17", "6.6.6.6, 10.1.0.1", "10.1.0.1:4711"]) {
        assert.strictEqual(yield* from(address), 200, address)
      }
      for (const address of ["198.51.100.8", "10.2.0.1", "2001:db9::1", "10.1.0.1, 6.6.6.6", "unknown", ""]) {
        assert.strictEqual(yield* from(address), "IP_NOT_ALLOWED", address)
      }
      assertRefused(yield* call(key, "/api/v1/operator/open"), 403, "IP_NOT_ALLOWED")
    }))

  it.effect("a key's requests are counted in a window that begins with the first, and every answer says so", () =>
    Effect.gen(function*() {
      const key = yield* newKey({ rateLimit: 2 })
      const standing = ({ headers }: Reply) => [headers["x-ratelimit-limit"], headers["x-ratelimit-remaining"]]
      assert.deepStrictEqual(standing(yield* call(key, "/api/v1/operator/open")), ["2", "1"])
      yield* TestClock.adjust("20500 millis")
      assert.deepStrictEqual(standing(yield* call(key, "/api/v1/operator/nowhere")), [undefined, undefined])
      assert.deepStrictEqual(standing(yield* call(key, "/api/v1/operator/open", { timestamp: 1 })), ["2", "1"])
      assert.deepStrictEqual(standing(yield* call(key, "/api/v1/operator/players/x/orders", { body: order })), [
        "2",
        "0"
      ])
      const limited = yield* call(key, "/api/v1/operator/open")
      assertRefused(limited, 429, "RATE_LIMITED")
      assert.deepStrictEqual(standing(limited), ["2", "0"])
      assert.strictEqual(limited.headers["retry-after"], "40")
      yield* TestClock.adjust("39 seconds")
      assert.strictEqual((yield* call(key, "/api/v1/operator/open")).headers["retry-after"], "1")
      yield* TestClock.adjust("500 millis")
      assert.deepStrictEqual(standing(yield* call(key, "/api/v1/operator/open")), ["2", "1"])
    }))

  it.effect("what is over the rate leaves no trace in the database", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const key = yield* newKey({ rateLimit: 1 })
      yield* call(key, "/api/v1/operator/open")
      const signatures = Effect.map(sql`SELECT 1 FROM accepted_signatures`, (rows) => rows.length)
      const before = yield* signatures
      assertRefused(yield* call(key, "/api/v1/operator/open"), 429, "RATE_LIMITED")
      assert.strictEqual(yield* signatures, before)
    }))

  it.effect("a feature that staff switched off is not available to a turnkey operator", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const key = yield* newKey()
      yield* sql`UPDATE operators SET disabled_features = '{reports}' WHERE id = ${key.operator.id}`
      assert.strictEqual((yield* call(key, "/api/v1/operator/list")).status, 200)
      yield* sql`UPDATE operators SET cooperation_model = 'turnkey' WHERE id = ${key.operator.id}`
      const credentials = yield* Credentials
      credentials.invalidate(key.key)
      const reply = yield* call(key, "/api/v1/operator/list")
      assertRefused(reply, 403, "FEATURE_NOT_AVAILABLE")
      assert.deepStrictEqual(reply.details, { feature: "reports" })
      assert.strictEqual((yield* call(key, "/api/v1/operator/open")).status, 200)
    }))

  it.effect("a body that is no JSON object is INVALID_REQUEST", () =>
    Effect.gen(function*() {
      const key = yield* newKey()
      for (
        const raw of [
          "{",
          "nope",
          "[]",
          "1",
          "\"text\"",
          "null",
          "{\"amount\":1,}",
          "\u0000",
          Buffer.from([0xff, 0xfe])
        ]
      ) {
        assertRefused(yield* call(key, "/api/v1/operator/orders", { raw }), 422, "INVALID_REQUEST")
      }
      assertRefused(yield* call(key, "/api/v1/operator/orders", { method: "POST" }), 422, "INVALID_REQUEST")
      const form = yield* call(key, "/api/v1/operator/orders", {
        raw: "amount=1",
        headers: { "content-type": "application/x-www-form-urlencoded" }
      })
      assertRefused(form, 422, "INVALID_REQUEST")
      const charset = yield* call(key, "/api/v1/operator/orders", {
        body: order,
        headers: { "content-type": "Application/JSON; charset=utf-8" }
      })
      assert.strictEqual(charset.status, 201, charset.text)
    }))

  it.effect("every bad field is named at once, with its dotted path and words for people", () =>
    Effect.gen(function*() {
      const key = yield* newKey()
      const reply = yield* call(key, "/api/v1/operator/orders", {
        body: {
          amount: 1.5,
          name: "a\u0000b",
          mode: "x",
          marketing: { email: "yes" },
          items: [{ id: 1 }, { id: "2" }],
          z: 1
        }
      })
      assertRefused(reply, 422, "VALIDATION_FAILED")
      assert.deepStrictEqual(reply.details, {
        amount: ["must be an integer in minor units"],
        name: ["must not contain control characters"],
        mode: ["must be one of: real, demo"],
        "marketing.email": ["must be true or false"],
        "items.1.id": ["must be a number"]
      })
      const empty = yield* call(key, "/api/v1/operator/orders", { body: {} })
      assert.deepStrictEqual(empty.details, { amount: ["is required"], name: ["is required"] })
      for (const amount of [0, -1, 9007199254740992, 1e300, null, "5", [], {}, true]) {
        const bad = yield* call(key, "/api/v1/operator/orders", { body: { ...order, amount } })
        assertRefused(bad, 422, "VALIDATION_FAILED")
        assert.deepStrictEqual(Object.keys(bad.details), ["amount"])
      }
      const huge = yield* call(key, "/api/v1/operator/orders", { raw: "{\"amount\":1e999,\"name\":\"a\"}" })
      assert.deepStrictEqual(Object.keys(huge.details), ["amount"])
      assert.strictEqual((yield* call(key, "/api/v1/operator/orders", { body: { ...order, extra: [] } })).status, 201)
    }))

  it.effect("query fields are checked the same way", () =>
    Effect.gen(function*() {
      const key = yield* newKey()
      const reply = yield* call(key, "/api/v1/operator/list?page=0&per_page=101")
      assertRefused(reply, 422, "VALIDATION_FAILED")
      assert.deepStrictEqual(reply.details, {
        page: ["must be between 1 and 1000000"],
        per_page: ["must be between 1 and 100"]
      })
      const [number, integer] = ["must be a number", "must be an integer"]
      const wrong = [
        ["page=", number],
        ["page", number],
        ["page=x", number],
        ["page=%", number],
        ["page=%00", number],
        ["page=%201", number],
        ["page=0x1", number],
        ["page=NaN", number],
        ["page=Infinity", number],
        ["page=1.5", integer],
        ["page=-1", "must be between 1 and 1000000"],
        ["page=1&page=2", "must be sent once"],
        ["page=1&page=1", "must be sent once"],
        ["page=x&unknown=1&page=", "must be sent once"]
      ] as const
      for (const [query, message] of wrong) {
        const bad = yield* call(key, `/api/v1/operator/list?${query}`)
        assertRefused(bad, 422, "VALIDATION_FAILED")
        assert.deepStrictEqual(bad.details, { page: [message] }, query)
      }
      for (
        const ignored of ["unknown=x", "unknown=1&unknown=2", "page[]=x", "page[a]=x", "Page=x", "", "&&", "=", "%"]
      ) {
        const fine = yield* call(key, `/api/v1/operator/list?page=3&${ignored}`)
        assert.include(fine.text, "\"body\":{\"page\":3,\"per_page\":25}", ignored)
      }
    }))

  it.effect("what a path names comes before what a body says", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const key = yield* newKey()
      yield* sql`INSERT INTO players (id, operator_id, username, email, first_name, last_name, birth_date, country,
          currency, terms_accepted_at, created_at, updated_at)
        VALUES (7, ${key.operator.id}, 'ada', 'ada@example.com', 'Ada', 'P', '1990-01-01', 'MT', 'EUR', now(), now(), now())`
      const other = yield* newKey()
      const bad = { body: { amount: 0 } }
      for (const id of ["x", "0", "-1", "01", "1.0", "99999999999999999999", "%00", "1%2F2", "9007199254740993"]) {
        assertRefused(yield* call(key, `/api/v1/operator/players/${id}/orders`, bad), 404, "NOT_FOUND")
      }
      assertRefused(yield* call(key, "/api/v1/operator/players/8/orders", bad), 404, "NOT_FOUND")
      assertRefused(yield* call(key, "/api/v1/operator/players/8/orders", { raw: "{" }), 404, "NOT_FOUND")
      assertRefused(yield* call(other, "/api/v1/operator/players/7/orders", bad), 404, "NOT_FOUND")
      assertRefused(yield* call(key, "/api/v1/operator/players/7/orders", bad), 422, "VALIDATION_FAILED")
      assertRefused(yield* call(key, "/api/v1/operator/players/7/orders", { raw: "{" }), 422, "INVALID_REQUEST")
      const text = { raw: "x", headers: { "content-type": "text/plain" } }
      assertRefused(yield* call(other, "/api/v1/operator/players/7/orders", text), 404, "NOT_FOUND")
      assertRefused(yield* call(key, "/api/v1/operator/players/7/orders", text), 422, "INVALID_REQUEST")
    }))

  it.effect("a body over 256 KiB is refused, told by its length or found out while reading", () =>
    Effect.gen(function*() {
      const key = yield* newKey()
      const fits = JSON.stringify({ ...order, pad: "" })
      const raw = (bytes: number) => JSON.stringify({ ...order, pad: "x".repeat(bytes - fits.length) })
      assert.strictEqual((yield* call(key, "/api/v1/operator/orders", { raw: raw(256 * 1024) })).status, 201)
      for (const bytes of [256 * 1024 + 1, 700 * 1024]) {
        assertRefused(yield* call(key, "/api/v1/operator/orders", { raw: raw(bytes) }), 413, "INVALID_REQUEST")
        const chunked = { "transfer-encoding": "chunked" }
        const reply = yield* call(key, "/api/v1/operator/orders", { raw: raw(bytes), headers: chunked })
        assertRefused(reply, 413, "INVALID_REQUEST")
        assert.strictEqual(reply.headers["x-ratelimit-limit"], "600")
      }
    }))

  it.effect("a defect is a SERVER_ERROR that tells nothing", () =>
    Effect.gen(function*() {
      const key = yield* newKey()
      for (
        const reply of [
          yield* call(key, "/api/v1/operator/act/die", { method: "POST" }),
          yield* call(key, "/api/v1/operator/look/die"),
          yield* call(key, "/api/v1/operator/wrong")
        ]
      ) {
        assertRefused(reply, 500, "SERVER_ERROR")
        assert.notInclude(reply.text, "secret detail")
        assert.deepStrictEqual(reply.details, {})
        assert.strictEqual(reply.headers["x-ratelimit-limit"], "600")
      }
    }))

  it.effect("a request id is kept when it is sane, made when it is not, and on every answer", () =>
    Effect.gen(function*() {
      const key = yield* newKey()
      const port = yield* portOf
      const idOf = (id: string, path = "/api/v1/operator/open") =>
        Effect.map(
          send(port, path, { headers: { "X-Request-Id": id } }),
          ({ headers }) => headers["x-request-id"] ?? ""
        )
      assert.strictEqual(yield* idOf("trace-1"), "trace-1")
      assert.strictEqual(yield* idOf("trace-2", "/nowhere"), "trace-2")
      assert.strictEqual(yield* idOf("x".repeat(128)), "x".repeat(128))
      for (const id of ["x".repeat(129), "with space", "tab\there", "ümlaut", ""]) {
        const made = yield* idOf(id)
        assert.notStrictEqual(made, id)
        assert.match(made, /^[\x21-\x7e]{1,128}$/)
      }
      const died = yield* call(key, "/api/v1/operator/act/die", { method: "POST", headers: { "X-Request-Id": "mine" } })
      assert.strictEqual(died.headers["x-request-id"], "mine")
      assert.notStrictEqual(yield* idOf(""), yield* idOf(""))
    }))

  it.effect("HEAD is answered like GET without a body, and its signature says HEAD", () =>
    Effect.gen(function*() {
      const key = yield* newKey()
      const reply = yield* call(key, "/api/v1/operator/open", { method: "HEAD" })
      assert.strictEqual(reply.status, 200)
      assert.strictEqual(reply.text, "")
      const wrong = yield* call(key, "/api/v1/operator/orders", { method: "HEAD" })
      assert.strictEqual(wrong.status, 405)
      assert.strictEqual(wrong.headers["allow"], "POST")
    }))

  it.effect("a POST goes on when its caller leaves, a GET stops", () =>
    Effect.gen(function*() {
      const key = yield* newKey()
      const probe = yield* Probe
      const begin = Effect.fnUntraced(function*(path: string, method: string) {
        probe.gate = Deferred.makeUnsafe()
        probe.arrived = Deferred.makeUnsafe()
        const fiber = yield* Effect.forkChild(call(key, path, { method }))
        yield* Deferred.await(probe.arrived)
        yield* Fiber.interrupt(fiber)
      })
      yield* begin("/api/v1/operator/look/wait", "GET")
      yield* Effect.yieldNow.pipe(Effect.repeat({ until: () => probe.interrupted.length > 0 }))
      assert.deepStrictEqual(probe.interrupted.splice(0), ["wait"])
      for (const [path, method] of [["act", "POST"], ["set", "PUT"]] as const) {
        probe.ended.length = 0
        yield* begin(`/api/v1/operator/${path}/wait`, method)
        // the server has seen the caller leave when it has answered others since
        yield* Effect.forEach([1, 2, 3], () => call(key, "/api/v1/operator/open"))
        yield* Deferred.succeed(probe.gate, undefined)
        yield* Effect.yieldNow.pipe(Effect.repeat({ until: () => probe.ended.length > 0 }))
        assert.deepStrictEqual([probe.ended, probe.interrupted], [["wait"], []])
      }
    }))
})

layer(Live)("provider requests", (it) => {
  const bet = "/api/v1/provider/bet"

  const assertTold = (reply: Reply, status: number, code: string, retry: string) => {
    assertRefused(reply, status, code)
    assert.strictEqual(reply.details["retry"], retry, reply.text)
  }

  it.effect("are accepted again and again, uncounted", () =>
    Effect.gen(function*() {
      const provider = yield* addProvider(unique("p"))
      for (let times = 0; times < 3; times++) {
        const reply = yield* call(provider, bet, { body: order, nonce: "same" })
        assert.strictEqual(reply.status, 200, reply.text)
        assert.isUndefined(reply.headers["x-ratelimit-limit"])
      }
    }))

  it.effect("pass the same checks, and are told what to do about each refusal", () =>
    Effect.gen(function*() {
      const provider = yield* addProvider(unique("p"), ["203.0.113.9"])
      const port = yield* portOf
      const timestamp = yield* seconds
      const forge = (signer: Signer, options: SignedCall): Call => ({
        body: order,
        headers: { ...signedHeaders(signer, bet, { ...options, body: order }), "X-Signature": "0".repeat(64) }
      })
      assertTold(yield* send(port, bet, { body: order }), 401, "MISSING_CREDENTIALS", "never")
      const operator = yield* newKey()
      assertTold(yield* call(operator, bet, { body: order }), 401, "MISSING_CREDENTIALS", "never")
      const bad = { timestamp: timestamp + 301, nonce: "n".repeat(129) }
      assertTold(
        yield* send(port, bet, forge({ ...provider, key: operator.key }, bad)),
        401,
        "INVALID_API_KEY",
        "never"
      )
      assertTold(yield* send(port, bet, forge(provider, bad)), 401, "TIMESTAMP_OUT_OF_RANGE", "never")
      assertTold(yield* send(port, bet, forge(provider, { ...bad, timestamp })), 401, "INVALID_NONCE", "never")
      assertTold(yield* send(port, bet, forge(provider, { timestamp })), 401, "INVALID_SIGNATURE", "never")
      assertTold(yield* call(provider, bet, { body: {} }), 403, "IP_NOT_ALLOWED", "never")
      const headers = { "X-Forwarded-For": "203.0.113.9" }
      assertTold(yield* call(provider, bet, { raw: "{", headers }), 422, "INVALID_REQUEST", "never")
      const invalid = yield* call(provider, bet, { body: { name: "a" }, headers })
      assertTold(invalid, 422, "VALIDATION_FAILED", "never")
      assert.deepStrictEqual(invalid.details["amount"], ["is required"])
      assertTold(yield* call(provider, bet, { raw: "x".repeat(300_000), headers }), 413, "INVALID_REQUEST", "never")
      assert.strictEqual((yield* call(provider, bet, { body: order, headers })).status, 200)
    }))

  it.effect("are told to take a bet back when nobody knows what became of it, and to repeat the rest", () =>
    Effect.gen(function*() {
      const provider = yield* addProvider(unique("p"))
      const post = (path: string) => call(provider, `/api/v1/provider/${path}`, { method: "POST" })
      assertTold(yield* post("act/die"), 500, "SERVER_ERROR", "rollback")
      assertTold(yield* post("settle/die"), 500, "SERVER_ERROR", "same_request")
      const busy = yield* post("act/again")
      assertTold(busy, 503, "TRY_AGAIN", "rollback")
      assert.strictEqual(busy.headers["retry-after"], "1")
      assertTold(yield* post("settle/again"), 503, "TRY_AGAIN", "same_request")
      assertTold(yield* post("settle/limit"), 422, "LIMIT_EXCEEDED", "never")
    }))

  it.effect("to paths and methods that are not there hear it in the same form", () =>
    Effect.gen(function*() {
      const port = yield* portOf
      assertTold(yield* send(port, "/api/v1/provider/nothing"), 404, "NOT_FOUND", "never")
      assertTold(yield* send(port, bet), 405, "METHOD_NOT_ALLOWED", "never")
    }))

  // Goal: a provider that is switched off can settle what it began; that its bets are refused is proved in
  // e2e/spec/money.test.ts. Method: it gets past every check of the request.
  it.effect("a provider that is switched off is let in", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const provider = yield* addProvider(unique("p"))
      yield* sql`UPDATE providers SET active = false WHERE id = ${provider.id}`
      assert.strictEqual((yield* call(provider, bet, { body: order })).status, 200)
    }))

  it.effect("an id in a path may be any text of sane length", () =>
    Effect.gen(function*() {
      const provider = yield* addProvider(unique("p"))
      const look = (id: string) => call(provider, `/api/v1/provider/transactions/${id}`)
      for (
        const id of ["a", "A-1_b.c~", "a;b", "a;b;c=d", "a#b", "a;b#c", "x".repeat(128), "%C3%BC%2F%3F%23", "a%20b"]
      ) {
        const reply = yield* look(id)
        assert.strictEqual(reply.status, 200, `${id} ${reply.text}`)
        assert.include(reply.text, JSON.stringify(decodeURIComponent(id)))
      }
      for (const id of ["x".repeat(129), "%00", "a%0Ab", "%E0%A4%A", "%ZZ", "%"]) {
        assertTold(yield* look(id), 404, "NOT_FOUND", "never")
      }
    }))
})
