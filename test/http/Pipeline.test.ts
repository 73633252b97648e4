import { assert, layer } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { SqlClient } from "effect/sql"
import { layerEdgeServer, portOf, Probe, providerBet, providerWin } from "../kit/EdgeServer.ts"
import {
  type Call,
  type Reply,
  send,
  signedCall as call,
  type SignedCall,
  signedHeaders,
  type Signer,
  unixSeconds
} from "../kit/HttpCalls.ts"
import { addApiKey, addProvider, type KeyOptions } from "../kit/Keys.ts"
import { addOperator } from "../kit/TestService.ts"

// Goal: every check of the pipeline refuses bad requests, in the documented order, and no request
// ends in a 500. Method: real HTTP against the pipeline around handlers that only count and follow the path.

const Live = layerEdgeServer({ trustProxy: ["127.0.0.0/8"] })

let count = 0
const unique = (prefix: string) => `${prefix}${(count++).toString(36)}`

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
  it.effect("a timestamp that is not a whole number of seconds is refused", () =>
    Effect.gen(function*() {
      const key = yield* newKey()
      const now = yield* unixSeconds
      const port = yield* portOf
      for (const text of ["now", `${now}.5`, `${now * 1000}`, "-1", "1e9", "99999999999999999999", "0x10"]) {
        const headers = { ...signedHeaders(key, "/api/v1/operator/open", { timestamp: now }), "X-Timestamp": text }
        assertRefused(yield* send(port, "/api/v1/operator/open", { headers }), 401, "TIMESTAMP_OUT_OF_RANGE")
      }
    }))

  it.effect("an allowlist takes IPv4 and IPv6 addresses and ranges, and is compared with the client address that a trusted proxy reports", () =>
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

  it.effect("requests over the rate limit write nothing to the database", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const key = yield* newKey({ rateLimit: 1 })
      yield* call(key, "/api/v1/operator/open")
      const signatures = Effect.map(sql`SELECT 1 FROM accepted_signatures`, (rows) => rows.length)
      const before = yield* signatures
      assertRefused(yield* call(key, "/api/v1/operator/open"), 429, "RATE_LIMITED")
      assert.strictEqual(yield* signatures, before)
    }))

  it.effect("every invalid field is reported at once, with its dotted path and a readable message", () =>
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

  it.effect("query parameters are checked in the same way as bodies", () =>
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
        ["page=x&utm_source=1&page=", "must be sent once"]
      ] as const
      for (const [query, message] of wrong) {
        const bad = yield* call(key, `/api/v1/operator/list?${query}`)
        assertRefused(bad, 422, "VALIDATION_FAILED")
        assert.deepStrictEqual(bad.details, { page: [message] }, query)
      }
      for (
        const unknown of [
          "unknown=x",
          "unknown=1&unknown=2",
          "page[]=x",
          "page[a]=x",
          "Page=x",
          "=1",
          "%"
        ]
      ) {
        const bad = yield* call(key, `/api/v1/operator/list?page=0&${unknown}`)
        assertRefused(bad, 422, "VALIDATION_FAILED")
        assert.deepStrictEqual(Object.keys(bad.details ?? {}), ["page", unknown.split("=")[0]], unknown)
      }
      for (const ignored of ["", "&&", "=", "_=1", "UTM_source=1&utm_source=2", "x-b3-traceid=1"]) {
        const fine = yield* call(key, `/api/v1/operator/list?page=3&${ignored}`)
        assert.include(fine.text, "\"body\":{\"page\":3,\"per_page\":25}", ignored)
      }
    }))

  it.effect("a body over 256 KiB is refused, by its declared length or while it is read", () =>
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

  it.effect("a defect is answered SERVER_ERROR without internal details", () =>
    Effect.gen(function*() {
      const key = yield* newKey()
      for (
        const reply of [
          yield* call(key, "/api/v1/operator/act/die", { method: "POST", headers: { "X-Request-Id": "mine" } }),
          yield* call(key, "/api/v1/operator/look/die", { headers: { "X-Request-Id": "mine" } }),
          yield* call(key, "/api/v1/operator/wrong", { headers: { "X-Request-Id": "mine" } })
        ]
      ) {
        assertRefused(reply, 500, "SERVER_ERROR")
        assert.strictEqual(reply.headers["x-request-id"], "mine")
        assert.notInclude(reply.text, "secret detail")
        assert.deepStrictEqual(reply.details, {})
        assert.strictEqual(reply.headers["x-ratelimit-limit"], "600")
      }
    }))

  it.effect("HEAD is signed as HEAD, and answered like GET without a body", () =>
    Effect.gen(function*() {
      const key = yield* newKey()
      const reply = yield* call(key, "/api/v1/operator/open", { method: "HEAD" })
      assert.strictEqual(reply.status, 200)
      assert.strictEqual(reply.text, "")
      const wrong = yield* call(key, "/api/v1/operator/orders", { method: "HEAD" })
      assert.strictEqual(wrong.status, 405)
      assert.strictEqual(wrong.headers["allow"], "POST")
    }))

  it.effect("a POST or PUT continues when its caller disconnects, and a GET is interrupted", () =>
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
        // the server has noticed the caller's disconnect once it has answered others since
        yield* Effect.forEach([1, 2, 3], () => call(key, "/api/v1/operator/open"))
        yield* Deferred.succeed(probe.gate, undefined)
        yield* Effect.yieldNow.pipe(Effect.repeat({ until: () => probe.ended.length > 0 }))
        assert.deepStrictEqual([probe.ended, probe.interrupted], [["wait"], []])
      }
    }))
})

layer(Live)("provider requests", (it) => {
  const base = "/api/v1/provider/wallet"
  const bet = `${base}/bet`
  const order = providerBet("b-1")

  const assertTold = (reply: Reply, status: number, code: string, retry: string) => {
    assertRefused(reply, status, code)
    assert.strictEqual(reply.details["retry"], retry, reply.text)
  }

  it.effect("are accepted again with the same signature, and have no rate limit", () =>
    Effect.gen(function*() {
      const provider = yield* addProvider(unique("p"))
      for (let times = 0; times < 3; times++) {
        const reply = yield* call(provider, bet, { body: order, nonce: "same" })
        assert.strictEqual(reply.status, 200, reply.text)
        assert.isUndefined(reply.headers["x-ratelimit-limit"])
      }
    }))

  it.effect("go through the same checks as operator requests, and each refusal contains retry advice", () =>
    Effect.gen(function*() {
      const provider = yield* addProvider(unique("p"), ["203.0.113.9"])
      const port = yield* portOf
      const timestamp = yield* unixSeconds
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
      const text = { ...headers, "Content-Type": "text/plain" }
      assertTold(yield* call(provider, bet, { body: order, headers: text }), 422, "INVALID_REQUEST", "never")
      const invalid = yield* call(provider, bet, { body: { request_id: "a" }, headers })
      assertTold(invalid, 422, "VALIDATION_FAILED", "never")
      assert.deepStrictEqual(invalid.details["amount"], ["is required"])
      assertTold(yield* call(provider, bet, { raw: "x".repeat(300_000), headers }), 413, "INVALID_REQUEST", "never")
      assertTold(
        yield* call(provider, `${base}/transactions/${"x".repeat(3000)}`, { headers }),
        404,
        "NOT_FOUND",
        "never"
      )
      assert.strictEqual((yield* call(provider, bet, { body: order, headers })).status, 200)
    }))

  it.effect("with an unknown outcome are answered with the advice to roll back a bet, and to repeat any other message", () =>
    Effect.gen(function*() {
      const provider = yield* addProvider(unique("p"))
      const place = (id: string) => call(provider, bet, { body: providerBet(id) })
      const pay = (id: string) => call(provider, `${base}/win`, { body: providerWin(id) })
      assertTold(yield* place("die"), 500, "SERVER_ERROR", "rollback")
      assertTold(yield* pay("die"), 500, "SERVER_ERROR", "same_request")
      const busy = yield* place("again")
      assertTold(busy, 503, "TRY_AGAIN", "rollback")
      assert.strictEqual(busy.headers["retry-after"], "1")
      assertTold(yield* pay("again"), 503, "TRY_AGAIN", "same_request")
      assertTold(yield* place("limit"), 422, "LIMIT_EXCEEDED", "never")
    }))

  it.effect("to unknown paths and methods are refused in the same error format", () =>
    Effect.gen(function*() {
      const port = yield* portOf
      for (const path of ["/api/v1/provider/nothing", `${base}/nothing`, `${base}/bet/more`, `${base}//bet`, base]) {
        assertTold(yield* send(port, path, { method: "POST" }), 404, "NOT_FOUND", "never")
      }
      const otherMethod = yield* send(port, bet)
      assertTold(otherMethod, 405, "METHOD_NOT_ALLOWED", "never")
      assert.strictEqual(otherMethod.headers["allow"], "POST")
      const status = yield* send(port, `${base}/transactions/1`, { method: "POST" })
      assert.strictEqual(status.headers["allow"], "GET, HEAD")
    }))

  it.effect("may come in any form that HTTP allows: chunked, expecting 100 Continue, percent-encoded path", () =>
    Effect.gen(function*() {
      const provider = yield* addProvider(unique("p"))
      for (const path of [`${bet}?id=1`, `${bet}/`, `${base}/b%65t`]) {
        assert.strictEqual((yield* call(provider, path, { body: order })).status, 200, path)
      }
      const port = yield* portOf
      const timestamp = yield* unixSeconds
      const raw = JSON.stringify(order)
      const signed = signedHeaders(provider, bet, { timestamp, raw, method: "POST" })
      for (const headers of [{ expect: "100-continue" }, { "transfer-encoding": "chunked" }, { upgrade: "h2c" }]) {
        const reply = yield* send(port, bet, { method: "POST", raw, headers: { ...signed, ...headers } })
        assert.strictEqual(reply.status, 200, JSON.stringify(headers) + reply.text)
      }
      const path = `${base}/transactions/1`
      const head = yield* send(port, path, {
        method: "HEAD",
        headers: signedHeaders(provider, path, { timestamp, method: "HEAD" })
      })
      assert.deepStrictEqual([head.status, head.text], [200, ""])
    }))

  // Goal: a disabled provider can settle its open rounds; the refusal of its bets is tested in
  // spec/money.test.ts. Method: its request passes every check.
  it.effect("are accepted from a disabled provider", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const provider = yield* addProvider(unique("p"))
      yield* sql`UPDATE providers SET active = false WHERE id = ${provider.id}`
      assert.strictEqual((yield* call(provider, bet, { body: order })).status, 200)
    }))

  it.effect("may have any text of limited length as an id in the path", () =>
    Effect.gen(function*() {
      const provider = yield* addProvider(unique("p"))
      const look = (id: string) => call(provider, `${base}/transactions/${id}`)
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
