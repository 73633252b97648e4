/** Key figures over time and in groups, from the sums that commits keep and from hourly readings of them (`docs/decisions/0050-live-figures.md`). */
import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import {
  type DayFigures,
  dayPoints,
  hourPoints,
  isCount,
  isOfGames,
  maxPoints,
  metricOf,
  type SeriesMetric,
  type SeriesStep,
  stepMs
} from "../../domain/Figures.ts"
import { type Refusal, refuse, refuseFields } from "../../domain/Refusal.ts"
import { iso, parseIso, toDate } from "../../platform/Time.ts"
import { makeTurns } from "../../platform/Turns.ts"
import { oneOf, orTryAgain, rowsOf } from "../../store/Rows.ts"
import { type Scope, within } from "../staff/OperatorBounds.ts"
import { GroupSums } from "./GgrReport.ts"
import type { BonusCost, Breakdown, Funds, Series } from "./SeriesResource.ts"
import { reportTurns, tooManyReports } from "./Reports.ts"
import { playersByDay, registrationsByDay, sumsByDay, sumsByProvider } from "./internal/SeriesQuery.ts"

/** First and last day, `YYYY-MM-DD`, UTC. */
export interface Days {
  readonly from: string
  readonly to: string
  readonly includeTestPlayers: boolean
}

export interface SeriesQuery extends Days {
  readonly metric: SeriesMetric
  readonly step: SeriesStep
  readonly providerId: number | undefined
}

type Unavailable = Refusal<"TRY_AGAIN">
type Refused = Refusal<"VALIDATION_FAILED" | "NOT_FOUND"> | Unavailable

const dayMs = 86_400_000

const SumRow = Schema.Struct({
  key: Schema.String,
  name: Schema.String,
  ...GroupSums.fields,
  unconverted: Schema.Array(Schema.String)
})
const sumRows = rowsOf(SumRow)
const valueRows = rowsOf(Schema.Struct({ key: Schema.String, value: Schema.Number }))
const currencyRows = rowsOf(Schema.Struct({ currency: Schema.String }))

/** Columns of `figure_hours` as the figures of a day. */
const HourRow = Schema.Struct({
  at: Schema.Date,
  rounds: Schema.Number,
  bets: Schema.Number,
  wins: Schema.Number,
  bonusConversions: Schema.Number,
  deposits: Schema.Number,
  withdrawals: Schema.Number,
  players: Schema.Number,
  registrations: Schema.Number
})
const hourRows = rowsOf(HourRow)

const FundsRow = Schema.Struct({
  operator_id: Schema.Number,
  currency: Schema.String,
  wallet: Schema.Literals(["real", "bonus"]),
  amount: Schema.Number,
  players: Schema.Number,
  at: Schema.Date
})
const fundsRows = rowsOf(FundsRow)

const CostRow = Schema.Struct({
  bonus_id: Schema.Number,
  name: Schema.String,
  type: Schema.String,
  currency: Schema.String,
  granted: Schema.Number,
  granted_amount: Schema.Number,
  converted: Schema.Number,
  forfeited: Schema.Number,
  running: Schema.Number,
  liability: Schema.Number
})
const costRows = rowsOf(CostRow)

const notFound = refuse("NOT_FOUND", "There is no such operator.")

/** The days of a range as instants, or what is wrong with it. */
const rangeOf = ({ from, to }: Days, step: SeriesStep): Effect.Effect<
  { readonly from: number; readonly to: number },
  Refusal<"VALIDATION_FAILED">
> => {
  const [first, last] = [parseIso(from), parseIso(to)]
  if (first === undefined || last === undefined) {
    return Effect.fail(refuseFields({ from: ["must be a date like 2026-11-20"] }))
  }
  if (last < first) return Effect.fail(refuseFields({ to: ["must not be before from"] }))
  return (last + dayMs - first) / stepMs[step] > maxPoints
    ? Effect.fail(refuseFields({
      to: [
        `must be within ${Math.floor((maxPoints * stepMs[step]) / dayMs)} days from from: ${maxPoints} points at most`
      ]
    }))
    : Effect.succeed({ from: first, to: last })
}

/** A day's sums as its figures, without the players. */
const figuresOf = (row: typeof SumRow.Type): DayFigures => ({
  rounds: row.rounds,
  bets: row.bets,
  wins: row.wins,
  bonusConversions: row.bonus_conversions,
  deposits: row.deposits - row.chargebacks,
  withdrawals: row.withdrawals,
  players: 0,
  registrations: 0
})

const dayMsOf = (key: string): number => parseIso(key) ?? 0

export class KeyFigures extends Context.Service<KeyFigures, {
  /**
   * One metric by day or hour, at most {@link maxPoints} of them. By hour from readings, which are kept for forty days; a metric that games do not
   * have cannot be asked of one provider. Two are made at once, others wait ten seconds at most, then `TRY_AGAIN`.
   */
  readonly series: (operatorId: number, query: SeriesQuery) => Effect.Effect<typeof Series.Type, Refused>
  /** Sums of a range of days, by day or by provider; the range as in `series` by day. */
  readonly breakdown: (
    operatorId: number,
    by: "day" | "provider",
    days: Days
  ) => Effect.Effect<typeof Breakdown.Type, Refused>
  /** What players of the operators of a scope hold, as the job read it last. */
  readonly funds: (scope: Scope) => Effect.Effect<
    ReadonlyArray<typeof Funds.Type>,
    Unavailable
  >
  /** What each bonus of an operator cost in a range of days, and what its running grants may still cost. */
  readonly bonuses: (operatorId: number, days: Days) => Effect.Effect<ReadonlyArray<typeof BonusCost.Type>, Refused>
}>()("pitboss/reports/KeyFigures") {
  static readonly layer = Layer.effect(
    KeyFigures,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const inTurn = yield* makeTurns(reportTurns)

      const currencyOf = Effect.fnUntraced(function*(operatorId: number) {
        const row = yield* oneOf(currencyRows(sql`SELECT currency FROM operators WHERE id = ${operatorId}`))
        return row === undefined ? yield* Effect.fail(notFound) : row.currency
      })

      const sums = (text: string, operatorId: number, days: Days, more: ReadonlyArray<unknown> = []) =>
        sumRows(
          sql.unsafe(text, [String(operatorId), days.from, days.to, days.includeTestPlayers, ...more])
        ).pipe(inTurn(tooManyReports))

      /** Values by day of a metric that the sums do not hold. */
      const playersOf = (text: string, operatorId: number, days: Days) =>
        Effect.map(
          valueRows(sql.unsafe(text, [String(operatorId), days.from, days.to, days.includeTestPlayers])).pipe(
            inTurn(tooManyReports)
          ),
          (rows) => ({
            values: new Map(rows.map(({ key, value }) => [dayMsOf(key), value])),
            unconverted: []
          })
        )

      const valuesByDay = Effect.fnUntraced(function*(operatorId: number, query: SeriesQuery) {
        const { metric, providerId } = query
        if (metric === "active_players") return yield* playersOf(playersByDay, operatorId, query)
        if (metric === "registrations") return yield* playersOf(registrationsByDay, operatorId, query)
        const rows = yield* sums(sumsByDay, operatorId, query, [providerId === undefined ? null : String(providerId)])
        return {
          values: new Map(rows.map((row) => [dayMsOf(row.key), metricOf(figuresOf(row), metric)])),
          unconverted: isCount(metric) ? [] : [...new Set(rows.flatMap(({ unconverted }) => unconverted))].sort()
        }
      })

      const readings = Effect.fnUntraced(function*(
        operatorId: number,
        { metric, providerId }: SeriesQuery,
        range: { readonly from: number; readonly to: number }
      ) {
        const rows = yield* hourRows(
          sql`SELECT at, sum(rounds)::float8 AS rounds, sum(bets)::float8 AS bets, sum(wins)::float8 AS wins,
              sum(bonus_conversions)::float8 AS "bonusConversions", sum(deposits)::float8 AS deposits,
              sum(withdrawals)::float8 AS withdrawals, sum(players)::float8 AS players,
              sum(registrations)::float8 AS registrations
            FROM figure_hours WHERE operator_id = ${operatorId} AND at >= ${toDate(range.from)}
              AND at < ${toDate(range.to + dayMs)} ${
            // the row of no provider says that there was a reading
            providerId === undefined ? sql`` : sql`AND provider_id IN (0, ${providerId})`} GROUP BY at`
        )
        return new Map(rows.map(({ at, ...figures }) => [at.getTime(), metricOf(figures, metric)]))
      })

      const series = Effect.fn("KeyFigures.series")(function*(operatorId: number, query: SeriesQuery) {
        const { metric, providerId, step } = query
        if (providerId !== undefined && !isOfGames(metric)) {
          return yield* Effect.fail(refuseFields({ provider: [`is nothing that ${metric} has`] }))
        }
        if (step === "hour" && query.includeTestPlayers) {
          return yield* Effect.fail(refuseFields({ include_test_players: ["is possible by day only"] }))
        }
        const range = { ...(yield* rangeOf(query, step)), now: yield* Clock.currentTimeMillis }
        const currency = yield* currencyOf(operatorId)
        const { unconverted, values } = yield* valuesByDay(operatorId, query)
        const points = step === "day"
          ? dayPoints(range, (at) => values.get(at))
          : hourPoints(range, yield* readings(operatorId, query, range), values)
        return {
          operator_id: operatorId,
          metric,
          step,
          currency: isCount(metric) ? null : currency,
          points: points.map(({ at, value }) => ({ at: iso(at), value })),
          unconverted
        }
      }, orTryAgain)

      const breakdown = Effect.fn("KeyFigures.breakdown")(function*(
        operatorId: number,
        by: "day" | "provider",
        days: Days
      ) {
        yield* rangeOf(days, "day")
        const currency = yield* currencyOf(operatorId)
        const rows = yield* by === "day"
          ? sums(sumsByDay, operatorId, days, [null])
          : sums(sumsByProvider, operatorId, days)
        return {
          operator_id: operatorId,
          currency,
          rows: rows.map(({ chargebacks, deposits, unconverted: _, ...row }) => ({
            ...row,
            ggr: row.bets - row.wins,
            deposits: deposits - chargebacks
          })),
          unconverted: [...new Set(rows.flatMap(({ unconverted }) => unconverted))].sort()
        }
      }, orTryAgain)

      const funds = Effect.fn("KeyFigures.funds")(function*(scope: Scope) {
        const rows = yield* fundsRows(
          sql`SELECT operator_id, currency, wallet, amount::float8 AS amount, players::float8 AS players, at FROM figure_funds
            WHERE ${sql.and([sql`true`, ...within(sql, scope)])}
            ORDER BY operator_id, currency, wallet DESC`
        )
        return rows.map((row) => ({ ...row, at: iso(row.at.getTime()) }))
      }, orTryAgain)

      const bonuses = Effect.fn("KeyFigures.bonuses")(function*(operatorId: number, days: Days) {
        const range = yield* rangeOf(days, "day")
        yield* currencyOf(operatorId)
        const [from, to] = [toDate(range.from), toDate(range.to + dayMs)]
        const test = days.includeTestPlayers ? sql`` : sql`AND NOT p.is_test`
        return yield* costRows(
          sql`WITH catalogue AS MATERIALIZED (SELECT id, name, type FROM bonuses WHERE operator_id = ${operatorId}),
            parts AS (
              SELECT b.bonus_id, p.currency, count(*) AS granted, sum(b.amount) AS granted_amount, 0 AS converted,
                0 AS forfeited, 0 AS running, 0 AS liability
              FROM catalogue c JOIN player_bonuses b ON b.bonus_id = c.id AND b.created_at >= ${from}
                AND b.created_at < ${to} JOIN players p ON p.id = b.player_id ${test} GROUP BY 1, 2
              UNION ALL
              SELECT b.bonus_id, p.currency, 0, 0, sum(b.converted), sum(b.forfeited), 0, 0
              FROM catalogue c JOIN player_bonuses b ON b.bonus_id = c.id AND b.finished_at >= ${from}
                AND b.finished_at < ${to} JOIN players p ON p.id = b.player_id ${test} GROUP BY 1, 2
              UNION ALL
              SELECT b.bonus_id, p.currency, 0, 0, 0, 0, count(*),
                sum(CASE b.state WHEN 'activated' THEN a.bonus_balance ELSE b.amount END)
              FROM player_bonuses b JOIN players p ON p.id = b.player_id ${test} JOIN accounts a ON a.player_id = b.player_id
              WHERE b.operator_id = ${operatorId} AND b.state <> 'finished' GROUP BY 1, 2
            )
            SELECT c.id AS bonus_id, c.name, c.type, s.currency, sum(s.granted)::float8 AS granted,
              sum(s.granted_amount)::float8 AS granted_amount, sum(s.converted)::float8 AS converted,
              sum(s.forfeited)::float8 AS forfeited, sum(s.running)::float8 AS running,
              sum(s.liability)::float8 AS liability
            FROM parts s JOIN catalogue c ON c.id = s.bonus_id
            GROUP BY c.id, c.name, c.type, s.currency ORDER BY c.name, c.id, s.currency`
        ).pipe(inTurn(tooManyReports))
      }, orTryAgain)

      return KeyFigures.of({ series, breakdown, funds, bonuses })
    })
  )
}
