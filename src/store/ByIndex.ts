/**
 * Runs statements that must use an index, with sequential scans disabled: the planner misjudges block range indexes, and would read a whole ledger.
 */
import { Effect } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { inTransaction } from "../platform/InTransaction.ts"

/**
 * Runs statements in a transaction with sequential scans disabled. The planner rates a block range index (BRIN) by the correlation of values with
 * their position, which is meaningless for one with Bloom filters: for uncorrelated ids it expects to read the whole table. Its statistics may also
 * be out of date for the newest rows.
 */
export const makeByIndex = Effect.map(
  SqlClient.SqlClient,
  (sql) => <A, E, R>(statements: Effect.Effect<A, E, R>): Effect.Effect<A, E | SqlError.SqlError, R> =>
    inTransaction(sql)(Effect.andThen(sql`SET LOCAL enable_seqscan = off`, statements))
)
