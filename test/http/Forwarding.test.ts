import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import { Forwarder, NotAnswered } from "../../src/cluster/Forwarder.ts"
import { Forwarding } from "../../src/http/Forwarding.ts"
import { ReadRequest } from "../../src/http/ReadRequest.ts"
import { isRefusal } from "../../src/http/Refusals.ts"
import { RequestIds } from "../../src/http/RequestIds.ts"

// Goal: callers are never told to resend a request that may be done twice. Method: a request for a player of a lost node.

/** Whether the call was marked repeatable, and the next step given to its sender. */
const lose = (
  headers: { readonly [name: string]: string },
  about: { readonly hasId?: boolean; readonly idField?: string } = {},
  body = "{}"
) =>
  Effect.gen(function*() {
    let isRepeatable: boolean | undefined
    const { around } = yield* Forwarding.make("public").pipe(
      Effect.provideService(
        Forwarder,
        Forwarder.of({
          node: "one",
          isHere: () => false,
          ownerOf: () => "another",
          serve: () => {},
          post: () => {},
          send: (_, __, ___, options) => {
            isRepeatable = options.isRepeatable
            return Effect.fail(new NotAnswered({ because: "lost" }))
          },
          sendTo: () => Effect.undefined,
          sendToAll: () => Effect.succeed([])
        })
      )
    )
    const url = "/api/v1/operator/players/7/deposits"
    const request = new ReadRequest({ headers, socket: {} }, "POST", url, Buffer.from(body))
    const error = yield* Effect.flip(
      around(Effect.succeed(HttpServerResponse.empty()), "key", { ownerOf: 7, ...about }).pipe(
        Effect.provideService(HttpServerRequest.HttpServerRequest, request)
      )
    )
    return [isRepeatable, isRefusal(error) ? error.details["retry"] : undefined]
  }).pipe(Effect.provide(Layer.fresh(RequestIds.layer)))

describe("a forwarded request that was lost with its node", () => {
  it.effect("may be repeated only if an idempotency key, an id or a reference prevents a second execution", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* lose({}), [false, "never"])
      assert.deepStrictEqual(yield* lose({ "idempotency-key": "k" }), [true, "same_request"])
      assert.deepStrictEqual(yield* lose({}, { hasId: true }), [true, "same_request"])
      // the caller alone repeats it: sent on twice, the first answer would already be that of a repetition
      const byReference = { idField: "reference" }
      assert.deepStrictEqual(yield* lose({}, byReference, `{"reference":"r"}`), [false, "same_request"])
      assert.deepStrictEqual(yield* lose({}, byReference, `{"reference":null}`), [false, "never"])
    }))
})
