import { assert, layer } from "@effect/vitest"
import { Context, Effect, Layer, Option } from "effect"
import { RunnerAddress, RunnerStorage, ShardId, ShardingConfig, SqlRunnerStorage } from "effect/cluster"
import { Locks } from "../../src/cluster/Locks.ts"
import { shardCount, shardGroup } from "../../src/cluster/Shards.ts"
import { TestDatabase } from "../kit/TestDatabase.ts"

// Goal: locks released in a batch are those of effect's storage. Method: two nodes over that storage, of which one releases some of
// the locks that the other one requests.

const address = (port: number) => RunnerAddress.make("127.0.0.1", port)
const shards = (ids: ReadonlyArray<number>) => ids.map((id) => ShardId.make(shardGroup, id))

const node = (port: number) =>
  Effect.gen(function*() {
    const context = yield* Layer.build(
      Layer.fresh(SqlRunnerStorage.layerStorage({})).pipe(
        Layer.provideMerge(Layer.fresh(Locks.layer)),
        Layer.provide(
          ShardingConfig.layer({ runnerAddress: Option.some(address(port)), shardsPerGroup: shardCount })
        )
      )
    )
    const storage = Context.get(context, RunnerStorage.RunnerStorage)
    const acquire = (ids: ReadonlyArray<number>) =>
      Effect.map(storage.acquire(address(port), shards(ids)), (taken) =>
        taken.map(({ id }) => id).toSorted((a, b) => a - b))
    return { acquire, release: Context.get(context, Locks).release }
  })

layer(TestDatabase.layer, { excludeTestServices: true })("shard locks", (it) => {
  it.effect("can be released several at a time, and the node keeps its other locks", () =>
    Effect.gen(function*() {
      const [one, other] = [yield* node(1), yield* node(2)]
      assert.deepStrictEqual(yield* one.acquire([1, 2, 3, shardCount]), [1, 2, 3, shardCount])
      assert.deepStrictEqual(yield* other.acquire([1, 2, 3, shardCount]), [])
      yield* one.release([1, 3, shardCount])
      assert.deepStrictEqual(yield* other.acquire([1, 2, 3, shardCount]), [1, 3, shardCount])
      // releasing locks that it does not hold has no effect
      yield* one.release([1, 5])
      assert.deepStrictEqual(yield* one.acquire([1, 2]), [2])
    }))
})
