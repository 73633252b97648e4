import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { rowsOf } from "../../src/store/Rows.ts"

const read = rowsOf(Schema.Struct({ rows: Schema.Number }))

/**
 * Number of rows of a table that PostgreSQL reads for an effect, in a separate transaction: shows whether a page is read from
 * an index in its order, independent of speed.
 */
export const rowsRead = Effect.fnUntraced(function*<E, R>(table: string, effect: Effect.Effect<unknown, E, R>) {
  const sql = yield* SqlClient.SqlClient
  // earlier reads of the session count too until its statistics are flushed
  const soFar = Effect.map(
    read(sql`SELECT (coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0))::float8 AS rows
      FROM pg_stat_xact_user_tables WHERE relname = ${table}`),
    ([found]) => found?.rows ?? 0
  )
  return yield* sql.withTransaction(Effect.gen(function*() {
    const before = yield* soFar
    yield* effect
    return (yield* soFar) - before
  }))
})
