/** Membership of the cluster: effect/cluster decides who owns which shard, on PostgreSQL, and does nothing else. */
import { Effect, Layer, Option, Schema } from "effect"
import {
  MessageStorage,
  type RunnerAddress,
  RunnerHealth,
  Runners,
  Sharding,
  ShardingConfig,
  SqlRunnerStorage
} from "effect/cluster"
import { SqlClient, SqlSchema } from "effect/sql"
import { layerMembershipClient } from "../platform/Database.ts"
import { Settings } from "../platform/Settings.ts"
import { StartupError } from "../platform/StartupError.ts"
import { Ownership } from "./Ownership.ts"
import { nameOf, shardCount, shardGroup } from "./Shards.ts"
import { Tenures } from "./Tenures.ts"

/** How often the nodes there are are looked up. */
const lookPause = "250 millis"

const config = (address: RunnerAddress.RunnerAddress, leaseSeconds: number) =>
  ShardingConfig.layer({
    runnerAddress: Option.some(address),
    shardsPerGroup: shardCount,
    availableShardGroups: [shardGroup],
    assignedShardGroups: [shardGroup],
    shardLockExpiration: `${leaseSeconds} seconds`,
    // a third of the lease: one that fails may be tried once more
    shardLockRefreshInterval: leaseSeconds * 1000 / 3,
    refreshAssignmentsInterval: lookPause,
    // also how soon a shard that was lost is asked for again, once it is let go of
    entityMessagePollInterval: lookPause,
    runnerHealthCheckInterval: "1 minute",
    simulateRemoteSerialization: false
  })

/**
 * Gives `Ownership`. There are neither entities nor messages, so there is no port of effect's own: a node is dead when its lease is over,
 * whoever can still reach it.
 */
export const layerMembership = (address: RunnerAddress.RunnerAddress, leaseSeconds: number) =>
  Sharding.layer.pipe(
    Layer.provide([Runners.layerNoop, RunnerHealth.layerNoop]),
    Layer.provide(MessageStorage.layerNoop),
    Layer.provideMerge(Ownership.layer),
    Layer.provide([SqlRunnerStorage.layerStorage({}), Tenures.layer(nameOf(address), leaseSeconds)]),
    Layer.provide(layerMembershipClient),
    Layer.provide(config(address, leaseSeconds))
  )

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
