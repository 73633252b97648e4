import { assert, layer } from "@effect/vitest"
import { Clock, Deferred, Effect, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import { layerEdgeServer, portOf, Probe } from "../kit/EdgeServer.ts"
import { type Reply, sendSigned, type SignedCall, type Signer } from "../kit/HttpCalls.ts"
import { addApiKey } from "../kit/Keys.ts"
import { addOperator } from "../kit/TestService.ts"

// Goal: what SPEC section 8 promises of idempotency keys, seen from outside. Method: signed POSTs whose handler counts how often
// it ran.

const AtNoon = Layer.effectDiscard(TestClock.setTime(Date.parse("2026-11-20T12:00:00.000Z")))
const Live = layerEdgeServer().pipe(Layer.provideMerge(AtNoon))

let count = 0
const unique = (prefix: string) => `${prefix}${(count++).toString(36)}`

const path = "/api/v1/operator/orders"
const order = { amount: 500, name: "one" }

const post = Effect.fnUntraced(function*(signer: Signer, key: string, path: string, options: Partial<SignedCall> = {}) {
  const port = yield* portOf
  const timestamp = Math.floor((yield* Clock.currentTimeMillis) / 1000)
  return yield* sendSigned(port, signer, path, {
    timestamp,
    nonce: unique("n"),
    method: "POST",
    ...options,
    headers: { "Idempotency-Key": key, ...options.headers }
  })
})

const newKey = Effect.flatMap(
  Effect.suspend(() => addOperator(unique("op"))),
  (operator) => Effect.map(addApiKey(operator.id), (key) => ({ ...key, operator }))
)

const isReplay = (reply: Reply) => reply.headers["idempotent-replayed"] === "true"

layer(Live)("idempotency keys", (it) => {
  it.effect("a retry gets the first answer, byte for byte and marked", () =>
    Effect.gen(function*() {
      const probe = yield* Probe
      const signer = yield* newKey
      const first = yield* post(signer, "k", path, { body: order })
      const { calls } = probe
      const again = yield* post(signer, "k", path, { body: order })
      assert.deepStrictEqual([first.status, isReplay(first)], [201, false])
      assert.deepStrictEqual([again.status, isReplay(again), again.text], [201, true, first.text])
      assert.strictEqual(again.headers["content-type"], "application/json")
      assert.notStrictEqual(again.headers["x-request-id"], first.headers["x-request-id"])
      assert.strictEqual(probe.calls, calls)
      assert.isFalse(isReplay(yield* post(signer, "other", path, { body: order })))
    }))

  it.effect("another body, query or path under the key is refused, before anything of it is looked at", () =>
    Effect.gen(function*() {
      const signer = yield* newKey
      yield* post(signer, "k", path, { body: order })
      for (
        const reply of [
          yield* post(signer, "k", path, { body: { ...order, amount: 501 } }),
          yield* post(signer, "k", path, { raw: JSON.stringify(order, null, 1) }),
          yield* post(signer, "k", path, { raw: "{" }),
          yield* post(signer, "k", `${path}?x=1`, { body: order }),
          yield* post(signer, "k", "/api/v1/operator/players/x/orders", { body: order })
        ]
      ) assert.deepStrictEqual([reply.status, reply.code], [422, "IDEMPOTENCY_KEY_REUSED"])
    }))

  it.effect("a key belongs to the operator, whichever of its API keys signs", () =>
    Effect.gen(function*() {
      const signer = yield* newKey
      const second = yield* addApiKey(signer.operator.id)
      const stranger = yield* newKey
      yield* post(signer, "k", path, { body: order })
      assert.isTrue(isReplay(yield* post(second, "k", path, { body: order })))
      assert.isFalse(isReplay(yield* post(stranger, "k", path, { body: order })))
    }))

  it.effect("a refusal of the request is kept, a failure of ours is not", () =>
    Effect.gen(function*() {
      const signer = yield* newKey
      const twice = Effect.fnUntraced(function*(path: string, options: Partial<SignedCall> = {}) {
        const key = unique("k")
        const first = yield* post(signer, key, path, options)
        const again = yield* post(signer, key, path, options)
        assert.deepStrictEqual([again.status, again.text], [first.status, first.text])
        return [first.status, isReplay(again)]
      })
      assert.deepStrictEqual(yield* twice(path, { body: { amount: 0 } }), [422, true])
      assert.deepStrictEqual(yield* twice(path, { raw: "{" }), [422, true])
      assert.deepStrictEqual(yield* twice("/api/v1/operator/players/9/orders", { body: {} }), [404, true])
      assert.deepStrictEqual(yield* twice("/api/v1/operator/act/limit"), [422, true])
      assert.deepStrictEqual(yield* twice("/api/v1/operator/act/forbidden"), [403, false])
      assert.deepStrictEqual(yield* twice("/api/v1/operator/act/again"), [503, false])
      assert.deepStrictEqual(yield* twice("/api/v1/operator/act/clash"), [409, false])
      assert.deepStrictEqual(yield* twice("/api/v1/operator/act/die"), [500, false])
    }))

  it.effect("a key has up to 255 characters; an empty one is none; other methods take none", () =>
    Effect.gen(function*() {
      const probe = yield* Probe
      const signer = yield* newKey
      assert.strictEqual((yield* post(signer, "k".repeat(255), path, { body: order })).status, 201)
      const long = yield* post(signer, "k".repeat(256), path, { raw: "{" })
      assert.deepStrictEqual([long.status, long.code], [422, "INVALID_IDEMPOTENCY_KEY"])
      const { calls } = probe
      yield* post(signer, "", path, { body: order })
      yield* post(signer, "", path, { body: order })
      yield* post(signer, "put", "/api/v1/operator/set/now", { method: "PUT" })
      yield* post(signer, "put", "/api/v1/operator/set/now", { method: "PUT" })
      assert.strictEqual(probe.calls, calls + 4)
    }))

  it.effect("the handler is told the key that it runs under", () =>
    Effect.gen(function*() {
      const signer = yield* newKey
      assert.include((yield* post(signer, "my key", "/api/v1/operator/act/now")).text, "\"body\":\"my key\"")
      assert.include((yield* post(signer, "", "/api/v1/operator/act/now")).text, "\"body\":null")
    }))

  it.effect("while the first runs, a retry hears so, and one of a crowd takes effect", () =>
    Effect.gen(function*() {
      const probe = yield* Probe
      const signer = yield* newKey
      const { calls } = probe
      const first = yield* Effect.forkChild(post(signer, "k", "/api/v1/operator/act/wait"))
      yield* Deferred.await(probe.arrived)
      const retry = yield* post(signer, "k", "/api/v1/operator/act/wait")
      assert.deepStrictEqual([retry.status, retry.code], [409, "IDEMPOTENCY_IN_PROGRESS"])
      const other = yield* post(signer, "k", "/api/v1/operator/act/now")
      assert.deepStrictEqual([other.status, other.code], [422, "IDEMPOTENCY_KEY_REUSED"])
      yield* Deferred.succeed(probe.gate, undefined)
      assert.strictEqual((yield* Fiber.join(first)).status, 200)
      const crowd = yield* Effect.forEach(
        Array.from({ length: 20 }),
        () => post(signer, "crowd", path, { body: order }),
        { concurrency: "unbounded" }
      )
      assert.strictEqual(crowd.filter((reply) => reply.status === 201 && !isReplay(reply)).length, 1)
      assert.isTrue(crowd.every(({ code, status }) => status === 201 || code === "IDEMPOTENCY_IN_PROGRESS"))
      assert.strictEqual(probe.calls, calls + 2)
    }))

  it.effect("the answer is there for the caller who left before it came", () =>
    Effect.gen(function*() {
      const probe = yield* Probe
      const signer = yield* newKey
      probe.gate = Deferred.makeUnsafe()
      probe.arrived = Deferred.makeUnsafe()
      const leaving = yield* Effect.forkChild(post(signer, "k", "/api/v1/operator/act/wait"))
      yield* Deferred.await(probe.arrived)
      yield* Fiber.interrupt(leaving)
      yield* Deferred.succeed(probe.gate, undefined)
      const retry = yield* post(signer, "k", "/api/v1/operator/act/wait").pipe(
        Effect.repeat({ until: ({ code }) => code !== "IDEMPOTENCY_IN_PROGRESS" })
      )
      assert.deepStrictEqual([retry.status, isReplay(retry)], [200, true])
    }))
})
