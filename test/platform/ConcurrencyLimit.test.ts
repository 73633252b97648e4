import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { makeConcurrencyLimit } from "../../src/platform/ConcurrencyLimit.ts"

describe("the concurrency limit of Effects", () => {
  // Goal: bounds on running and waiting work hold, and waiters run in order of arrival. Method: work behind
  // gates, each counted when it begins.
  it.effect("runs up to its maximum, queues up to its maximum, and refuses the next effect at once", () =>
    Effect.gen(function*() {
      const limitConcurrency = yield* makeConcurrencyLimit({ maxRunning: 2, maxWaiting: 2, maxWait: "1 minute" })
      const begun: Array<number> = []
      const gates = yield* Effect.forEach([0, 1, 2, 3, 4], () => Deferred.make<void>())
      const work = (number: number) =>
        Effect.suspend(() => {
          begun.push(number)
          return Effect.as(Deferred.await(gates[number]!), number)
        }).pipe(limitConcurrency("full"))
      const fibers = yield* Effect.forEach(
        [0, 1, 2, 3],
        (number) => Effect.forkChild(work(number), { startImmediately: true })
      )
      assert.deepStrictEqual(begun, [0, 1])
      assert.strictEqual(yield* Effect.flip(work(4)), "full")
      yield* Deferred.succeed(gates[1]!, undefined)
      assert.strictEqual(yield* Fiber.join(fibers[1]!), 1)
      yield* Effect.yieldNow
      assert.deepStrictEqual(begun, [0, 1, 2])
      // a place to wait is free again
      const last = yield* Effect.forkChild(work(4), { startImmediately: true })
      yield* Effect.forEach(gates, (gate) => Deferred.succeed(gate, undefined))
      assert.strictEqual(yield* Fiber.join(last), 4)
      assert.deepStrictEqual(begun, [0, 1, 2, 3, 4])
    }))

  // Goal: waiting is bounded, and started work is not interrupted. Method: a test clock; one runs, one waits longer than it may, one
  // begins to wait later and still gets its turn.
  it.effect("refuses an effect that waited too long, and does not interrupt a running one", () =>
    Effect.gen(function*() {
      const limitConcurrency = yield* makeConcurrencyLimit({ maxRunning: 1, maxWaiting: 2, maxWait: "5 seconds" })
      const gate = yield* Deferred.make<void>()
      const behind = Effect.as(Deferred.await(gate), "done").pipe(limitConcurrency("late"))
      const first = yield* Effect.forkChild(behind, { startImmediately: true })
      const second = yield* Effect.forkChild(Effect.exit(behind), { startImmediately: true })
      yield* TestClock.adjust("4 seconds")
      const third = yield* Effect.forkChild(behind, { startImmediately: true })
      yield* TestClock.adjust("1 second")
      assert.strictEqual((yield* Fiber.join(second))._tag, "Failure")
      yield* Deferred.succeed(gate, undefined)
      assert.deepStrictEqual([yield* Fiber.join(first), yield* Fiber.join(third)], ["done", "done"])
      // ten times longer than each may wait
      const long = yield* Effect.forkChild(limitConcurrency("late")(Effect.as(Effect.sleep("50 seconds"), "long")), {
        startImmediately: true
      })
      yield* TestClock.adjust("50 seconds")
      assert.strictEqual(yield* Fiber.join(long), "long")
    }))

  // Goal: an interrupted waiter frees its place, and an interrupted runner its turn. Method: interrupt both.
  it.effect("frees the place of an interrupted effect", () =>
    Effect.gen(function*() {
      const limitConcurrency = yield* makeConcurrencyLimit({ maxRunning: 1, maxWaiting: 1, maxWait: "1 minute" })
      const running = yield* Effect.forkChild(limitConcurrency("full")(Effect.never), { startImmediately: true })
      const waiting = yield* Effect.forkChild(limitConcurrency("full")(Effect.never), { startImmediately: true })
      assert.strictEqual(yield* Effect.flip(limitConcurrency("full")(Effect.void)), "full")
      yield* Fiber.interrupt(waiting)
      const next = yield* Effect.forkChild(limitConcurrency("full")(Effect.succeed("next")), { startImmediately: true })
      yield* Fiber.interrupt(running)
      assert.strictEqual(yield* Fiber.join(next), "next")
      assert.strictEqual(yield* limitConcurrency("full")(Effect.succeed("again")), "again")
    }))
})
