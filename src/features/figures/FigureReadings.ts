/** Jobs that take periodic snapshots of figures for which no hourly sums are maintained: the current day's results, and player balances. */
import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { stepMs } from "../../domain/Figures.ts"
import { maxLocalDays } from "../../domain/LocalDays.ts"
import type { Refusal } from "../../domain/Refusal.ts"
import type { JobResult } from "../../platform/Scheduler.ts"
import { toDate, utcDay } from "../../platform/Time.ts"
import { orTryAgain, rowsOf } from "../../store/Rows.ts"

const dayMs = stepMs.day

/** A reading later than this after its hour would count the next hour's figures as this one's: none is made then. */
const latestMs = 10 * 60_000

/** How long readings are kept: those of the days of any zone, the first of which begins on an earlier day of UTC. */
const retentionMs = (maxLocalDays + 2) * dayMs

const missingRows = rowsOf(Schema.Struct({ id: Schema.Number }))

export class FigureReadings extends Context.Service<FigureReadings, {
  /**
   * Records the results of each operator's current day (UTC), once per full hour and within ten minutes after it, and deletes records after 42
   * days. Idempotent, also with several nodes.
   */
  readonly readHour: Effect.Effect<JobResult, Refusal<"TRY_AGAIN">>
  /** Records player balances by operator, currency and wallet: one pass over the accounts. */
  readonly readFunds: Effect.Effect<JobResult, Refusal<"TRY_AGAIN">>
}>()("pitboss/figures/FigureReadings") {
  static readonly layer = Layer.effect(
    FigureReadings,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient

      const readOne = (operatorId: number, at: number) => {
        const day = utcDay(at)
        return sql`WITH converted AS (
            SELECT s.*, CASE WHEN s.currency = o.currency THEN 1 WHEN r.base = o.currency THEN r.factor END AS factor
            FROM daily_sums s JOIN operators o ON o.id = s.operator_id
              LEFT JOIN exchange_rates r ON r.id = s.exchange_rate_id
            WHERE s.operator_id = ${operatorId} AND s.day = ${day}::date AND NOT s.is_test
          ), readings AS (
            SELECT provider_id, sum(rounds) AS rounds, round(coalesce(sum(bets * factor), 0)) AS bets,
              round(coalesce(sum(wins * factor), 0)) AS wins,
              round(coalesce(sum(bonus_conversions * factor), 0)) AS bonus_conversions,
              round(coalesce(sum((deposits - chargebacks) * factor), 0)) AS deposits,
              round(coalesce(sum(withdrawals * factor), 0)) AS withdrawals, 0 AS players, 0 AS registrations
            FROM converted GROUP BY provider_id
            UNION ALL
            SELECT 0, 0, 0, 0, 0, 0, 0,
              coalesce((SELECT sum(players) FROM daily_players v WHERE v.operator_id = ${operatorId}
                AND v.day = ${day}::date AND v.kind = 'casino' AND NOT v.is_test), 0),
              (SELECT count(*) FROM players p WHERE p.operator_id = ${operatorId} AND NOT p.is_test
                AND p.created_at >= ${day}::date::timestamp AT TIME ZONE 'UTC' AND p.created_at < ${toDate(at)})
          )
          INSERT INTO figure_hours (operator_id, at, provider_id, rounds, bets, wins, bonus_conversions, deposits,
            withdrawals, players, registrations)
          SELECT ${operatorId}, ${toDate(at)}, provider_id, sum(rounds), sum(bets), sum(wins), sum(bonus_conversions),
            sum(deposits), sum(withdrawals), sum(players), sum(registrations)
          FROM readings GROUP BY provider_id
          ON CONFLICT DO NOTHING`
      }

      const readHour = Effect.gen(function*() {
        const now = yield* Clock.currentTimeMillis
        const at = Math.floor(now / stepMs.hour) * stepMs.hour
        // at midnight the previous day is complete, and its daily sums serve
        const isDue = at % dayMs !== 0 && now - at <= latestMs
        const missing = isDue
          ? yield* missingRows(
            sql`SELECT id FROM operators o WHERE NOT EXISTS (
                SELECT FROM figure_hours h WHERE h.operator_id = o.id AND h.at = ${toDate(at)} AND h.provider_id = 0
              ) ORDER BY id`
          )
          : []
        yield* Effect.forEach(missing, ({ id }) => readOne(id, at), { discard: true })
        yield* sql`DELETE FROM figure_hours WHERE at < ${toDate(now - retentionMs)}`
        return { done: missing.length, hasMore: false }
      }).pipe(orTryAgain, Effect.withSpan("FigureReadings.readHour"))

      const readFunds = Effect.gen(function*() {
        const now = toDate(yield* Clock.currentTimeMillis)
        // one pass for all operators: each on its own would read the accounts once for each
        const rows = yield* sql`WITH held AS (
            SELECT a.operator_id, p.currency, sum(a.real_balance) AS "real", sum(a.bonus_balance) AS bonus,
              count(*) FILTER (WHERE a.real_balance <> 0) AS "realPlayers",
              count(*) FILTER (WHERE a.bonus_balance <> 0) AS "bonusPlayers"
            FROM accounts a JOIN players p ON p.id = a.player_id AND NOT p.is_test GROUP BY 1, 2
          )
          INSERT INTO figure_funds (operator_id, currency, wallet, amount, players, at)
          SELECT operator_id, currency, 'real', "real", "realPlayers", ${now}::timestamptz FROM held
          UNION ALL SELECT operator_id, currency, 'bonus', bonus, "bonusPlayers", ${now}::timestamptz FROM held
          ON CONFLICT (operator_id, currency, wallet) DO UPDATE
            SET amount = excluded.amount, players = excluded.players, at = excluded.at
          RETURNING 1`
        return { done: rows.length, hasMore: false }
      }).pipe(orTryAgain, Effect.withSpan("FigureReadings.readFunds"))

      return FigureReadings.of({ readHour, readFunds })
    })
  )
}
