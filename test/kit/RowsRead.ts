import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { rowsOf } from "../../src/store/Rows.ts"

const read = rowsOf(Schema.Struct({ rows: Schema.Number }))

/**
 * How many rows of a table PostgreSQL takes up for what an effect asks, in a transaction of its own: says whether a page comes from
 * an index in its order, however fast the machine is.
 */
export const rowsRead = Effect.fnUntraced(function*<E, R>(table: string, effect: Effect.Effect<unknown, E, R>) {
  const sql = yield* SqlClient.SqlClient
  // what the session took up before counts as well, until its numbers are collected
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
