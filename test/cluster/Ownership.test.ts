import { assert, describe, it } from "@effect/vitest"
import { Clock, Context, Effect, Exit, Fiber, Layer, Scope } from "effect"
import { ClusterError, Runner, RunnerAddress, RunnerStorage, ShardId } from "effect/cluster"
import { TestClock } from "effect/testing"
import { Locks } from "../../src/cluster/Locks.ts"
import { Membership } from "../../src/cluster/Membership.ts"
import { Ownership } from "../../src/cluster/Ownership.ts"
import { shardCount, shardOf } from "../../src/cluster/Shards.ts"
import { ShardTerms, type StartedTerm } from "../../src/cluster/ShardTerms.ts"

// Goal: an epoch never outlives its lock, and no work accepted under it is lost in a handover.
// Method: in-memory storage controlled by the test, under a test clock.

const address = RunnerAddress.make("127.0.0.1", 1)
const other = RunnerAddress.make("127.0.0.1", 2)
const runner = (of: RunnerAddress.RunnerAddress) => Runner.make({ address: of, groups: ["default"], weight: 1 })
const shard = (id: number) => ShardId.make("default", id)
const key = 17
const mine = shard(shardOf(key))

interface Answers {
  acquire: Effect.Effect<ReadonlyArray<ShardId.ShardId>>
  kept: ReadonlyArray<ShardId.ShardId>
  /** Whether locks can be released in a batch. */
  hasLocks: boolean
  /** Time in ms during which a previous owner may believe that it owns a shard. */
  waitMs: number
  /** Runs before the node is registered. */
  register: Effect.Effect<void>
  /** Runs while released shards are recorded. */
  end: Effect.Effect<void>
}

/** A node with leases of `leaseMs`, with the calls of its storage recorded. */
const makeStrangerWith = Effect.fnUntraced(function*(leaseMs: number) {
  const told: Array<string> = []
  const answers: Answers = {
    acquire: Effect.succeed([mine]),
    kept: [mine],
    hasLocks: true,
    waitMs: 0,
    register: Effect.void,
    end: Effect.void
  }
  /** Times in ms of lock renewals. */
  const renewals: Array<number> = []
  let term = 0
  const storage = yield* RunnerStorage.makeMemory
  const fake = RunnerStorage.RunnerStorage.of({
    ...storage,
    acquire: () => Effect.map(answers.acquire, (taken) => [...taken]),
    register: (...asked) => Effect.andThen(answers.register, storage.register(...asked)),
    refresh: () =>
      Effect.map(Clock.currentTimeMillis, (at) => {
        renewals.push(at)
        return [...answers.kept]
      }),
    release: (_, { id }) => Effect.sync(() => void told.push(`release ${id}`)),
    releaseAll: () => Effect.sync(() => void told.push("release all")),
    setRunnerHealth: (of, isHealthy) =>
      Effect.andThen(
        storage.setRunnerHealth(of, isHealthy),
        Effect.sync(() => void told.push(isHealthy ? "healthy" : "unhealthy"))
      )
  })
  const context = yield* Layer.build(
    Membership.layerOver(address, leaseMs).pipe(
      Layer.provide(Layer.succeed(RunnerStorage.RunnerStorage, fake)),
      Layer.provide(Layer.succeed(
        Locks,
        Locks.of({
          release: (shards) =>
            answers.hasLocks
              ? Effect.sync(() => void told.push(`unlock ${shards.join(" ")}`))
              : new ClusterError.PersistenceError({ cause: "lost" })
        })
      )),
      Layer.provide(Layer.succeed(
        ShardTerms,
        ShardTerms.of({
          begin: (shards) =>
            Effect.sync(() => shards.map((shard): StartedTerm => ({ shard, term: ++term, waitMs: answers.waitMs }))),
          end: (terms) =>
            Effect.andThen(
              answers.end,
              Effect.sync(() => void told.push(`end ${terms.map(({ shard }) => shard).join(" ")}`))
            )
        })
      ))
    )
  )
  const watched = Context.get(context, RunnerStorage.RunnerStorage)
  const { placement, ...ownership } = Context.get(context, Ownership)
  const { join } = Context.get(context, Membership)
  /** Reads the nodes without the pause before. */
  const refreshNow = Effect.suspend(() => {
    ownership.refreshNodes()
    return watched.getRunners
  })
  return { ...ownership, ...placement, join, refreshNow, storage, watched, answers, told, renewals }
})

const makeStranger = makeStrangerWith(4000)

/** A registered node of the cluster, with the calls of `Sharding` made by the test. */
const makeNode = Effect.tap(makeStranger, ({ watched }) => watched.register(runner(address), true))

describe("shard ownership", () => {
  it.effect("ends with the lease, counted from before the lock was requested", () =>
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

  it.effect("keeps its epoch (fencing number) while the lock is renewed", () =>
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

  // Goal: an owner that lost its connection and the next owner never own together. Method: PostgreSQL reports that it may believe to own for
  // three seconds more.
  it.effect("begins only when the previous owner's lease has certainly expired", () =>
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

  // Goal: ids rise over the owners of a player. They are drawn anew with a new highest epoch, so that an epoch must be numbered
  // when it begins. Method: another shard is taken while this one waits.
  it.effect("gets its epoch when it begins, above those of other shards that began while it waited", () =>
    Effect.gen(function*() {
      const node = yield* makeNode
      node.answers.waitMs = 3000
      yield* node.watched.acquire(address, [mine])
      const another = Array.from({ length: 100 }, (_, index) => index).find((one) => shardOf(one) !== mine.id) ?? 0
      node.answers.waitMs = 0
      node.answers.acquire = Effect.succeed([shard(shardOf(another))])
      yield* node.watched.acquire(address, [shard(shardOf(another))])
      const meanwhile = node.epochOf(another)
      assert.isAbove(meanwhile, 0)
      yield* TestClock.adjust("3 seconds")
      const epoch = node.epochOf(key)
      assert.isAbove(epoch, meanwhile)
      assert.strictEqual(node.epochOf(key), epoch)
      assert.isTrue(node.holds(key, epoch))
    }))

  it.effect("ends when the lock is lost, and has a new epoch when the lock is acquired again", () =>
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

  // Goal: a lock granted after its node's request had timed out does not block its owner for ever. Method: the session holds two untracked
  // shards, one of them the other node's.
  it.effect("releases a lock that was granted after its request had timed out, if another node owns the shard", () =>
    Effect.gen(function*() {
      const node = yield* makeNode
      yield* node.watched.register(runner(other), true)
      yield* node.refreshNow
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

  it.effect("takes no new commands for a shard being released, and unlocks it when accepted commands are done", () =>
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
      assert.deepStrictEqual(node.told, [`end ${mine.id}`, `unlock ${mine.id}`])
    }))

  // Goal: idle players do not wait for one who bets. Method: four shards are released; an actor of one works for a second, one of another
  // for half of it.
  it.effect("releases idle shards without waiting for shards with running commands", () =>
    Effect.gen(function*() {
      const node = yield* makeNode
      const keys = [key]
      for (let more = 0; keys.length < 4; more++) {
        if (keys.every((one) => shardOf(one) !== shardOf(more))) keys.push(more)
      }
      const [slow, other, ...resting] = keys.map((one) => shard(shardOf(one)))
      if (slow === undefined || other === undefined) return assert.fail("four shards")
      const all = [slow, other, ...resting]
      node.answers.acquire = Effect.succeed(all)
      yield* node.watched.acquire(address, all)
      const epoch = node.epochOf(key)
      node.onRelease((isReleased, meanwhile = () => Effect.void) =>
        Effect.gen(function*() {
          assert.isTrue(keys.every(isReleased))
          yield* meanwhile(keys.slice(0, 2))
          assert.deepStrictEqual(keys.filter(isReleased), keys.slice(0, 2))
          yield* Effect.sleep("500 millis")
          yield* meanwhile([key])
          yield* Effect.sleep("500 millis")
        })
      )
      const releasing = yield* Effect.forkChild(
        Effect.forEach(all, (one) => node.watched.release(address, one), { concurrency: "unbounded" })
      )
      const ids = resting.map(({ id }) => id).join(" ")
      const told = [`end ${ids}`, `unlock ${ids}`]
      yield* TestClock.adjust("1 milli")
      assert.deepStrictEqual(node.told, told)
      assert.isTrue(node.holds(key, epoch))
      yield* TestClock.adjust("500 millis")
      told.push(`end ${other.id}`, `unlock ${other.id}`)
      assert.deepStrictEqual(node.told, told)
      assert.isTrue(node.holds(key, epoch))
      yield* TestClock.adjust("500 millis")
      yield* Fiber.join(releasing)
      assert.deepStrictEqual(node.told, [...told, `end ${slow.id}`, `unlock ${slow.id}`])
    }))

  it.effect("releases a shard after three seconds, even with unfinished commands", () =>
    Effect.gen(function*() {
      const node = yield* makeNode
      node.onRelease(() => Effect.never)
      yield* node.watched.acquire(address, [mine])
      const epoch = node.epochOf(key)
      const releasing = yield* Effect.forkChild(node.watched.release(address, mine))
      yield* TestClock.adjust("3100 millis")
      yield* Fiber.join(releasing)
      assert.isFalse(node.holds(key, epoch))
      assert.deepStrictEqual(node.told, [`end ${mine.id}`, `unlock ${mine.id}`])
    }))

  it.effect("completes a release whose last step began just before the three seconds were over", () =>
    Effect.gen(function*() {
      const node = yield* makeNode
      node.onRelease((_, meanwhile = () => Effect.void) =>
        Effect.delay(meanwhile([]), "2900 millis").pipe(Effect.andThen(Effect.never))
      )
      node.answers.end = Effect.sleep("200 millis")
      yield* node.watched.acquire(address, [mine])
      const releasing = yield* Effect.forkChild(node.watched.release(address, mine))
      yield* TestClock.adjust("3200 millis")
      yield* Fiber.join(releasing)
      assert.deepStrictEqual(node.told, [`end ${mine.id}`, `unlock ${mine.id}`])
    }))

  it.effect("releases locks one by one when they cannot be released together", () =>
    Effect.gen(function*() {
      const node = yield* makeNode
      node.answers.hasLocks = false
      yield* node.watched.acquire(address, [mine])
      yield* node.watched.release(address, mine)
      assert.deepStrictEqual(node.told, [`end ${mine.id}`, `release ${mine.id}`])
    }))

  it.effect("iterates over the actors once for all shards released in one turn", () =>
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
      assert.lengthOf(node.told, 2)
    }))

  it.effect("ends at once when it is handed over, is announced as ended, and is not acquired again", () =>
    Effect.gen(function*() {
      const node = yield* makeNode
      yield* node.watched.register(runner(other), true)
      yield* node.watched.acquire(address, [mine])
      yield* node.refreshNow
      node.announce(() => void node.told.push("announced"))
      yield* node.handOver
      assert.deepStrictEqual(node.told, [
        "unhealthy",
        "announced",
        `end ${mine.id}`,
        `unlock ${mine.id}`,
        "announced",
        "release all"
      ])
      assert.strictEqual(node.epochOf(key), 0)
      assert.deepStrictEqual(yield* node.watched.acquire(address, [mine]), [])
      yield* node.refreshNow
      assert.strictEqual(node.ownerOf(key), "127.0.0.1:2")
      assert.deepStrictEqual([...node.nodes()], ["127.0.0.1:1", "127.0.0.1:2"])
    }))

  it.effect("is handed over completely before a second, simultaneous handover returns", () =>
    Effect.gen(function*() {
      const node = yield* makeNode
      yield* node.watched.acquire(address, [mine])
      node.answers.end = Effect.sleep("400 millis")
      const first = yield* Effect.forkChild(node.handOver, { startImmediately: true })
      const second = yield* Effect.forkChild(Effect.map(node.handOver, () => [...node.told]), {
        startImmediately: true
      })
      yield* TestClock.adjust("1 second")
      assert.include(yield* Fiber.join(second), "release all")
      yield* Fiber.join(first)
    }))

  it.effect("makes the node count as joined only when it holds every shard assigned to it", () =>
    Effect.gen(function*() {
      const node = yield* makeNode
      assert.isFalse(node.isJoined())
      yield* node.refreshNow
      yield* node.watched.acquire(address, [mine])
      assert.isFalse(node.isJoined())
      const all = Array.from({ length: shardCount }, (_, index) => shard(index + 1))
      node.answers.acquire = Effect.succeed(all)
      yield* node.watched.acquire(address, all)
      assert.isTrue(node.isJoined())
    }))

  // Goal: a node gets requests only once it is ready. Method: its registration takes a second; meanwhile all shards are assigned to another node,
  // and none to it.
  it.effect("does not make the node count as joined while it is being registered and has no shard assigned", () =>
    Effect.gen(function*() {
      const node = yield* makeStranger
      yield* node.storage.register(runner(other), true)
      node.answers.register = Effect.sleep("1 second")
      const registering = yield* Effect.forkChild(node.watched.register(runner(address), true))
      yield* TestClock.adjust("900 millis")
      yield* node.refreshNow
      assert.strictEqual(node.ownerOf(key), "127.0.0.1:2")
      assert.isFalse(node.isJoined())
      yield* TestClock.adjust("200 millis")
      yield* Fiber.join(registering)
      yield* node.refreshNow
      assert.isFalse(node.isJoined())
    }))

  // Goal: locks are renewed three times per lease, independent of the shortened pause of `Sharding`, with a lease of three seconds too.
  it.effect.each([2000, 3000, 4000])("is renewed three times per lease of %i ms", (leaseMs) =>
    Effect.gen(function*() {
      const scope = yield* Scope.make()
      const node = yield* Scope.provide(makeStrangerWith(leaseMs), scope)
      yield* node.join
      yield* TestClock.adjust("1 second")
      const from = node.renewals.length
      yield* TestClock.adjust(3 * leaseMs)
      assert.approximately(node.renewals.length - from, 9, 1)
      const closing = yield* Effect.forkChild(Scope.close(scope, Exit.void))
      yield* TestClock.adjust("2 seconds")
      yield* Fiber.join(closing)
    }))

  it.effect("reads the list of nodes four times a second, and at once when another node announces a change", () =>
    Effect.gen(function*() {
      const node = yield* makeNode
      yield* node.refreshNow
      for (const mayWait of [true, false]) {
        const reading = yield* Effect.forkChild(node.watched.getRunners)
        yield* TestClock.adjust("240 millis")
        assert.isUndefined(reading.pollUnsafe())
        if (mayWait) yield* TestClock.adjust("20 millis")
        else node.refreshNodes()
        yield* Fiber.join(reading)
      }
    }))

  // Goal: a starting node delays no player. Method: another node is running; this one's state is read before it joins.
  it.effect("begins when the node joins; before that, the node already knows the owner of each key", () =>
    Effect.gen(function*() {
      const node = yield* makeStranger
      yield* node.storage.register(runner(other), true)
      node.refreshNodes()
      yield* TestClock.adjust("1 second")
      assert.strictEqual(node.ownerOf(key), "127.0.0.1:2")
      assert.deepStrictEqual([...node.nodes()], ["127.0.0.1:2"])
      assert.isFalse(node.isJoined())
      assert.strictEqual(node.shardsHeld(), 0)
      node.announce(() => void node.told.push("announced"))
      yield* node.join
      yield* TestClock.adjust("100 millis")
      assert.sameMembers([...node.nodes()], ["127.0.0.1:1", "127.0.0.1:2"])
      assert.deepStrictEqual(node.told, ["announced"])
    }))

  // Goal: a lock that is released late is taken at once. Method: its lock is free some time after the first round has
  // given up, in the pause before the next one.
  it.effect("begins as soon as the lock is free, also between two rounds of lock requests", () =>
    Effect.gen(function*() {
      const scope = yield* Scope.make()
      const node = yield* Scope.provide(makeStranger, scope)
      let isFree = false
      node.answers.acquire = Effect.sync(() => isFree ? [mine] : [])
      yield* node.join
      yield* TestClock.adjust("900 millis")
      assert.strictEqual(node.epochOf(key), 0)
      isFree = true
      yield* TestClock.adjust("200 millis")
      assert.isAbove(node.epochOf(key), 0)
      const closing = yield* Effect.forkChild(Scope.close(scope, Exit.void))
      yield* TestClock.adjust("2 seconds")
      yield* Fiber.join(closing)
    }))

  // a release with another placement would share players with the one before it, while both run
  it("maps keys to the same shards as every earlier release", () => {
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
