/** Cluster membership: effect/cluster assigns shards to nodes by way of PostgreSQL. Nothing else of effect/cluster is used. */
import { Clock, Context, Duration, Effect, Layer, Option } from "effect"
import {
  MessageStorage,
  type RunnerAddress,
  RunnerHealth,
  Runners,
  type RunnerStorage,
  Sharding,
  ShardingConfig,
  SqlRunnerStorage
} from "effect/cluster"
import { layerMembershipClient } from "../platform/Database.ts"
import { Locks } from "./Locks.ts"
import { Ownership } from "./Ownership.ts"
import { nameOf, shardCount, shardGroup } from "./Shards.ts"
import { ShardTerms } from "./ShardTerms.ts"

/** Pause before a lost shard is requested again, once its work has been released. */
const pollPause = "250 millis"

/** Fixed pause in ms of `Sharding` after every round of locks, even with locks to take or to release. */
const fixedPauseMs = 1000

/** Replaces that pause; pending locks are tried every 50 ms anyway. */
const shortPause = Duration.millis(50)

const shortenPause = (clock: Clock.Clock): Clock.Clock => ({
  currentTimeMillisUnsafe: () => clock.currentTimeMillisUnsafe(),
  currentTimeMillis: clock.currentTimeMillis,
  currentTimeNanosUnsafe: () => clock.currentTimeNanosUnsafe(),
  currentTimeNanos: clock.currentTimeNanos,
  monotonicTimeNanosUnsafe: () => clock.monotonicTimeNanosUnsafe(),
  monotonicTimeNanos: clock.monotonicTimeNanos,
  sleep: (duration) => clock.sleep(Duration.toMillis(duration) === fixedPauseMs ? shortPause : duration)
})

const layerShortPause = Layer.effect(Clock.Clock, Effect.map(Clock.Clock, shortenPause))

/**
 * Interval of lock renewal in ms: a third of the lease, so that a failed renewal can be retried once. Never equal to the pause that is cut short, and
 * whole milliseconds: a millisecond clock never reaches a fractional deadline, and `Sharding` would renew in a loop until then.
 */
const refreshMs = (leaseMs: number): number => {
  const third = Math.floor(leaseMs / 3)
  return third === fixedPauseMs ? fixedPauseMs - 1 : third
}

/** `leaseMs`: whole seconds over PostgreSQL. */
const layerConfig = (address: RunnerAddress.RunnerAddress, leaseMs: number) =>
  ShardingConfig.layer({
    runnerAddress: Option.some(address),
    shardsPerGroup: shardCount,
    availableShardGroups: [shardGroup],
    assignedShardGroups: [shardGroup],
    shardLockExpiration: leaseMs,
    shardLockRefreshInterval: refreshMs(leaseMs),
    // `Ownership` delays this read until there may be a change
    refreshAssignmentsInterval: 1,
    entityMessagePollInterval: pollPause,
    runnerHealthCheckInterval: "1 minute",
    simulateRemoteSerialization: false
  })

/**
 * Cluster membership over the storage of effect/cluster: without entities and messages, hence without a port of effect's own.
 * A node is dead when its lease expires, even if others can still reach it.
 */
export class Membership extends Context.Service<Membership, {
  /** Makes this node a member, once: from then on it is assigned players. Before, it only knows the members. */
  readonly join: Effect.Effect<void>
}>()("pitboss/cluster/Membership") {
  /** Provides `Ownership` as well. Needs the storage shared by the nodes, its `Locks`, and `ShardTerms`. */
  static readonly layerOver = (address: RunnerAddress.RunnerAddress, leaseMs: number) =>
    Layer.effect(
      Membership,
      Effect.gen(function*() {
        const scope = yield* Effect.scope
        const context = yield* Effect.context<RunnerStorage.RunnerStorage>()
        const sharding = Layer.fresh(Sharding.layer).pipe(
          Layer.provide([Runners.layerNoop, RunnerHealth.layerNoop]),
          Layer.provide([MessageStorage.layerNoop, layerShortPause]),
          Layer.provide(layerConfig(address, leaseMs))
        )
        return Membership.of({
          join: Effect.asVoid(Effect.provideContext(Layer.buildWithScope(sharding, scope), context))
        })
      })
    ).pipe(
      Layer.provideMerge(Ownership.layer),
      Layer.provide(layerConfig(address, leaseMs))
    )

  /** Over PostgreSQL. */
  static readonly layer = (address: RunnerAddress.RunnerAddress, leaseSeconds: number) =>
    Membership.layerOver(address, leaseSeconds * 1000).pipe(
      Layer.provide([
        SqlRunnerStorage.layerStorage({}).pipe(
          Layer.provide(layerConfig(address, leaseSeconds * 1000)),
          Layer.provideMerge(Locks.layer)
        ),
        ShardTerms.layer(nameOf(address), leaseSeconds)
      ]),
      Layer.provide(layerMembershipClient)
    )
}
