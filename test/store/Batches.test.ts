import { assert, it } from "@effect/vitest"
import { Deferred, Effect, Exit } from "effect"
import { makeBatches } from "../../src/store/Batches.ts"

// Goal: one statement for all that wait, each with its own outcome. Method: a batch that is held until others have come.

it.effect("items that come during a batch share the next ones, of the greatest size at most", () =>
  Effect.gen(function*() {
    const gate = yield* Deferred.make<void>()
    const seen: Array<ReadonlyArray<number>> = []
    const batches = yield* makeBatches<number, string, string>(3, (items) => {
      seen.push(items)
      return Effect.as(
        Deferred.await(gate),
        (item) => item % 2 === 0 ? Exit.succeed(`even ${item}`) : Exit.fail(`odd ${item}`)
      )
    })
    const outcomes = [1, 2, 3, 4, 5].map((item) => batches.put(item).pipe(Effect.catch(Effect.succeed)))
    assert.strictEqual(batches.waiting(), 4)
    yield* Deferred.succeed(gate, undefined)
    assert.deepStrictEqual(yield* Effect.all(outcomes), ["odd 1", "even 2", "odd 3", "even 4", "odd 5"])
    assert.deepStrictEqual(seen, [[1], [2, 3, 4], [5]])
  }))
