/**
 * Releases shard locks in batches. The storage of effect/cluster releases them one by one, with two statements each, over the single connection that
 * holds them all: when a hundred shards move, the players of the last shard would wait for two hundred round trips.
 */
import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer } from "effect"
import { ClusterError } from "effect/cluster"
import { Reactivity } from "effect/reactivity"
import { SqlClient, type SqlConnection } from "effect/sql"

/** Key pair of an advisory lock, as `SqlRunnerStorage` derives it for the prefix `cluster` and the first group; must never change. */
const namespace = -1_455_371_005
const numberOf = (shard: number): number => 1_000_000 + shard

export class Locks extends Context.Service<Locks, {
  /** Releases those of the given locks that this node holds. A lock held twice is found by the storage's next renewal. */
  readonly release: (shards: ReadonlyArray<number>) => Effect.Effect<void, ClusterError.PersistenceError>
}>()("pitboss/cluster/Locks") {
  /** Provides the client that the storage must be built on as well. */
  static readonly layer = Layer.effectContext(Effect.gen(function*() {
    const client = yield* SqlClient.SqlClient
    // Kept: holder. The connection that holds the locks of its shards. Several nodes: its own.
    let holder: SqlConnection.Connection | undefined
    const sql = yield* SqlClient.make({
      acquirer: client.reserve,
      // the storage reserves one connection for its locks, and another after losing it
      transactionAcquirer: Effect.tap(client.reserve, (connection) =>
        Effect.sync(() => {
          holder = connection
        })),
      compiler: PgClient.makeCompiler(),
      driver: client.driver,
      spanAttributes: [["db.system.name", "postgresql"]]
    })
    return Context.make(SqlClient.SqlClient, sql).pipe(Context.add(
      Locks,
      Locks.of({
        release: (shards) =>
          Effect.suspend(() => {
            if (holder === undefined) return Effect.void
            const [text, values] = sql`SELECT pg_advisory_unlock(${namespace}, number)
              FROM unnest(${shards.map(numberOf)}::int4[]) AS given (number)`.compile()
            return Effect.asVoid(holder.executeRaw(text, values))
          }).pipe((released) => ClusterError.PersistenceError.refail(released))
      })
    ))
  })).pipe(Layer.provide(Reactivity.layer))
}
