/**
 * Ownership of players, by their ids (keys): those that this node owns and until when, and the owners of the others.
 *
 * effect/cluster decides: nodes register in PostgreSQL, a hash ring assigns every shard to one of them, and an advisory lock makes the owner unique.
 * This module intercepts the calls of `Sharding` to its storage and tracks three facts that `Sharding` does not expose: until when a lock is
 * certainly held, a new fencing epoch (a rising number) whenever a lock is taken, and the owners of other nodes' shards.
 */
import { Clock, Context, Deferred, Duration, Effect, Fiber, Latch, Layer, Schedule, Semaphore } from "effect"
import { type RunnerAddress, RunnerStorage, ShardId, ShardingConfig } from "effect/cluster"
import { Placement, type Release } from "../engine/Placement.ts"
import { monotonicClock } from "../platform/MonotonicClock.ts"
import { Locks } from "./Locks.ts"
import { assign, nameOf, shardCount, shardGroup, shardOf } from "./Shards.ts"
import { ShardTerms } from "./ShardTerms.ts"

/** Assumed maximum difference in speed between the clocks of two machines, as a fraction of the lease. */
const leaseMargin = 0.05

/** Time limit for draining accepted work of a shard that is handed over. The rest fails: its commit is fenced. */
const maxDrainTime = "3 seconds"

/** Pause between two reads of the node list; cut short when another node announces a change. */
const nodesPause = "250 millis"

/** Pause before retrying locks that another node has not released yet, or a lost connection. */
const retryPause = "50 millis"

/** Time limit for writing a handover to PostgreSQL. */
const maxResignTime = "2 seconds"

/** Time limit for recording released shards in PostgreSQL and unlocking them; on failure their next owners wait as for a lost node. */
const maxNoteTime = "500 millis"

/** Counts since the start. */
export interface OwnershipCounts {
  /** Shards taken and given. */
  moves: number
  /** Checks of an epoch that had expired. */
  stale: number
}

export class Ownership extends Context.Service<Ownership, {
  readonly placement: Placement["Service"]
  /** Highest epoch of any key so far: all keys share one sequence. */
  readonly newestEpoch: () => number
  /** `host:port` of this node. */
  readonly self: string
  /** Assigned owner of a key as far as known here; undefined before the first assignment. */
  readonly ownerOf: (key: number) => string | undefined
  /** All live nodes, including those that own nothing because they are leaving. */
  readonly nodes: () => ReadonlySet<string>
  /** Registers a listener for changes of nodes or owners and for shards taken by this node. */
  readonly listen: (listener: () => void) => void
  /** Reads the nodes and retries pending locks now, because another node has changed. */
  readonly refreshNodes: () => void
  /** Registers the function that notifies other nodes: this one has joined, begins to leave, or has released shards. */
  readonly announce: (notify: () => void) => void
  /** Whether this node was among the owners and has held all its assigned shards. */
  readonly isJoined: () => boolean
  readonly isLeaving: () => boolean
  /** Gives all shards to other nodes until it is called with false; requests are forwarded meanwhile. */
  readonly standAside: (isAside: boolean) => Effect.Effect<void>
  /** Hands over all shards and takes no more; ends when that is done, also for a second caller. */
  readonly handOver: Effect.Effect<void>
  readonly shardsHeld: () => number
  /** Time in ms for which all held shards are certainly held; null without shards. */
  readonly leaseMsLeft: () => number | null
  readonly counts: Readonly<OwnershipCounts>
}>()("pitboss/cluster/Ownership") {
  /** Provides `RunnerStorage` for `Sharding`, wrapping the underlying one. */
  static readonly layer = Layer.effectContext(Effect.gen(function*() {
    const config = yield* ShardingConfig.ShardingConfig
    const storage = yield* RunnerStorage.RunnerStorage
    const terms = yield* ShardTerms
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

    // Kept: epochs, heldFrom, heldUntil, termOf, isReleased, isLate, lastEpoch, owners, nodes, seen, isJoined, isLeaving, isLocked, isRegistered,
    // isAside, isCounted, listeners, notifiers, nextChange, releases, gathering, turn. Which shards this node holds and until when, and who owns the
    // others. Several nodes: its own shards by their locks and the lease's clock; those of others are read again every quarter of a second and when a
    // node says that it came or left; an owner that is none says so.
    /** By shard: epoch of its lock, 0 without one; start and end of the time it is certainly held; whether it is being released. */
    const epochs = new Uint32Array(shardCount + 1)
    const heldFrom = new Float64Array(shardCount + 1)
    const heldUntil = new Float64Array(shardCount + 1)
    const isReleased = new Uint8Array(shardCount + 1)
    /** Whether the epoch must wait for the previous owner and has not been used yet. */
    const isLate = new Uint8Array(shardCount + 1)
    /** Whether the lock is there to release; false for a lost one. */
    const isLocked = new Uint8Array(shardCount + 1)
    /** Terms in PostgreSQL, by shard. */
    const termOf = new Map<number, number>()
    let lastEpoch = 0
    const counts: OwnershipCounts = { moves: 0, stale: 0 }

    let owners: ReadonlyArray<string> = []
    let nodes: ReadonlySet<string> = new Set()
    let seen = ""
    let isJoined = false
    let isLeaving = false
    let isRegistered = false
    let isAside = false
    /** Whether this node was eligible for shards at the last read of the nodes. */
    let isCounted = false
    const listeners: Array<() => void> = []
    const notifiers: Array<() => void> = []
    const nodesDue = Latch.makeUnsafe(true)
    /** Opened at the next change, and replaced. */
    let nextChange = Latch.makeUnsafe(false)
    const refreshNodes = (): void => {
      nodesDue.openUnsafe()
      nextChange.openUnsafe()
      nextChange = Latch.makeUnsafe(false)
    }
    const call = (those: ReadonlyArray<() => void>) => () => {
      for (const one of those) one()
    }
    const [changed, announced] = [call(listeners), call(notifiers)]
    const releases: Array<Release> = []

    const isHeld = (shard: number): boolean => {
      const at = now()
      return at >= (heldFrom[shard] ?? 0) && at < (heldUntil[shard] ?? 0)
    }

    /**
     * Renumbers late epochs on the first use of one: the previous owner may have allocated ids until now, and a new highest epoch makes this
     * node draw new ids.
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
        const term = termOf.get(shard)
        return term === undefined || isLocked[shard] === 0 ? [] : [{ shard, term }]
      })
      for (const shard of shards) {
        end(shard)
        termOf.delete(shard)
      }
      return given.length === 0 ? Effect.void : terms.end(given).pipe(
        Effect.interruptible,
        Effect.timeout(maxNoteTime),
        Effect.ignore
      )
    }

    /** Releases the locks of shards in one batch. On failure each is released alone when `Sharding` asks. */
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

    /** Shards released in one turn, so that the actors are walked once for all of them. */
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
        /** Gives up shards whose work is done or out of time. */
        const give = (shards: ReadonlyArray<number>): Effect.Effect<void> =>
          Effect.andThen(giveUp(shards), unlock(shards))
        const handovers: Array<Fiber.Fiber<void>> = []
        const released = Effect.suspend(() => {
          gathering = undefined
          /** By release: shards with work left. */
          const busy = releases.map((): ReadonlySet<number> => mine.shards)
          /** Releases idle shards early, so that they need not wait for the slowest; at least half of the rest each time, to bound the calls. */
          const giveFree = Effect.suspend(() => {
            const free = [...mine.shards].filter((shard) => !busy.some((shards) => shards.has(shard)))
            if (free.length * 2 < mine.shards.size) return Effect.void
            for (const shard of free) mine.shards.delete(shard)
            // in its own fiber: the end of the drain time must not interrupt a release
            return Effect.map(
              Effect.forkIn(give(free), scope, { startImmediately: true }),
              (handover) => void handovers.push(handover)
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
              Effect.andThen(Fiber.awaitAll(handovers)),
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

    // a lock requested before the handover must not be granted after it
    const turn = Semaphore.makeUnsafe(1)

    /** Retries within the time limit: a lost connection of the locks is reopened. */
    const patiently = <A, E>(operation: Effect.Effect<A, E>): Effect.Effect<A, E> =>
      Effect.suspend(() => {
        const until = now() + maxRetryMs
        return Effect.retry(operation, { schedule: Schedule.spaced(retryPause), while: () => now() < until })
      })

    /** Releases locks acquired after their requester had timed out; otherwise they would stay locked and their owner would wait. */
    const releaseStrays = (runner: RunnerAddress.RunnerAddress, strays: ReadonlyArray<ShardId.ShardId>) =>
      Effect.andThen(
        drain(strays.map(({ id }) => id)),
        Effect.forEach(strays, (shard) => storage.release(runner, shard), { discard: true })
      )

    const watched = RunnerStorage.RunnerStorage.of({
      ...storage,
      // ends on a change: `Sharding` asks again at once
      getRunners: Effect.timeoutOption(nodesDue.await, nodesPause).pipe(
        Effect.andThen(Effect.suspend(() => {
          nodesDue.closeUnsafe()
          return storage.getRunners
        })),
        Effect.map((runners) => {
          note(runners)
          // otherwise `Sharding` marks the last leaving node healthy again
          return isLeaving ? runners.map(([runner, is]) => [runner, is || nameOf(runner.address) === self]) : runners
        })
      ),
      // a node is dead when its lease expires, and leaves by its own decision; no other health check applies
      setRunnerHealth: () => Effect.void,
      // a node that was frozen registers again only once it can hold locks
      register: (runner, isHealthy) => {
        const isBack = isRegistered
        isRegistered = true
        const registered = Effect.tap(storage.register(runner, isHealthy && !isAside), () =>
          Effect.sync(() => {
            refreshNodes()
            announced()
          }))
        return isBack
          ? Effect.andThen(patiently(storage.refresh(address, [ShardId.make(shardGroup, 1)])), registered)
          : registered
      },
      // retries in here, to take a lock as soon as another node releases it: `Sharding` asks once a second
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
                return isLeaving || locked.length === 0 ? Effect.succeed([]) : terms.begin(locked.map(({ id }) => id))
              }),
              Effect.map((begun) => {
                const from = now()
                // one epoch for the batch: each new epoch draws new ids
                const epoch = ++lastEpoch
                for (const { shard: id, term, waitMs } of begun) {
                  const shard = wanted.get(id)
                  if (isLeaving || shard === undefined) continue
                  taken.set(id, shard)
                  termOf.set(id, term)
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
          const pause = Effect.suspend(() =>
            isDone() ? Effect.void : Effect.timeoutOption(nextChange.await, retryPause)
          )
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
      Effect.timeout(said, maxResignTime).pipe(
        Effect.catchCause((cause) => Effect.logWarning("other nodes were not notified of the handover", cause)),
        Effect.asVoid
      )
    /** Marks this node healthy or not: unhealthy, it is assigned no shards; its heartbeat goes on. */
    const markHealthy = (isHealthy: boolean) =>
      storage.setRunnerHealth(address, isHealthy).pipe(
        Effect.andThen(Effect.sync(() => {
          refreshNodes()
          announced()
        }))
      )
    const resign = markHealthy(false)
    const standAside = (is: boolean) =>
      Effect.suspend(() => {
        isAside = is
        return isLeaving ? Effect.void : tolerantly(markHealthy(!is))
      })
    /** Releases all locks, including any untracked ones. */
    const releaseRest = storage.releaseAll(address).pipe(
      Effect.andThen(Effect.sync(() => isLocked.fill(0))),
      turn.withPermits(1)
    )
    const handedOver = Deferred.makeUnsafe<void>()
    const handOver = Effect.suspend(() => {
      if (isLeaving) return Deferred.await(handedOver)
      isLeaving = true
      // other nodes begin to request the locks while accepted work is drained
      return Effect.all(
        [tolerantly(resign), Effect.andThen(drain(heldShards()), tolerantly(releaseRest))],
        { concurrency: "unbounded", discard: true }
      ).pipe(Effect.ensuring(Deferred.succeed(handedOver, undefined)))
    })

    // before joining, this node reads the node list: requests received meanwhile are forwarded to their owners
    yield* Effect.forkScoped(Effect.repeat(Effect.ignore(watched.getRunners), { while: () => !isRegistered }))

    return Context.make(RunnerStorage.RunnerStorage, watched).pipe(
      Context.add(
        Ownership,
        Ownership.of({
          placement,
          newestEpoch: () => lastEpoch,
          self,
          ownerOf: (key) => owners[shardOf(key) - 1],
          nodes: () => nodes,
          listen: (listener) => void listeners.push(listener),
          refreshNodes,
          announce: (notify) => void notifiers.push(notify),
          isJoined: () => isJoined,
          isLeaving: () => isLeaving,
          standAside,
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
