/** Statements that read by an index whatever the planner believes. */
import { Effect } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { inTransaction } from "../platform/InTransaction.ts"

/**
 * Runs statements, in a transaction, without reading any table from front to back. The planner judges a block range index by how the values
 * lie in the table, which says nothing of one with Bloom filters: for ids that lie anyhow it expects to read everything. And its statistics
 * may be of yesterday, where the newest rows are looked for.
 */
export const makeByIndex = Effect.map(
  SqlClient.SqlClient,
  (sql) => <A, E, R>(statements: Effect.Effect<A, E, R>): Effect.Effect<A, E | SqlError.SqlError, R> =>
    inTransaction(sql)(Effect.andThen(sql`SET LOCAL enable_seqscan = off`, statements))
)
