/**
 * Which keys this node owns, until when, and who owns the others.
 *
 * effect/cluster decides: nodes register in PostgreSQL, a hash ring gives every shard to one of them, and an advisory lock makes sure that it
 * is one. This listens to what passes between `Sharding` and its storage, and keeps three things that `Sharding` does not tell: until when a
 * lock is certainly held, a new epoch whenever one was taken, and who owns what is not here.
 */
import { Clock, Context, Deferred, Duration, Effect, Fiber, Latch, Layer, Schedule, Semaphore } from "effect"
import { type RunnerAddress, RunnerStorage, ShardId, ShardingConfig } from "effect/cluster"
import { Placement, type Release } from "../engine/Placement.ts"
import { monotonicClock } from "../platform/MonotonicClock.ts"
import { Locks } from "./Locks.ts"
import { assign, nameOf, shardCount, shardGroup, shardOf } from "./Shards.ts"
import { Tenures } from "./Tenures.ts"

/** The clocks of two machines run at the same speed, to this part of the lease. */
const leaseMargin = 0.05

/** Time for what was accepted, when a shard is handed over. What is left then fails: its commit is fenced. */
const maxDrainTime = "3 seconds"

/** Pause between two looks at the nodes; it ends at once when another node says that something has changed. */
const lookPause = "250 millis"

/** Pause before locks that another node has not released yet, or a connection that was lost, are tried again. */
const retryPause = "50 millis"

/** Of a node that hands over: time for PostgreSQL to hear of it. */
const maxFarewellTime = "2 seconds"

/** Time for PostgreSQL to hear that shards are given up, and to release their locks; unheard, their next owners wait as if this node had been lost. */
const maxNoteTime = "500 millis"

/** Counts since the start. */
export interface OwnershipCounts {
  /** Shards taken and given. */
  moves: number
  /** Looks at an epoch that was over. */
  stale: number
}

export class Ownership extends Context.Service<Ownership, {
  readonly placement: Placement["Service"]
  /** `host:port` of this node. */
  readonly self: string
  /** The node that is to own a key, as far as is known here; undefined before anybody is. */
  readonly ownerOf: (key: number) => string | undefined
  /** All live nodes, also those that own nothing because they leave. */
  readonly nodes: () => ReadonlySet<string>
  /** Hears of every change of the nodes or the owners, and of what this node takes. */
  readonly listen: (listener: () => void) => void
  /** Looks at the nodes now, and at the locks that are waited for: another node has changed. */
  readonly look: () => void
  /** Hears when the other nodes should look: this one is there, begins to leave, or has given shards. */
  readonly announce: (tell: () => void) => void
  /** Whether this node was among the owners, and has held all that was its own. */
  readonly isJoined: () => boolean
  readonly isLeaving: () => boolean
  /** Gives all shards to others and takes no more. */
  readonly handOver: Effect.Effect<void>
  readonly shardsHeld: () => number
  /** Milliseconds that all shards held are certainly held; null when there are none. */
  readonly leaseMsLeft: () => number | null
  readonly counts: Readonly<OwnershipCounts>
}>()("pitboss/cluster/Ownership") {
  /** Gives `RunnerStorage` as `Sharding` must be given it, over the one it is built on. */
  static readonly layer = Layer.effectContext(Effect.gen(function*() {
    const config = yield* ShardingConfig.ShardingConfig
    const storage = yield* RunnerStorage.RunnerStorage
    const tenures = yield* Tenures
    const locks = yield* Locks
    const monotonic = monotonicClock(yield* Clock.Clock)
    const now = () => monotonic.currentTimeMillisUnsafe()
    if (config.runnerAddress._tag === "None") return yield* Effect.die("a node needs an address")
    const address = config.runnerAddress.value
    const self = nameOf(address)
    const fullLeaseMs = Duration.toMillis(Duration.fromInputUnsafe(config.shardLockExpiration))
    const leaseMs = fullLeaseMs * (1 - leaseMargin)
    // `Sharding` gives an operation a third of the lease
    const maxRetryMs = fullLeaseMs / 6

    /** By shard: the epoch of its lock, 0 without one; from when and until when it is certainly held; whether it is about to be given. */
    const epochs = new Uint32Array(shardCount + 1)
    const heldFrom = new Float64Array(shardCount + 1)
    const heldUntil = new Float64Array(shardCount + 1)
    const isReleased = new Uint8Array(shardCount + 1)
    /** Whether the epoch has to wait for the owner before, and nobody has met it yet. */
    const isLate = new Uint8Array(shardCount + 1)
    /** Whether the lock is there to be released: of what was lost it is not. */
    const isLocked = new Uint8Array(shardCount + 1)
    /** As PostgreSQL numbers them. */
    const tenureOf = new Map<number, number>()
    let lastEpoch = 0
    const counts: OwnershipCounts = { moves: 0, stale: 0 }

    let owners: ReadonlyArray<string> = []
    let nodes: ReadonlySet<string> = new Set()
    let seen = ""
    let isJoined = false
    let isLeaving = false
    let isRegistered = false
    /** Whether this node was among those that shards fall to when they were looked at last. */
    let isCounted = false
    const listeners: Array<() => void> = []
    const tellers: Array<() => void> = []
    const mayLook = Latch.makeUnsafe(true)
    /** Opened with the next news, and replaced. */
    let news = Latch.makeUnsafe(false)
    const look = (): void => {
      mayLook.openUnsafe()
      news.openUnsafe()
      news = Latch.makeUnsafe(false)
    }
    const call = (those: ReadonlyArray<() => void>) => () => {
      for (const one of those) one()
    }
    const [changed, announced] = [call(listeners), call(tellers)]
    const releases: Array<Release> = []

    const isHeld = (shard: number): boolean => {
      const at = now()
      return at >= (heldFrom[shard] ?? 0) && at < (heldUntil[shard] ?? 0)
    }

    /**
     * Numbers epochs that had to wait, when the first of them is met: the owner before may have given ids until now, and those here are drawn anew
     * with a number above all before.
     */
    const beginLate = (): void => {
      const epoch = ++lastEpoch
      for (let shard = 1; shard <= shardCount; shard++) {
        if (isLate[shard] === 0 || !isHeld(shard)) continue
        isLate[shard] = 0
        epochs[shard] = epoch
      }
    }

    const placement = Placement.of({
      isShared: true,
      epochOf: (key) => {
        const shard = shardOf(key)
        if (epochs[shard] === 0 || isReleased[shard] === 1) return 0
        if (isHeld(shard)) {
          if (isLate[shard] === 1) beginLate()
          return epochs[shard] ?? 0
        }
        if (now() >= (heldFrom[shard] ?? 0)) counts.stale++
        return 0
      },
      holds: (key, epoch) => {
        const shard = shardOf(key)
        if (epochs[shard] === epoch && isHeld(shard)) return true
        counts.stale++
        return false
      },
      onRelease: (release) => void releases.push(release)
    })

    const end = (shard: number): void => {
      if (epochs[shard] !== 0) counts.moves++
      epochs[shard] = 0
      heldUntil[shard] = 0
      isReleased[shard] = 0
      isLate[shard] = 0
    }

    /** Ends the epochs of shards whose locks are still held. */
    const giveUp = (shards: ReadonlyArray<number>): Effect.Effect<void> => {
      const given = shards.flatMap((shard) => {
        const tenure = tenureOf.get(shard)
        return tenure === undefined || isLocked[shard] === 0 ? [] : [{ shard, tenure }]
      })
      for (const shard of shards) {
        end(shard)
        tenureOf.delete(shard)
      }
      return given.length === 0 ? Effect.void : tenures.end(given).pipe(
        Effect.interruptible,
        Effect.timeout(maxNoteTime),
        Effect.ignore
      )
    }

    /** Releases the locks of shards. One that is not reached is released alone, when `Sharding` asks. */
    const unlock = (shards: ReadonlyArray<number>): Effect.Effect<void> =>
      Effect.suspend(() => {
        const locked = shards.filter((shard) => isLocked[shard] === 1)
        return locked.length === 0 ? Effect.void : locks.release(locked).pipe(
          Effect.interruptible,
          Effect.timeout(maxNoteTime),
          Effect.andThen(Effect.sync(() => {
            for (const shard of locked) isLocked[shard] = 0
            announced()
          })),
          Effect.ignore
        )
      })

    const noteJoined = (): void => {
      isJoined ||= isRegistered && isCounted &&
        owners.every((owner, index) => owner !== self || epochs[index + 1] !== 0 && now() >= (heldFrom[index + 1] ?? 0))
    }

    const note = (runners: Effect.Success<typeof storage.getRunners>): void => {
      const live = runners.map(([{ address, weight }, isHealthy]) => ({ address, weight, isHealthy }))
      const text = live.map(({ address, isHealthy, weight }) => `${nameOf(address)}*${weight}${isHealthy ? "" : "-"}`)
        .toSorted().join(" ")
      if (text !== seen) {
        seen = text
        nodes = new Set(live.map(({ address }) => nameOf(address)))
        const healthy = live.filter(({ isHealthy }) => isHealthy)
        owners = assign(healthy)
        isCounted = healthy.some(({ address }) => nameOf(address) === self)
        changed()
      }
      noteJoined()
    }

    /** The shards that are released in one turn: the actors are walked once for all of them. */
    let gathering: { readonly shards: Set<number>; readonly done: Deferred.Deferred<void> } | undefined
    const drain = (shards: ReadonlyArray<number>): Effect.Effect<void> =>
      Effect.suspend(() => {
        for (const shard of shards) isReleased[shard] = 1
        if (gathering !== undefined) {
          for (const shard of shards) gathering.shards.add(shard)
          return Deferred.await(gathering.done)
        }
        const mine = { shards: new Set(shards), done: Deferred.makeUnsafe<void>() }
        gathering = mine
        /** Of shards that nobody works for any more, or must not. */
        const give = (shards: ReadonlyArray<number>): Effect.Effect<void> =>
          Effect.andThen(giveUp(shards), unlock(shards))
        const gifts: Array<Fiber.Fiber<void>> = []
        const released = Effect.suspend(() => {
          gathering = undefined
          /** By release: the shards that it still works for. */
          const busy = releases.map((): ReadonlySet<number> => mine.shards)
          /** Most players rest: theirs need not wait for the slowest. Half of what is left each time, so that there are few times. */
          const giveFree = Effect.suspend(() => {
            const free = [...mine.shards].filter((shard) => !busy.some((shards) => shards.has(shard)))
            if (free.length * 2 < mine.shards.size) return Effect.void
            for (const shard of free) mine.shards.delete(shard)
            // in a fiber of its own: what is being given is not cut off when the time to drain is over
            return Effect.map(
              Effect.forkIn(give(free), scope, { startImmediately: true }),
              (gift) => void gifts.push(gift)
            )
          })
          const finish = (release: Release, index: number) =>
            release((key) => mine.shards.has(shardOf(key)), (keys) =>
              Effect.suspend(() => {
                busy[index] = new Set(keys.map(shardOf))
                return giveFree
              })).pipe(Effect.andThen(Effect.sync(() => {
                busy[index] = new Set()
              })))
          return Effect.forEach(releases, finish, { concurrency: "unbounded", discard: true })
        })
        return Effect.andThen(Effect.yieldNow, released).pipe(
          Effect.timeoutOption(maxDrainTime),
          Effect.ensuring(Effect.suspend(() => {
            if (gathering === mine) gathering = undefined
            return give([...mine.shards]).pipe(
              Effect.andThen(Fiber.awaitAll(gifts)),
              Effect.ensuring(Deferred.succeed(mine.done, undefined))
            )
          })),
          Effect.asVoid
        )
      })

    const heldShards = () => Array.from(epochs.keys()).filter((shard) => epochs[shard] !== 0)

    const allShards = Array.from({ length: shardCount }, (_, index) => ShardId.make(shardGroup, index + 1))
    const services = yield* Effect.context<never>()
    const scope = yield* Effect.scope
    const fork = (effect: Effect.Effect<unknown>) => void Effect.runForkWith(services)(Effect.forkIn(effect, scope))

    // a lock that was asked for before the handover must not be given after it
    const turn = Semaphore.makeUnsafe(1)

    /** Tries again for as long as may be: the connection of the locks is made anew when it was lost. */
    const patiently = <A, E>(operation: Effect.Effect<A, E>): Effect.Effect<A, E> =>
      Effect.suspend(() => {
        const until = now() + maxRetryMs
        return Effect.retry(operation, { schedule: Schedule.spaced(retryPause), while: () => now() < until })
      })

    /** Locks that were got after who asked for them had given up: nobody else would ever release them, and their owner waits. */
    const releaseStrays = (runner: RunnerAddress.RunnerAddress, strays: ReadonlyArray<ShardId.ShardId>) =>
      Effect.andThen(
        drain(strays.map(({ id }) => id)),
        Effect.forEach(strays, (shard) => storage.release(runner, shard), { discard: true })
      )

    const watched = RunnerStorage.RunnerStorage.of({
      ...storage,
      // ends when there may be something new: `Sharding` asks again at once
      getRunners: Effect.timeoutOption(mayLook.await, lookPause).pipe(
        Effect.andThen(Effect.suspend(() => {
          mayLook.closeUnsafe()
          return storage.getRunners
        })),
        Effect.map((runners) => {
          note(runners)
          // `Sharding` would make the last node that leaves healthy again
          return isLeaving ? runners.map(([runner, is]) => [runner, is || nameOf(runner.address) === self]) : runners
        })
      ),
      // a node is dead when its lease is over, and leaves when it says so: there is no other judge
      setRunnerHealth: () => Effect.void,
      // a node that was frozen is back when it can hold locks, and not before
      register: (runner, isHealthy) => {
        const isBack = isRegistered
        isRegistered = true
        const registered = Effect.tap(storage.register(runner, isHealthy), () =>
          Effect.sync(() => {
            look()
            announced()
          }))
        return isBack
          ? Effect.andThen(patiently(storage.refresh(address, [ShardId.make(shardGroup, 1)])), registered)
          : registered
      },
      // what another node is about to release is taken as soon as it does: `Sharding` asks once a second
      acquire: (runner, asked) =>
        turn.withPermits(1)(Effect.suspend(() => {
          const shards = Array.from(asked)
          const taken = new Map<number, ShardId.ShardId>()
          const until = now() + maxRetryMs
          const take = Effect.suspend(() => {
            const before = now()
            const wanted = new Map(shards.filter(({ id }) => !taken.has(id)).map((shard) => [shard.id, shard]))
            return storage.acquire(runner, [...wanted.values()]).pipe(
              Effect.flatMap((locked) => {
                for (const { id } of locked) isLocked[id] = 1
                return isLeaving || locked.length === 0 ? Effect.succeed([]) : tenures.begin(locked.map(({ id }) => id))
              }),
              Effect.map((begun) => {
                const from = now()
                // one for all: with each new epoch ids are drawn anew
                const epoch = ++lastEpoch
                for (const { shard: id, tenure, waitMs } of begun) {
                  const shard = wanted.get(id)
                  if (isLeaving || shard === undefined) continue
                  taken.set(id, shard)
                  tenureOf.set(id, tenure)
                  if (epochs[id] === 0) counts.moves++
                  epochs[id] = epoch
                  isLate[id] = waitMs > 0 ? 1 : 0
                  heldFrom[id] = from + waitMs
                  heldUntil[id] = before + leaseMs
                }
                noteJoined()
                if (begun.length > 0) changed()
              })
            )
          })
          const [asOwned, isChanged] = [owners, () => owners !== asOwned]
          const isDone = () => isLeaving || isChanged() || taken.size >= shards.length || now() >= until
          const pause = Effect.suspend(() => isDone() ? Effect.void : Effect.timeoutOption(news.await, retryPause))
          return isLeaving ? Effect.succeed([]) : Effect.andThen(take, pause).pipe(
            Effect.repeat({ until: isDone }),
            Effect.map(() => isLeaving ? [] : [...taken.values()])
          )
        })),
      refresh: (runner, asked) =>
        patiently(Effect.suspend(() => {
          const shards = Array.from(asked)
          const before = now()
          return Effect.map(storage.refresh(runner, shards.length === 0 ? shards : allShards), (locked) => {
            const held = new Set(locked.map(({ id }) => id))
            const kept: Array<ShardId.ShardId> = []
            for (const shard of shards) {
              const { id } = shard
              if (held.delete(id)) {
                kept.push(shard)
                if (epochs[id] !== 0) heldUntil[id] = before + leaseMs
                continue
              }
              isLocked[id] = 0
              end(id)
            }
            const strays = locked.filter(({ id }) => held.has(id) && owners[id - 1] !== self)
            if (strays.length > 0) fork(turn.withPermitsIfAvailable(1)(Effect.ignore(releaseStrays(runner, strays))))
            return kept
          })
        })),
      release: (runner, shard) =>
        Effect.andThen(
          drain([shard.id]),
          Effect.suspend(() => {
            if (isLocked[shard.id] === 0) return Effect.void
            return Effect.tap(storage.release(runner, shard), () =>
              Effect.sync(() => {
                isLocked[shard.id] = 0
              }))
          })
        ),
      releaseAll: (runner) => Effect.andThen(Effect.suspend(() => drain(heldShards())), storage.releaseAll(runner))
    })

    const tolerantly = <A, E>(said: Effect.Effect<A, E>): Effect.Effect<void> =>
      Effect.timeout(said, maxFarewellTime).pipe(
        Effect.catchCause((cause) => Effect.logWarning("cluster not told of the handover", cause)),
        Effect.asVoid
      )
    /** Unhealthy nodes are to own nothing; this one goes on saying that it lives. */
    const resign = storage.setRunnerHealth(address, false).pipe(
      Effect.andThen(Effect.sync(() => {
        look()
        announced()
      }))
    )
    /** Locks that it holds unknowingly as well. */
    const releaseRest = storage.releaseAll(address).pipe(
      Effect.andThen(Effect.sync(() => isLocked.fill(0))),
      turn.withPermits(1)
    )
    const handOver = Effect.suspend(() => {
      if (isLeaving) return Effect.void
      isLeaving = true
      // the others begin to ask for the locks while what was accepted is done
      return Effect.all(
        [tolerantly(resign), Effect.andThen(drain(heldShards()), tolerantly(releaseRest))],
        { concurrency: "unbounded", discard: true }
      )
    })

    // before this node is one of them, it knows the others: what comes meanwhile is sent to its owner
    yield* Effect.forkScoped(Effect.repeat(Effect.ignore(watched.getRunners), { while: () => !isRegistered }))

    return Context.make(RunnerStorage.RunnerStorage, watched).pipe(
      Context.add(
        Ownership,
        Ownership.of({
          placement,
          self,
          ownerOf: (key) => owners[shardOf(key) - 1],
          nodes: () => nodes,
          listen: (listener) => void listeners.push(listener),
          look,
          announce: (tell) => void tellers.push(tell),
          isJoined: () => isJoined,
          isLeaving: () => isLeaving,
          handOver,
          shardsHeld: () => heldShards().filter(isHeld).length,
          leaseMsLeft: () => {
            const held = heldShards()
            return held.length === 0
              ? null
              : Math.max(0, Math.min(...held.map((shard) => heldUntil[shard] ?? 0)) - now())
          },
          counts
        })
      )
    )
  }))
}
