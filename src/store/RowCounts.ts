/** Maintained row counts of lists, by day and filter (`player_counts`, `payment_counts`), so that a page does not count a million rows. */
import { Effect, Schema, type Scope } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { toDate, utcDay } from "../platform/Time.ts"
import { rowsOf } from "./Rows.ts"

const dayMs = 86_400_000

/** Maximum changes summed on each count; above it they are folded. */
const maxUnfolded = 2000

const totals = rowsOf(Schema.Struct({ total: Schema.Number, loose: Schema.Number }))
const counts = rowsOf(Schema.Struct({ total: Schema.Number }))

/** Filters of a count. Instants are epoch milliseconds, inclusive; absent means any. */
export interface CountFilters<Group extends string> {
  readonly operatorId: number | undefined
  readonly groups: { readonly [Name in Group]?: string | undefined }
  readonly createdFrom?: number | undefined
  readonly createdTo?: number | undefined
}

/** Half-open interval: `from` inclusive, `to` exclusive; undefined is open. */
interface Interval {
  readonly from: number | undefined
  readonly to: number | undefined
}

/** Instant after all rows: years have four digits. */
const endOfTime = Date.UTC(10_000, 0, 1)

/** Splits an interval into whole days (UTC) and the remainders before and after them. */
export const splitDays = (
  createdFrom: number | undefined,
  createdTo: number | undefined
): { readonly days: Interval | undefined; readonly rests: ReadonlyArray<Interval> } => {
  const end = createdTo === undefined || createdTo + 1 >= endOfTime ? undefined : createdTo + 1
  const from = createdFrom === undefined ? undefined : Math.ceil(createdFrom / dayMs) * dayMs
  const to = end === undefined ? undefined : Math.floor(end / dayMs) * dayMs
  if (from !== undefined && from >= (to ?? endOfTime)) {
    return { days: undefined, rests: [{ from: createdFrom, to: end }] }
  }
  return {
    days: { from, to },
    rests: [
      ...(createdFrom === undefined || createdFrom === from ? [] : [{ from: createdFrom, to: from }]),
      ...(end === undefined || end === to ? [] : [{ from: to, to: end }])
    ]
  }
}

/**
 * Counts rows of `table` from the maintained counts in `kept`, which has the columns `groups`.
 *
 *     const countPlayers = yield* makeRowCounts("players", "player_counts", ["status", "kyc_status"])
 *     const total = yield* countPlayers({ operatorId, groups: { status: "locked" } })
 */
export const makeRowCounts = Effect.fnUntraced(function*<const Group extends string>(
  table: string,
  kept: string,
  groups: ReadonlyArray<Group>
): Effect.fn.Return<
  (filters: CountFilters<Group>) => Effect.Effect<number, SqlError.SqlError>,
  never,
  SqlClient.SqlClient | Scope.Scope
> {
  const sql = yield* SqlClient.SqlClient
  const scope = yield* Effect.scope
  // Kept: folding. Counts that are being folded. Several nodes: its own: two that fold the same rows wait for each other, and the second finds none.
  const folding = new Set<number>()

  /** Folds the changes of an operator into one row per group. Concurrent writers and readers are not blocked. */
  const fold = (operatorId: number) =>
    Effect.suspend(() => {
      if (folding.has(operatorId)) return Effect.void
      folding.add(operatorId)
      const names = sql.literal(groups.join(", "))
      return sql`WITH gone AS (
          DELETE FROM ${
        sql.literal(kept)
      } WHERE operator_id = ${operatorId}::float8::bigint RETURNING created_on, ${names}, rows
        )
        INSERT INTO ${sql.literal(kept)} (operator_id, created_on, ${names}, rows, folded)
        SELECT ${operatorId}::float8::bigint, created_on, ${names}, sum(rows), true
        FROM gone GROUP BY created_on, ${names} HAVING sum(rows) <> 0`.pipe(
        Effect.tapError(() => Effect.annotateLogs(Effect.logWarning("row count compaction failed"), { table: kept })),
        Effect.ensuring(Effect.sync(() => folding.delete(operatorId))),
        Effect.ignore
      )
    })

  return Effect.fnUntraced(function*({ createdFrom, createdTo, groups: wanted, operatorId }: CountFilters<Group>) {
    const shared = [
      ...(operatorId === undefined ? [] : [sql`operator_id = ${operatorId}::float8::bigint`]),
      ...groups.flatMap((name) => {
        const value = wanted[name]
        return value === undefined ? [] : [sql`${sql.literal(name)} = ${value}`]
      })
    ]
    const { days, rests } = splitDays(createdFrom, createdTo)
    let total = 0
    if (days !== undefined) {
      const [found] = yield* totals(
        sql`SELECT coalesce(sum(rows), 0)::float8 AS total, (count(*) FILTER (WHERE NOT folded))::float8 AS loose
          FROM ${sql.literal(kept)} WHERE ${
          sql.and([
            sql`true`,
            ...shared,
            ...(days.from === undefined ? [] : [sql`created_on >= ${utcDay(days.from)}::text::date`]),
            ...(days.to === undefined ? [] : [sql`created_on < ${utcDay(days.to)}::text::date`])
          ])
        }`
      )
      total += found?.total ?? 0
      if (operatorId !== undefined && (found?.loose ?? 0) > maxUnfolded) {
        yield* Effect.forkIn(fold(operatorId), scope)
      }
    }
    for (const { from, to } of rests) {
      const [found] = yield* counts(
        sql`SELECT count(*) AS total FROM ${sql.literal(table)} WHERE ${
          sql.and([
            sql`true`,
            ...shared,
            ...(from === undefined ? [] : [sql`created_at >= ${toDate(from)}`]),
            ...(to === undefined ? [] : [sql`created_at < ${toDate(to)}`])
          ])
        }`
      )
      total += found?.total ?? 0
    }
    return total
  })
})
