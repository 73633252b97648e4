import { assert, layer } from "@effect/vitest"
import { Effect, Fiber, Layer, Tracer } from "effect"
import { TestClock } from "effect/testing"
import { EventFeed, type FeedPage } from "../../../src/features/events/EventFeed.ts"
import { WebhookSender } from "../../../src/features/webhooks/WebhookSender.ts"
import { layerBackoffice } from "../../../src/servers/Backoffice.ts"
import { layerWebhooks } from "../../../src/service.ts"
import { layerTestService } from "../../kit/TestService.ts"
import { addListener } from "../../kit/Webhooks.ts"

const countIn = ({ bodies }: FeedPage): number => bodies.length

const sent: Array<Tracer.Span> = []

/** Statements about events or positions that were sent since the last time. */
const statements = () =>
  sent.splice(0).map(({ attributes }) => String(attributes.get("db.query.text"))).filter((text) =>
    /SELECT.* FROM (events|event_positions) /s.test(text) && !text.includes("fanned_out")
  ).length

const counting = Layer.succeed(
  Tracer.Tracer,
  Tracer.make({
    span: (options) => {
      const span = new Tracer.NativeSpan(options)
      if (options.kind === "client") sent.push(span)
      return span
    }
  })
)

// Goal: a follower costs the service a bounded number of held calls. Method: the clock moves by hand, so that a call that answers was not held.
layer(
  layerWebhooks.pipe(
    Layer.provideMerge(layerBackoffice),
    Layer.provideMerge(layerTestService()),
    Layer.provideMerge(counting)
  )
)(
  "long polls for events",
  (it) => {
    it.effect("waiting at the same position of the feed share one query, which reads no events while there are none", () =>
      Effect.gen(function*() {
        const { held, list } = yield* EventFeed
        const { flush } = yield* WebhookSender
        const { emit, operator } = yield* addListener("shared")
        yield* emit()
        yield* flush
        const { next: cursor } = yield* list(operator.id, 1, { per_page: 25 })
        statements()
        const calls = yield* Effect.forEach(
          [1, 2, 3, 4],
          (keyId) => Effect.forkChild(list(operator.id, keyId, { per_page: 25, cursor, wait: 30 }))
        )
        yield* TestClock.withLive(Effect.sleep("5 millis")).pipe(Effect.repeat({ until: () => held() === 4 }))
        // the look at the positions
        yield* TestClock.withLive(Effect.sleep("5 millis")).pipe(Effect.repeat({ until: () => sent.length > 0 }))
        assert.strictEqual(statements(), 1)
        yield* emit()
        yield* flush
        statements()
        yield* TestClock.adjust("200 millis")
        const pages = yield* Effect.forEach(calls, Fiber.join)
        assert.deepStrictEqual(pages.map(countIn), [1, 1, 1, 1])
        assert.strictEqual(statements(), 2)
      }))

    it.effect("are limited to four per API key, and end with a new event, at their timeout or when the service drains", () =>
      Effect.gen(function*() {
        const { beginDrain, held, list } = yield* EventFeed
        const untilHeld = (count: number) =>
          TestClock.withLive(Effect.sleep("5 millis")).pipe(Effect.repeat({ until: () => held() === count }))
        const { flush } = yield* WebhookSender
        const { emit, operator } = yield* addListener("held")
        yield* emit()
        yield* flush
        const start = yield* list(operator.id, 1, { per_page: 25 })
        assert.strictEqual(countIn(start), 1)
        const follow = (keyId: number, wait = 30) =>
          list(operator.id, keyId, { per_page: 25, cursor: start.next, wait })
        const calls = yield* Effect.forEach([1, 2, 3, 4], () => Effect.forkChild(follow(1)))
        yield* untilHeld(4)
        assert.strictEqual(countIn(yield* follow(1)), 0)
        const other = yield* Effect.forkChild(follow(2, 5))
        yield* untilHeld(5)
        yield* TestClock.adjust("5 seconds")
        assert.strictEqual(countIn(yield* Fiber.join(other)), 0)
        assert.deepStrictEqual(calls.map((call) => call.pollUnsafe()), [undefined, undefined, undefined, undefined])
        yield* emit()
        yield* flush
        yield* TestClock.adjust("1 second")
        for (const call of calls) assert.strictEqual(countIn(yield* Fiber.join(call)), 1)

        const { next } = yield* follow(1)
        const waiting = yield* Effect.forkChild(list(operator.id, 1, { per_page: 25, cursor: next, wait: 30 }))
        yield* untilHeld(1)
        yield* beginDrain
        assert.strictEqual(countIn(yield* Fiber.join(waiting)), 0)
        assert.strictEqual(countIn(yield* list(operator.id, 1, { per_page: 25, cursor: next, wait: 30 })), 0)
      }))
  }
)
