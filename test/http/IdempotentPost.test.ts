import { assert, layer } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { layerEdgeServer, Probe } from "../kit/EdgeServer.ts"
import { type Call, type Reply, signedCall, type Signer } from "../kit/HttpCalls.ts"
import { addApiKey } from "../kit/Keys.ts"
import { addOperator } from "../kit/TestService.ts"

// Goal: idempotency keys meet SPEC section 8, seen from outside. Method: signed POSTs whose handler counts its
// runs.

let count = 0
const unique = (prefix: string) => `${prefix}${(count++).toString(36)}`

const path = "/api/v1/operator/orders"
const order = { amount: 500, name: "one" }

const post = (signer: Signer, key: string, path: string, options: Call = {}) =>
  signedCall(signer, path, { method: "POST", ...options, headers: { "Idempotency-Key": key } })

const newKey = Effect.flatMap(
  Effect.suspend(() => addOperator(unique("op"))),
  (operator) => Effect.map(addApiKey(operator.id), (key) => ({ ...key, operator }))
)

const isReplay = (reply: Reply) => reply.headers["idempotent-replayed"] === "true"

layer(layerEdgeServer())("idempotency keys", (it) => {
  it.effect("belong to the operator, whichever of its API keys signs the request", () =>
    Effect.gen(function*() {
      const signer = yield* newKey
      const second = yield* addApiKey(signer.operator.id)
      const stranger = yield* newKey
      const first = yield* post(signer, "k", path, { body: order })
      const again = yield* post(second, "k", path, { body: order })
      assert.deepStrictEqual([isReplay(again), again.text], [true, first.text])
      assert.notStrictEqual(again.headers["x-request-id"], first.headers["x-request-id"])
      assert.isFalse(isReplay(yield* post(stranger, "k", path, { body: order })))
    }))

  it.effect("are passed to the endpoint's handler", () =>
    Effect.gen(function*() {
      const signer = yield* newKey
      assert.include((yield* post(signer, "my key", "/api/v1/operator/act/now")).text, "\"body\":\"my key\"")
      assert.include((yield* post(signer, "", "/api/v1/operator/act/now")).text, "\"body\":null")
    }))

  it.effect("give a caller that was cut off the answer to its first request when it retries", () =>
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
