/** Service without a cluster (`CLUSTER=off`): one process, which owns every player. */
import { Effect, Layer, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import { Placement } from "../engine/Placement.ts"
import { Settings } from "../platform/Settings.ts"
import { StartupError } from "../platform/StartupError.ts"
import { Forwarder } from "./Forwarder.ts"
import { Nodes } from "./Nodes.ts"

export const layerSingleNode = Layer.mergeAll(Placement.layerHere, Forwarder.layerNone, Nodes.layerNone)

const Live = Schema.Struct({ nodes: Schema.Int })

/** Refuses the start while nodes of a cluster own the players. */
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
    SqlError: () =>
      Effect.fail(new StartupError({ message: "the database cannot be queried for running cluster nodes" })),
    SchemaError: () =>
      Effect.fail(new StartupError({ message: "the database cannot be queried for running cluster nodes" }))
  })
)
