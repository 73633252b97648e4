/** Bonus cost report: costs from sums maintained by triggers, liabilities from periodic snapshots (`docs/decisions/0018-reports.md`). */
import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { Refusal } from "../../domain/Refusal.ts"
import type { JobResult } from "../../platform/Scheduler.ts"
import { iso, toDate } from "../../platform/Time.ts"
import { ReportConcurrency } from "../../platform/ReportConcurrency.ts"
import { ReportClient } from "../../platform/Database.ts"
import { oneOf, orTryAgain, rowsOf } from "../../store/Rows.ts"
import { liabilitiesOf } from "../bonuses/Liabilities.ts"
import { type Days, rangeOf } from "./Days.ts"
import { tooManyReports } from "./Reports.ts"
import type { BonusCost } from "../../contract/reports/SeriesResource.ts"

/** Changes that one run folds into the sums. */
const changesPerRun = 20_000

const costRows = rowsOf(Schema.Struct({
  bonus_id: Schema.Number,
  name: Schema.String,
  type: Schema.String,
  currency: Schema.String,
  granted: Schema.Number,
  granted_amount: Schema.Number,
  converted: Schema.Number,
  forfeited: Schema.Number,
  running: Schema.NullOr(Schema.Number),
  liability: Schema.NullOr(Schema.Number),
  liability_at: Schema.NullOr(Schema.Date)
}))
const foldRows = rowsOf(Schema.Struct({ rows: Schema.Number }))

export class BonusCosts extends Context.Service<BonusCosts, {
  /**
   * Cost per bonus of an operator in a range of days, and the liability of its grants. A report waits for its turn up to ten seconds, then it
   * fails with `TRY_AGAIN`.
   */
  readonly report: (
    operatorId: number,
    days: Days
  ) => Effect.Effect<ReadonlyArray<typeof BonusCost.Type>, Refusal<"VALIDATION_FAILED" | "TRY_AGAIN">>
  /** Folds deltas into one row per group. Idempotent. */
  readonly addUp: Effect.Effect<JobResult, Refusal<"TRY_AGAIN">>
  /** Reads how many grants run or wait, and their bonus funds: one pass over them. */
  readonly readLiabilities: Effect.Effect<JobResult, Refusal<"TRY_AGAIN">>
}>()("pitboss/reports/BonusCosts") {
  static readonly layer = Layer.effect(
    BonusCosts,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const reporting = yield* ReportClient
      const limitConcurrency = yield* ReportConcurrency

      const report = Effect.fn("BonusCosts.report")(function*(operatorId: number, days: Days) {
        yield* rangeOf(days, "day")
        const inRange = sql`day BETWEEN ${days.from}::text::date AND ${days.to}::text::date`
        // over all currencies: an unread bonus has a row in the currency of one grant only
        const isUnread = sql`bool_or(bool_or(s.running IS NULL)) OVER (PARTITION BY b.id)`
        const rows = yield* costRows(
          reporting`WITH parts AS (
              SELECT bonus_id, currency, is_test, granted, granted_amount, finished, converted, forfeited, 0 AS running,
                0 AS liability, NULL::timestamptz AS at
              FROM bonus_costs WHERE operator_id = ${operatorId} AND ${inRange}
              UNION ALL
              SELECT bonus_id, currency, is_test, granted, granted_amount, finished, converted, forfeited, 0, 0, NULL
              FROM bonus_cost_changes WHERE operator_id = ${operatorId} AND ${inRange}
              UNION ALL
              SELECT bonus_id, currency, is_test, 0, 0, 0, 0, 0, running, amount, at
              FROM ${liabilitiesOf(sql, yield* Clock.currentTimeMillis, operatorId)} l
            )
            SELECT b.id AS bonus_id, b.name, b.type, s.currency, sum(s.granted)::float8 AS granted,
              sum(s.granted_amount)::float8 AS granted_amount, sum(s.converted)::float8 AS converted,
              sum(s.forfeited)::float8 AS forfeited, max(s.at) AS liability_at,
              CASE WHEN NOT ${isUnread} THEN sum(s.running)::float8 END AS running,
              CASE WHEN NOT ${isUnread} THEN sum(s.liability)::float8 END AS liability
            FROM parts s JOIN bonuses b ON b.id = s.bonus_id ${days.includeTestPlayers ? sql`` : sql`AND NOT s.is_test`}
            GROUP BY b.id, b.name, b.type, s.currency
            HAVING sum(s.granted) > 0 OR sum(s.finished) > 0 OR sum(s.running) > 0 OR bool_or(s.running IS NULL)
            ORDER BY b.name, b.id, s.currency`
        ).pipe(limitConcurrency(tooManyReports))
        return rows.map((row) => ({
          ...row,
          liability_at: row.liability_at === null ? null : iso(row.liability_at.getTime())
        }))
      }, orTryAgain)

      const fold = oneOf(foldRows(
        sql`WITH gone AS (
            DELETE FROM bonus_cost_changes WHERE ctid = ANY(ARRAY(
              SELECT ctid FROM bonus_cost_changes LIMIT ${changesPerRun}
            )) RETURNING *
          ), added AS (
            INSERT INTO bonus_costs AS c
              (operator_id, day, bonus_id, currency, is_test, granted, granted_amount, finished, converted, forfeited)
            SELECT operator_id, day, bonus_id, currency, is_test, sum(granted), sum(granted_amount), sum(finished),
              sum(converted), sum(forfeited)
            FROM gone GROUP BY 1, 2, 3, 4, 5 ORDER BY 1, 2, 3, 4, 5
            ON CONFLICT (operator_id, day, bonus_id, currency, is_test) DO UPDATE
            SET granted = c.granted + excluded.granted, granted_amount = c.granted_amount + excluded.granted_amount,
              finished = c.finished + excluded.finished, converted = c.converted + excluded.converted,
              forfeited = c.forfeited + excluded.forfeited
          )
          SELECT count(*)::float8 AS rows FROM gone`
      ))

      const addUp = Effect.gen(function*() {
        const folded = (yield* fold)?.rows ?? 0
        return { done: folded, hasMore: folded === changesPerRun }
      }).pipe(orTryAgain, Effect.withSpan("BonusCosts.addUp"))

      const readLiabilities = Effect.gen(function*() {
        const now = toDate(yield* Clock.currentTimeMillis)
        const rows = yield* sql`WITH held AS (
            SELECT b.operator_id, b.bonus_id, p.currency, p.is_test, count(*) AS running,
              sum(CASE b.state WHEN 'activated' THEN a.bonus_balance ELSE coalesce(b.held_amount, b.amount) END) AS amount
            FROM player_bonuses b JOIN players p ON p.id = b.player_id JOIN accounts a ON a.player_id = b.player_id
            WHERE b.state <> 'finished' GROUP BY 1, 2, 3, 4
          ), before AS (SELECT operator_id, bonus_id, currency, is_test FROM bonus_liabilities)
          INSERT INTO bonus_liabilities AS l (operator_id, bonus_id, currency, is_test, running, amount, at)
          SELECT operator_id, bonus_id, currency, is_test, coalesce(running, 0), coalesce(amount, 0), ${now}::timestamptz
          FROM held FULL JOIN before USING (operator_id, bonus_id, currency, is_test) ORDER BY 1, 2, 3, 4
          ON CONFLICT (operator_id, bonus_id, currency, is_test) DO UPDATE
            SET running = excluded.running, amount = excluded.amount, at = excluded.at
            WHERE l.running > 0 OR excluded.running > 0
          RETURNING 1`
        return { done: rows.length, hasMore: false }
      }).pipe(orTryAgain, Effect.withSpan("BonusCosts.readLiabilities"))

      return BonusCosts.of({ report, addUp, readLiabilities })
    })
  )
}
