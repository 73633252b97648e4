import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Fiber, Layer, Option } from "effect"
import { Runner, RunnerAddress, RunnerStorage, ShardId, ShardingConfig } from "effect/cluster"
import { TestClock } from "effect/testing"
import { Ownership } from "../../src/cluster/Ownership.ts"
import { shardCount, shardOf } from "../../src/cluster/Shards.ts"
import { type Begun, Tenures } from "../../src/cluster/Tenures.ts"

// Goal: an epoch never outlives the lock that it stands for, and nothing that was accepted under it is forgotten when it is handed
// over. Method: storage in memory that the test answers for, under a clock that the test moves.

const address = RunnerAddress.make("127.0.0.1", 1)
const other = RunnerAddress.make("127.0.0.1", 2)
const runner = (of: RunnerAddress.RunnerAddress) => Runner.make({ address: of, groups: ["default"], weight: 1 })
const shard = (id: number) => ShardId.make("default", id)
const key = 17
const mine = shard(shardOf(key))

interface Answers {
  acquire: Effect.Effect<ReadonlyArray<ShardId.ShardId>>
  kept: ReadonlyArray<ShardId.ShardId>
  /** How long an owner before may believe to have a shard. */
  waitMs: number
}

/** A node that leases of four seconds are given to, with what its storage was told. */
const makeNode = Effect.gen(function*() {
  const told: Array<string> = []
  const answers: Answers = { acquire: Effect.succeed([mine]), kept: [mine], waitMs: 0 }
  let tenure = 0
  const storage = yield* RunnerStorage.makeMemory
  const fake = RunnerStorage.RunnerStorage.of({
    ...storage,
    acquire: () => Effect.map(answers.acquire, (taken) => [...taken]),
    refresh: () => Effect.sync(() => [...answers.kept]),
    release: (_, { id }) => Effect.sync(() => void told.push(`release ${id}`)),
    releaseAll: () => Effect.sync(() => void told.push("release all")),
    setRunnerHealth: (of, isHealthy) =>
      Effect.andThen(
        storage.setRunnerHealth(of, isHealthy),
        Effect.sync(() => void told.push(isHealthy ? "healthy" : "unhealthy"))
      )
  })
  const context = yield* Layer.build(
    Ownership.layer.pipe(
      Layer.provide(Layer.succeed(RunnerStorage.RunnerStorage, fake)),
      Layer.provide(Layer.succeed(
        Tenures,
        Tenures.of({
          begin: (shards) =>
            Effect.sync(() => shards.map((shard): Begun => ({ shard, tenure: ++tenure, waitMs: answers.waitMs }))),
          end: (tenures) => Effect.sync(() => void told.push(`end ${tenures.map(({ shard }) => shard).join(" ")}`))
        })
      )),
      Layer.provide(
        ShardingConfig.layer({
          runnerAddress: Option.some(address),
          shardsPerGroup: shardCount,
          shardLockExpiration: "4 seconds"
        })
      )
    )
  )
  const watched = Context.get(context, RunnerStorage.RunnerStorage)
  yield* watched.register(runner(address), true)
  const { placement, ...ownership } = Context.get(context, Ownership)
  return { ...ownership, ...placement, watched, answers, told }
})

describe("ownership of shards", () => {
  it.effect("ends with the lease, counted from before the lock was asked for", () =>
    Effect.gen(function*() {
      const node = yield* makeNode
      node.answers.acquire = Effect.delay(Effect.succeed([mine]), "1 second")
      const asking = yield* Effect.forkChild(node.watched.acquire(address, [mine]))
      yield* TestClock.adjust("1 second")
      yield* Fiber.join(asking)
      const epoch = node.epochOf(key)
      assert.isAbove(epoch, 0)
      yield* TestClock.adjust("2700 millis")
      assert.strictEqual(node.epochOf(key), epoch)
      yield* TestClock.adjust("200 millis")
      assert.strictEqual(node.epochOf(key), 0)
      assert.isFalse(node.holds(key, epoch))
      assert.isAbove(node.counts.stale, 0)
    }))

  it.effect("goes on under the same epoch while the lock is confirmed", () =>
    Effect.gen(function*() {
      const node = yield* makeNode
      yield* node.watched.acquire(address, [mine])
      const epoch = node.epochOf(key)
      yield* TestClock.adjust("3 seconds")
      yield* node.watched.refresh(address, [mine])
      yield* TestClock.adjust("3 seconds")
      assert.strictEqual(node.epochOf(key), epoch)
      assert.isTrue(node.holds(key, epoch))
    }))

  // Goal: an owner whose connection was lost is not owner together with the next one. Method: PostgreSQL says that it may believe to be for
  // three seconds more.
  it.effect("begins when the owner before certainly knows that it is none", () =>
    Effect.gen(function*() {
      const node = yield* makeNode
      node.answers.waitMs = 3000
      yield* node.watched.acquire(address, [mine])
      assert.strictEqual(node.epochOf(key), 0)
      yield* TestClock.adjust("2900 millis")
      yield* node.watched.refresh(address, [mine])
      assert.strictEqual(node.epochOf(key), 0)
      assert.strictEqual(node.counts.stale, 0)
      yield* TestClock.adjust("200 millis")
      assert.isAbove(node.epochOf(key), 0)
    }))

  it.effect("ends when the lock was lost, and another epoch begins when it is taken again", () =>
    Effect.gen(function*() {
      const node = yield* makeNode
      yield* node.watched.acquire(address, [mine])
      const before = node.epochOf(key)
      node.answers.kept = []
      yield* node.watched.refresh(address, [mine])
      assert.strictEqual(node.epochOf(key), 0)
      yield* node.watched.acquire(address, [mine])
      assert.isAbove(node.epochOf(key), before)
      assert.isFalse(node.holds(key, before))
    }))

  // Goal: a lock that came after its node had given up asking does not keep its owner waiting for ever. Method: the session holds two shards
  // that nobody asked to refresh, one of them the other node's.
  it.effect("releases locks that it holds unknowingly, where they are another node's", () =>
    Effect.gen(function*() {
      const node = yield* makeNode
      yield* node.watched.register(runner(other), true)
      yield* node.watched.getRunners
      const keys = Array.from({ length: 100 }, (_, index) => index)
      const [theirs, own] = ["127.0.0.1:2", "127.0.0.1:1"].map((name) =>
        shard(shardOf(keys.find((one) => node.ownerOf(one) === name && shardOf(one) !== mine.id) ?? 0))
      )
      if (theirs === undefined || own === undefined) return assert.fail("both own keys")
      node.answers.kept = [mine, theirs, own]
      assert.deepStrictEqual([...(yield* node.watched.refresh(address, [mine]))], [mine])
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(node.told, [`release ${theirs.id}`])
    }))

  it.effect("takes nothing more of a shard that is released, and gives it when all that was accepted is done", () =>
    Effect.gen(function*() {
      const node = yield* makeNode
      node.onRelease(() => Effect.sleep("1 second"))
      yield* node.watched.acquire(address, [mine])
      const epoch = node.epochOf(key)
      const releasing = yield* Effect.forkChild(node.watched.release(address, mine))
      yield* TestClock.adjust("900 millis")
      assert.strictEqual(node.epochOf(key), 0)
      assert.isTrue(node.holds(key, epoch))
      assert.deepStrictEqual(node.told, [])
      yield* TestClock.adjust("200 millis")
      yield* Fiber.join(releasing)
      assert.isFalse(node.holds(key, epoch))
      assert.deepStrictEqual(node.told, [`end ${mine.id}`, `release ${mine.id}`])
    }))

  it.effect("gives a shard after three seconds, whatever is not done", () =>
    Effect.gen(function*() {
      const node = yield* makeNode
      node.onRelease(() => Effect.never)
      yield* node.watched.acquire(address, [mine])
      const epoch = node.epochOf(key)
      const releasing = yield* Effect.forkChild(node.watched.release(address, mine))
      yield* TestClock.adjust("3100 millis")
      yield* Fiber.join(releasing)
      assert.isFalse(node.holds(key, epoch))
      assert.deepStrictEqual(node.told, [`end ${mine.id}`, `release ${mine.id}`])
    }))

  it.effect("walks the actors once for all shards that are released in one turn", () =>
    Effect.gen(function*() {
      const node = yield* makeNode
      const all = Array.from({ length: 100 }, (_, index) => shard(index + 1))
      node.answers.acquire = Effect.succeed(all)
      let walks = 0
      let released = 0
      node.onRelease((isReleased) =>
        Effect.sync(() => {
          walks++
          for (let id = 1; id <= 3000; id++) if (isReleased(id)) released++
        })
      )
      yield* node.watched.acquire(address, all)
      yield* Effect.forEach(all, (one) => node.watched.release(address, one), { concurrency: "unbounded" })
      assert.strictEqual(walks, 1)
      assert.strictEqual(
        released,
        Array.from({ length: 3000 }, (_, id) => shardOf(id + 1)).filter((id) => id <= 100).length
      )
      assert.strictEqual(node.told.length, 1 + all.length)
    }))

  it.effect("that is handed over is free before anybody is told, and is not taken back", () =>
    Effect.gen(function*() {
      const node = yield* makeNode
      yield* node.watched.register(runner(other), true)
      yield* node.watched.acquire(address, [mine])
      yield* node.watched.getRunners
      yield* node.handOver
      assert.deepStrictEqual(node.told, [`end ${mine.id}`, "release all", "unhealthy"])
      assert.strictEqual(node.epochOf(key), 0)
      assert.deepStrictEqual(yield* node.watched.acquire(address, [mine]), [])
      yield* node.watched.getRunners
      assert.strictEqual(node.ownerOf(key), "127.0.0.1:2")
      assert.deepStrictEqual([...node.nodes()], ["127.0.0.1:1", "127.0.0.1:2"])
    }))

  it.effect("joins when it holds all that is its own", () =>
    Effect.gen(function*() {
      const node = yield* makeNode
      assert.isFalse(node.isJoined())
      yield* node.watched.getRunners
      yield* node.watched.acquire(address, [mine])
      assert.isFalse(node.isJoined())
      const all = Array.from({ length: shardCount }, (_, index) => shard(index + 1))
      node.answers.acquire = Effect.succeed(all)
      yield* node.watched.acquire(address, all)
      assert.isTrue(node.isJoined())
    }))

  // a release that placed keys otherwise would share players with the one before it, while both run
  it("places keys as every release before", () => {
    assert.deepStrictEqual([1, 2, 1000, 2 ** 31, 2 ** 44 + 1, Number.MAX_SAFE_INTEGER].map(shardOf), [
      296,
      73,
      248,
      66,
      254,
      199
    ])
  })
})
