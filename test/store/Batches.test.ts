import { assert, describe, it } from "@effect/vitest"
import { Cause, Effect, Exit, Fiber, Latch } from "effect"
import { TestClock } from "effect/testing"
import { makeBatches } from "../../src/store/Batches.ts"

type Failure = "odd" | "away" | "unreadable" | "too many"

/** Batches that wait until released, of four items at most and two at a time. Ten times an even item is its outcome. */
const makeHeld = Effect.gen(function*() {
  const ran: Array<ReadonlyArray<number>> = []
  const open = yield* Latch.make()
  const { post, put } = yield* makeBatches<number, number, Failure>({
    run: (items) =>
      Effect.suspend(() => {
        ran.push(items)
        return Effect.andThen(
          open.await,
          items.includes(-3)
            ? Effect.die("broken")
            : items.some((item) => item < 0)
            ? Effect.fail<Failure>(items.at(-1) === -2 ? "away" : "unreadable")
            : Effect.succeed(items.map((item) => item % 2 === 0 ? Exit.succeed(item * 10) : Exit.fail("odd" as const)))
        )
      }),
    mayBeCausedByOne: (cause) => Cause.hasDies(cause) || Cause.squash(cause) === "unreadable",
    maxBatch: 4,
    maxRunning: 2,
    limit: { maxWaiting: 5, overload: "too many" }
  })
  const start = (items: ReadonlyArray<number>) => Effect.forEach(items, (item) => Effect.forkChild(put(item)))
  return { ran, open, post, start }
})

const settle = Effect.forEach(Array.from({ length: 20 }), () => Effect.yieldNow, { discard: true })

const outcomes = (fibers: ReadonlyArray<Fiber.Fiber<number, Failure>>) =>
  Effect.forEach(fibers, (fiber) => Fiber.join(fiber).pipe(Effect.catch(Effect.succeed)))

describe("batched items", () => {
  it.effect("run together, up to the maximums of items per batch, of concurrent batches and of waiting items", () =>
    Effect.gen(function*() {
      const { open, ran, start } = yield* makeHeld
      const fibers = [...yield* start([2, 1, 4])]
      yield* settle
      fibers.push(...yield* start([6, 8]))
      yield* settle
      fibers.push(...yield* start([10, 12, 14, 16, 18, 20]))
      yield* settle
      assert.deepStrictEqual(ran, [[2, 1, 4], [6, 8]])
      yield* open.open
      assert.deepStrictEqual(yield* outcomes(fibers), [20, "odd", 40, 60, 80, 100, 120, 140, 160, 180, "too many"])
      assert.deepStrictEqual(ran.slice(2), [[10, 12, 14, 16], [18]])
    }))

  it.effect("run together when they arrive while a batch is being gathered", () =>
    Effect.gen(function*() {
      const ran: Array<ReadonlyArray<number>> = []
      const { put } = yield* makeBatches<number, number, never>({
        run: (items) => {
          ran.push(items)
          return Effect.succeed(items.map((item) => Exit.succeed(item)))
        },
        gatherMs: 25,
        maxBatch: 4
      })
      for (const item of [1, 2, 3]) {
        yield* Effect.forkChild(put(item))
        yield* TestClock.adjust("12 millis")
      }
      yield* TestClock.adjust("1 millis")
      yield* settle
      assert.deepStrictEqual(ran, [[1, 2, 3]])
    }))

  it.effect("run in batches whose size depends on the number of waiting items", () =>
    Effect.gen(function*() {
      const sizes: Array<number> = []
      const { put } = yield* makeBatches<number, number, never>({
        run: (items) => {
          sizes.push(items.length)
          return Effect.succeed(items.map((item) => Exit.succeed(item)))
        },
        maxBatch: (waiting) => Math.max(2, Math.ceil(waiting / 4))
      })
      yield* Effect.forEach(Array.from({ length: 16 }, (_, item) => item), put, { concurrency: "unbounded" })
      assert.deepStrictEqual(sizes, [4, 3, 3, 2, 2, 2])
    }))

  it.effect("run one by one only after a failure that a single item may have caused", () =>
    Effect.gen(function*() {
      const { open, ran, start } = yield* makeHeld
      yield* open.open
      assert.deepStrictEqual(yield* outcomes(yield* start([2, -1, 4])), [20, "unreadable", 40])
      assert.deepStrictEqual(ran, [[2, -1, 4], [2], [-1], [4]])
      assert.deepStrictEqual(yield* outcomes(yield* start([4, -2])), ["away", "away"])
      const exits = yield* Effect.forEach(yield* start([6, -3]), Fiber.await)
      assert.deepStrictEqual(exits, [Exit.succeed(60), Exit.die("broken")])
      assert.deepStrictEqual(ran.slice(4), [[4, -2], [6, -3], [6], [-3]])
      // a failure that none of them caused is the outcome of the rest
      assert.deepStrictEqual(yield* outcomes(yield* start([2, -2, -1, 8])), [20, "away", "away", "away"])
      assert.deepStrictEqual(ran.slice(8), [[2, -2, -1, 8], [2], [-2]])
    }))

  it.effect("get their outcome even when the callback of an earlier item throws", () =>
    Effect.gen(function*() {
      const { open, post } = yield* makeHeld
      yield* open.open
      const told: Array<Exit.Exit<number, Failure>> = []
      post(2, () => {
        throw new Error("cannot be told")
      })
      post(4, (exit) => told.push(exit))
      yield* settle
      post(6, (exit) => told.push(exit))
      yield* settle
      assert.deepStrictEqual(told, [Exit.succeed(40), Exit.succeed(60)])
    }))

  it.effect("finish in a running batch when the scope closes, and are interrupted if they wait or come later", () =>
    Effect.gen(function*() {
      const told: Array<Exit.Exit<number, Failure>> = []
      const { post, ran } = yield* Effect.scoped(Effect.gen(function*() {
        const { open, post, ran } = yield* makeHeld
        for (const item of [2, 4, 6]) {
          post(item, (exit) => told.push(exit))
          yield* settle
        }
        yield* Effect.forkDetach(Effect.andThen(settle, open.open))
        return { post, ran }
      }))
      post(8, (exit) => told.push(exit))
      assert.deepStrictEqual(told, [Exit.interrupt(), Exit.succeed(20), Exit.succeed(40), Exit.interrupt()])
      assert.deepStrictEqual(ran, [[2], [4]])
    }))
})
