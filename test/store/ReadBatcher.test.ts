import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Latch } from "effect"
import { makeReadBatcher } from "../../src/store/internal/ReadBatcher.ts"

/** Queries that wait until released; a request below zero fails its whole query. */
const makeAsks = Effect.gen(function*() {
  const asked: Array<ReadonlyArray<number>> = []
  const open = yield* Latch.make()
  const ask = yield* makeReadBatcher({
    answer: (requests: ReadonlyArray<number>) =>
      Effect.andThen(
        Effect.sync(() => asked.push(requests)),
        Effect.andThen(
          open.await,
          requests.some((request) => request < 0)
            ? Effect.fail(requests.includes(-2) ? "away" : "unreadable")
            : Effect.succeed(requests.map((request) => request * 10))
        )
      ),
    mayBeCausedByOne: (failure: string) => failure === "unreadable",
    maxBatch: 4,
    maxRunning: 2
  })
  const start = (requests: ReadonlyArray<number>) =>
    Effect.forEach(requests, (request) => Effect.forkChild(ask(request), { startImmediately: true }))
  return { asked, open, start }
})

const settle = Effect.forEach(Array.from({ length: 20 }), () => Effect.yieldNow, { discard: true })

describe("requests at the same time", () => {
  it.effect("are asked together, as many as may be, in as many queries as may run", () =>
    Effect.gen(function*() {
      const { asked, open, start } = yield* makeAsks
      const first = yield* start([1, 2, 3])
      yield* settle
      const others = yield* start([4, 5])
      yield* settle
      others.push(...yield* start([6, 7, 8, 9, 10]))
      yield* settle
      assert.deepStrictEqual(asked, [[1, 2, 3], [4, 5]])
      yield* open.open
      assert.deepStrictEqual(yield* Fiber.joinAll(first), [10, 20, 30])
      assert.deepStrictEqual(yield* Fiber.joinAll(others), [40, 50, 60, 70, 80, 90, 100])
      assert.deepStrictEqual(asked.slice(2), [[6, 7, 8, 9], [10]])
    }))

  it.effect("are asked alone where one of them may be to blame, and only there", () =>
    Effect.gen(function*() {
      const { asked, open, start } = yield* makeAsks
      yield* open.open
      const exits = yield* Effect.forEach(yield* start([1, -1, 3]), Fiber.await)
      assert.deepStrictEqual(exits, [Exit.succeed(10), Exit.fail("unreadable"), Exit.succeed(30)])
      assert.deepStrictEqual(asked, [[1, -1, 3], [1], [-1], [3]])
      const failed = yield* Effect.forEach(yield* start([4, -2]), Fiber.await)
      assert.deepStrictEqual(failed, [Exit.fail("away"), Exit.fail("away")])
    }))
})
