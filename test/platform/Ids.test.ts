import { assert, layer } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { Ids } from "../../src/platform/Ids.ts"
import { SqlClient } from "effect/sql"
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

/** Blocks taken from the sequence. */
const blocksTaken = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) =>
    Effect.map(
      sql<{ readonly taken: number }>`SELECT (last_value / 4096)::float8 AS taken FROM ids`,
      ([row]) => Math.floor(row?.taken ?? 0)
    )
)

layer(Ids.layer.pipe(Layer.provideMerge(TestDatabase.layer)))("Ids", (it) => {
  // Goal: no id is ever given twice, however many fibers ask at once.
  // Method: 600 concurrent reservations of mixed sizes, more than ten blocks' worth; all ids must differ.
  it.effect("ids of concurrent reservations never overlap", () =>
    Effect.gen(function*() {
      const all = expand(yield* reserveAll(yield* Ids))
      assert.strictEqual(new Set(all).size, all.length)
      assert.isTrue(all.every((id) => Number.isSafeInteger(id) && id >= 1000))
    }))

  // Goal: two services on one database never give the same id.
  // Method: a second instance of the service beside the first, both under load at the same time.
  it.effect("ids of two service instances never overlap", () =>
    Effect.gen(function*() {
      const one = yield* Ids
      const other = yield* anotherInstance
      assert.notStrictEqual(one, other)
      const [first, second] = yield* Effect.all([reserveAll(one), reserveAll(other)], { concurrency: 2 })
      const all = expand([...first, ...second])
      assert.strictEqual(new Set(all).size, all.length)
    }))

  // Goal: a ready service has ids, and refills before they run out. Method: take enough to trigger a refill without any wait;
  // the sequence moves while there are ids left.
  it.effect("are reserved at the start, and refilled before they run out", () =>
    Effect.gen(function*() {
      const ids = yield* anotherInstance
      const before = yield* blocksTaken
      for (let block = 0; block < 3; block++) {
        assert.isDefined(ids.peek(4096))
        ids.use(4096)
      }
      yield* Effect.repeat(blocksTaken, { until: (taken) => taken > before })
      assert.isDefined(ids.peek(4096))
    }))

  // Goal: callers without ids in memory share one query. Method: all ids in memory are taken at once, then many reserve; the
  // sequence shows the number of blocks taken.
  it.effect("are refilled once for all waiting callers", () =>
    Effect.gen(function*() {
      const ids = yield* anotherInstance
      for (let first = ids.peek(4096); first !== undefined; first = ids.peek(4096)) ids.use(4096)
      const before = yield* blocksTaken
      const firsts = yield* Effect.forEach(Array.from({ length: 100 }), () => ids.reserve(40), {
        concurrency: "unbounded"
      })
      assert.strictEqual(new Set(firsts).size, 100)
      assert.isAtMost((yield* blocksTaken) - before, 4)
    }))

  // Goal: ids rise over several services in sequence. Method: two of them in turn, with ids in memory that do not rise.
  it.effect("rise across all services when they are reserved as the newest", () =>
    Effect.gen(function*() {
      const [one, other] = [yield* anotherInstance, yield* anotherInstance]
      const newest: Array<number> = []
      for (const ids of [other, one, other, one]) newest.push(yield* ids.reserveNewest(2))
      assert.deepStrictEqual(newest, newest.toSorted((a, b) => a - b))
      assert.strictEqual(new Set(newest).size, 4)
      assert.isBelow(yield* one.reserve(1), newest[0] ?? 0)
    }))

  // Goal: a service that takes over players allocates higher ids than their former owner. Method: both have ids in memory; the one with the
  // lower ones discards them, including those just requested.
  it.effect("rise across all services once ids in memory are discarded, as by a new owner of players", () =>
    Effect.gen(function*() {
      const [one, other] = [yield* anotherInstance, yield* anotherInstance]
      const theirs = yield* other.reserve(4096)
      const before = one.generation()
      const inMemory = one.peek(1, before)
      one.renew()
      assert.isUndefined(one.peek(1))
      one.renew()
      // for whom they are new enough
      assert.strictEqual(one.peek(1, before), inMemory)
      const ours = yield* one.reserve(4096)
      assert.isAbove(ours, theirs)
      assert.isAbove(one.peek(1, before) ?? 0, theirs)
      other.renew()
      assert.isAbove(yield* other.reserve(1), ours)
    }))
})
