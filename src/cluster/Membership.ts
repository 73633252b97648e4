/** Membership of the cluster: effect/cluster decides who owns which shard, on PostgreSQL, and does nothing else. */
import { Clock, Context, Duration, Effect, Layer, Option, Schema } from "effect"
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
import { SqlClient, SqlSchema } from "effect/sql"
import { layerMembershipClient } from "../platform/Database.ts"
import { Settings } from "../platform/Settings.ts"
import { StartupError } from "../platform/StartupError.ts"
import { Locks } from "./Locks.ts"
import { Ownership } from "./Ownership.ts"
import { nameOf, shardCount, shardGroup } from "./Shards.ts"
import { Tenures } from "./Tenures.ts"

/** How soon a shard that was lost is asked for again, once it is let go of. */
const pollPause = "250 millis"

/** Where `Sharding` sleeps for a second: after every round of locks, whatever there is to take or to give meanwhile. */
const restMs = 1000

/** What it rests here; who is to be given locks tries them every 50 milliseconds. */
const shortRest = Duration.millis(50)

const hurry = (clock: Clock.Clock): Clock.Clock => ({
  currentTimeMillisUnsafe: () => clock.currentTimeMillisUnsafe(),
  currentTimeMillis: clock.currentTimeMillis,
  currentTimeNanosUnsafe: () => clock.currentTimeNanosUnsafe(),
  currentTimeNanos: clock.currentTimeNanos,
  monotonicTimeNanosUnsafe: () => clock.monotonicTimeNanosUnsafe(),
  monotonicTimeNanos: clock.monotonicTimeNanos,
  sleep: (duration) => clock.sleep(Duration.toMillis(duration) === restMs ? shortRest : duration)
})

const layerHurry = Layer.effect(Clock.Clock, Effect.map(Clock.Clock, hurry))

/**
 * How often locks are renewed: a third of the lease, so that one that fails may be tried once more. Never as long as the rest, which is cut short, and
 * whole milliseconds: a clock of milliseconds never meets the end of a part of one, and `Sharding` renews again and again meanwhile.
 */
const refreshMs = (leaseMs: number): number => {
  const third = Math.floor(leaseMs / 3)
  return third === restMs ? restMs - 1 : third
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
    // `Ownership` says when there may be something new
    refreshAssignmentsInterval: 1,
    entityMessagePollInterval: pollPause,
    runnerHealthCheckInterval: "1 minute",
    simulateRemoteSerialization: false
  })

/**
 * Membership of the cluster, over the storage of effect/cluster: there are neither entities nor messages, so there is no port of effect's own,
 * and a node is dead when its lease is over, whoever can still reach it.
 */
export class Membership extends Context.Service<Membership, {
  /** Makes this node one of them, once: from then on it is given players. Before, it only knows the others. */
  readonly join: Effect.Effect<void>
}>()("pitboss/cluster/Membership") {
  /** Gives `Ownership` as well. Needs the storage that nodes share, its `Locks`, and `Tenures`. */
  static readonly layerOver = (address: RunnerAddress.RunnerAddress, leaseMs: number) =>
    Layer.effect(
      Membership,
      Effect.gen(function*() {
        const scope = yield* Effect.scope
        const context = yield* Effect.context<RunnerStorage.RunnerStorage>()
        const sharding = Layer.fresh(Sharding.layer).pipe(
          Layer.provide([Runners.layerNoop, RunnerHealth.layerNoop]),
          Layer.provide([MessageStorage.layerNoop, layerHurry]),
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
        Tenures.layer(nameOf(address), leaseSeconds)
      ]),
      Layer.provide(layerMembershipClient)
    )
}

const Live = Schema.Struct({ nodes: Schema.Int })

/** Refuses to start as one process while nodes of a cluster own the players. */
export const refuseLiveNodes = Effect.gen(function*() {
  const { clusterLeaseSeconds } = yield* Settings
  const sql = yield* SqlClient.SqlClient
  const [live] = yield* SqlSchema.findAll({
    Request: Schema.Void,
    Result: Live,
    execute: () =>
      sql`SELECT count(*)::int4 AS nodes FROM cluster_runners
        WHERE last_heartbeat > now() AT TIME ZONE 'UTC' - ${clusterLeaseSeconds} * INTERVAL '1 second'`
  })(undefined)
  if (live === undefined || live.nodes === 0) return
  return yield* new StartupError({
    message:
      `CLUSTER=off while ${live.nodes} nodes of a cluster serve this database: stop them, or start with CLUSTER=on`
  })
}).pipe(
  Effect.catchTags({
    SqlError: () => Effect.fail(new StartupError({ message: "the database does not say whether a cluster serves it" })),
    SchemaError: () =>
      Effect.fail(new StartupError({ message: "the database does not say whether a cluster serves it" }))
  })
)
