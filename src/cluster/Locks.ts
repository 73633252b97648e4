/**
 * Releases locks of shards many at a time. The storage of effect/cluster releases one by one, two statements each, over the one connection that
 * holds them all: of a hundred shards that move, the players of the last would wait for two hundred round trips.
 */
import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer } from "effect"
import { ClusterError } from "effect/cluster"
import { Reactivity } from "effect/reactivity"
import { SqlClient, type SqlConnection } from "effect/sql"

/** The two numbers of an advisory lock, as `SqlRunnerStorage` has them for the prefix `cluster` and the first group; they are for ever. */
const namespace = -1_455_371_005
const numberOf = (shard: number): number => 1_000_000 + shard

export class Locks extends Context.Service<Locks, {
  /** Releases the locks that this node holds among these. One that it held twice is found by the storage's next renewal. */
  readonly release: (shards: ReadonlyArray<number>) => Effect.Effect<void, ClusterError.PersistenceError>
}>()("pitboss/cluster/Locks") {
  /** Gives the client that the storage has to be built on as well. */
  static readonly layer = Layer.effectContext(Effect.gen(function*() {
    const client = yield* SqlClient.SqlClient
    let holder: SqlConnection.Connection | undefined
    const sql = yield* SqlClient.make({
      acquirer: client.reserve,
      // the storage reserves one, for its locks, and another one when that is lost
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
