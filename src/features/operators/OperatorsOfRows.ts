/**
 * Fills in the operator of rows that were written before every row had one, in slices, in the order in which the rows lie. The next version
 * relies on it (`docs/decisions/0045-operators-apart.md`).
 */
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { inTransaction } from "../../platform/InTransaction.ts"
import type { JobResult } from "../../platform/Scheduler.ts"
import { oneOf, rowsOf } from "../../store/Rows.ts"

/** Pages of a slice: some thousand rows, locked for some milliseconds. */
const pagesPerSlice = 32
const slicesPerRun = 64

const walks = rowsOf(Schema.Struct({ name: Schema.String, page: Schema.Number }))
const counts = rowsOf(Schema.Struct({ rows: Schema.Number }))

export class OperatorsOfRows extends Context.Service<OperatorsOfRows, {
  /** Fills in the next rows, until none is left. */
  readonly run: Effect.Effect<JobResult, SqlError.SqlError>
}>()("pitboss/operators/OperatorsOfRows") {
  static readonly layer = Layer.effect(
    OperatorsOfRows,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient

      /** A row that is locked is being written, with its operator: it is passed over. */
      const fillSlice = (table: string, page: number) =>
        oneOf(counts(
          sql`WITH found AS (
              SELECT t.ctid AS place, a.operator_id FROM ${
            sql.literal(table)
          } t JOIN accounts a ON a.player_id = t.player_id
              WHERE t.ctid >= ${`(${page},0)`}::text::tid AND t.ctid < ${`(${page + pagesPerSlice},0)`}::text::tid
                AND t.operator_id IS NULL
              FOR NO KEY UPDATE OF t SKIP LOCKED
            ), filled AS (
              UPDATE ${
            sql.literal(table)
          } t SET operator_id = found.operator_id FROM found WHERE t.ctid = found.place RETURNING 1
            )
            SELECT count(*)::float8 AS rows FROM filled`
        ))

      /** One slice, and how far its table is, in one transaction; undefined when all is done. */
      const next = inTransaction(sql)(Effect.gen(function*() {
        const walk = yield* oneOf(walks(
          sql`SELECT name, page::float8 AS page FROM operator_walk WHERE page < pages ORDER BY name LIMIT 1 FOR UPDATE`
        ))
        if (walk === undefined) return undefined
        const { name, page } = walk
        const filled = yield* fillSlice(name, page)
        yield* sql`UPDATE operator_walk SET page = ${page + pagesPerSlice}::float8::bigint WHERE name = ${name}`
        return filled?.rows ?? 0
      }))

      const run = Effect.gen(function*() {
        let done = 0
        for (let slices = 0; slices < slicesPerRun; slices++) {
          const filled = yield* next
          if (filled === undefined) break
          done += filled
        }
        return { done, hasMore: false }
      })

      return OperatorsOfRows.of({ run })
    })
  )
}
