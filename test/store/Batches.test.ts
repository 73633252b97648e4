import { assert, it } from "@effect/vitest"
import { Deferred, Effect, Exit } from "effect"
import { makeBatches } from "../../src/store/Batches.ts"

// Goal: one statement for all waiting requests, each with its own outcome. Method: a batch held until others have arrived.

it.effect("items that come during a batch share the next ones, of the greatest size at most; no more wait than may", () =>
  Effect.gen(function*() {
    const gate = yield* Deferred.make<void>()
    const seen: Array<ReadonlyArray<number>> = []
    const limit = { maxWaiting: 4, overload: "too many" }
    const batches = yield* makeBatches<number, string, string>(3, (items) => {
      seen.push(items)
      return Effect.as(
        Deferred.await(gate),
        (item) => item % 2 === 0 ? Exit.succeed(`even ${item}`) : Exit.fail(`odd ${item}`)
      )
    }, limit)
    const outcomes = [1, 2, 3, 4, 5, 6].map((item) => batches.put(item).pipe(Effect.catch(Effect.succeed)))
    yield* Deferred.succeed(gate, undefined)
    assert.deepStrictEqual(yield* Effect.all(outcomes), ["odd 1", "even 2", "odd 3", "even 4", "odd 5", "too many"])
    assert.deepStrictEqual(seen, [[1], [2, 3, 4], [5]])
  }))

// Goal: a defect delays no other request. Method: a batch that dies, then one whose first waiter dies of its answer.
it.effect("the defect of a batch, or of who waits, reaches nobody else", () =>
  Effect.gen(function*() {
    const gate = yield* Deferred.make<void>()
    let runs = 0
    const batches = yield* makeBatches<number, number, never>(10, () =>
      ++runs === 1
        ? Effect.andThen(Deferred.await(gate), Effect.die("broken"))
        : Effect.succeed((item) => {
          if (item === 2) throw new Error("no outcome")
          return Exit.succeed(item)
        }))
    const [first, ...others] = [1, 2, 3].map((item) => Effect.exit(batches.put(item)))
    yield* Deferred.succeed(gate, undefined)
    assert.isTrue(first !== undefined && Exit.hasDies(yield* first))
    const [second, third] = yield* Effect.all(others)
    assert.isTrue(second !== undefined && Exit.hasDies(second))
    assert.deepStrictEqual(third, Exit.succeed(3))
    assert.strictEqual(yield* batches.put(4), 4)
  }))
