import { assert, layer } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { Ids } from "../../src/platform/Ids.ts"
import { TestDatabase } from "../kit/TestDatabase.ts"

/** Every id of the ranges, so that an overlap shows as a repetition. */
const expand = (ranges: ReadonlyArray<readonly [first: number, count: number]>): Array<number> =>
  ranges.flatMap(([first, count]) => Array.from({ length: count }, (_, index) => first + index))

const counts = Array.from({ length: 600 }, (_, index) => 1 + (index * 37) % 200)

const reserveAll = (ids: Ids["Service"]) =>
  Effect.forEach(counts, (count) => Effect.map(ids.reserve(count), (first) => [first, count] as const), {
    concurrency: "unbounded"
  })

const anotherInstance = Effect.map(Layer.build(Layer.fresh(Ids.layer)), (context) => Context.get(context, Ids))

layer(Ids.layer.pipe(Layer.provideMerge(TestDatabase.layer)))("Ids", (it) => {
  // Goal: no id is ever given twice, however many fibers ask at once.
  // Method: 600 concurrent reservations of mixed sizes, more than ten blocks' worth; all ids must differ.
  it.effect("concurrent reservations never overlap", () =>
    Effect.gen(function*() {
      const all = expand(yield* reserveAll(yield* Ids))
      assert.strictEqual(new Set(all).size, all.length)
      assert.isTrue(all.every((id) => Number.isSafeInteger(id) && id >= 1000))
    }))

  // Goal: two services on one database never give the same id.
  // Method: a second instance of the service beside the first, both under load at the same time.
  it.effect("two instances never overlap", () =>
    Effect.gen(function*() {
      const one = yield* Ids
      const other = yield* anotherInstance
      assert.notStrictEqual(one, other)
      const [first, second] = yield* Effect.all([reserveAll(one), reserveAll(other)], { concurrency: 2 })
      const all = expand([...first, ...second])
      assert.strictEqual(new Set(all).size, all.length)
    }))

  // Goal: the hot path takes ids without waiting, block after block.
  // Method: take synchronously with only a yield in between; the block ahead must be there before one runs out.
  it.effect("reserveUnsafe returns ids from the current block only", () =>
    Effect.gen(function*() {
      const ids = yield* anotherInstance
      assert.isUndefined(ids.reserveUnsafe(1), "a new instance holds no block")
      const first = yield* ids.reserve(1)
      assert.strictEqual(ids.reserveUnsafe(10), first + 1)
      assert.strictEqual(ids.reserveUnsafe(1), first + 11)
      assert.isUndefined(ids.reserveUnsafe(4096), "more than is left of the only block")
    }))
})
