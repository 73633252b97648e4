/** Key figures over time and by group, from the sums that commits maintain and hourly snapshots of them (`docs/decisions/0050-live-figures.md`). */
import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import {
  type DayFigures,
  dayPoints,
  hourPoints,
  isCount,
  isOfGames,
  metricOf,
  type SeriesMetric,
  type SeriesStep
} from "../../domain/Figures.ts"
import {
  type LocalDay,
  localDayAt,
  localDays as daysOfZone,
  localMidnight,
  maxLocalDays
} from "../../domain/LocalDays.ts"
import { type Refusal, refuse, refuseFields } from "../../domain/Refusal.ts"
import { walletKinds } from "../../domain/state/Change.ts"
import { iso, parseIso, toDate, utcDay } from "../../platform/Time.ts"
import { ReportConcurrency } from "../../platform/ReportConcurrency.ts"
import { ReportClient } from "../../platform/Database.ts"
import { oneOf, orTryAgain, rowsOf } from "../../store/Rows.ts"
import { type Scope, withinReport } from "../../store/OperatorScope.ts"
import { dayMs, type Days, rangeOf } from "./Days.ts"
import { GroupSums } from "./GgrReport.ts"
import type {
  Breakdown,
  breakdownGroups,
  Funds,
  LocalDays,
  OperatorsReport,
  Series
} from "../../contract/reports/SeriesResource.ts"
import { GameSums } from "./GameSums.ts"
import { makePastFunds } from "./PastFunds.ts"
import { tooManyReports } from "./Reports.ts"
import {
  operatorFigures,
  operatorSums,
  playersByDay,
  registrationsByDay,
  sumsByDay,
  sumsByMonth,
  sumsByProvider,
  sumsByType,
  sumsOfRange
} from "./internal/SeriesQuery.ts"

export interface SeriesQuery extends Days {
  readonly metric: SeriesMetric
  readonly step: SeriesStep
  readonly providerId: number | undefined
}

type Unavailable = Refusal<"TRY_AGAIN">
type Refused = Refusal<"VALIDATION_FAILED" | "NOT_FOUND"> | Unavailable

const SumRow = Schema.Struct({
  key: Schema.String,
  name: Schema.String,
  ...GroupSums.fields,
  unconverted: Schema.Array(Schema.String)
})
const sumRows = rowsOf(SumRow)
const valueRows = rowsOf(Schema.Struct({ key: Schema.String, value: Schema.Number }))
const operatorTermRows = rowsOf(Schema.Struct({ currency: Schema.String, offsetHours: Schema.Number }))

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
  wallet: Schema.Literals(walletKinds),
  amount: Schema.Number,
  players: Schema.Number,
  at: Schema.Date
})
const fundsRows = rowsOf(FundsRow)

const OperatorRow = Schema.Struct({
  operator_id: Schema.Number,
  name: Schema.String,
  own: Schema.String,
  target: Schema.String,
  rate: Schema.NullOr(Schema.Number),
  factor: Schema.NullOr(Schema.Number),
  ...GroupSums.fields,
  unconverted: Schema.Array(Schema.String)
})
const operatorRows = rowsOf(OperatorRow)

const localDayRow = ({ day, from, sums, until }: LocalDay): (typeof LocalDays.Type)["rows"][number] => {
  const { bets, bonusConversions, deposits, rounds, wins, withdrawals } = sums
  const ggr = bets - wins
  return {
    day: utcDay(day),
    from: iso(from),
    until: iso(until),
    bets,
    wins,
    ggr,
    bonus_conversions: bonusConversions,
    net_gaming_revenue: ggr - bonusConversions,
    deposits,
    withdrawals,
    rounds
  }
}

type OperatorLine = (typeof OperatorsReport.Type)["rows"][number]

/** In the total's currency where there is a rate; each figure is rounded once, and differences are taken of rounded ones. */
const operatorLine = (row: typeof OperatorRow.Type): OperatorLine => {
  const { factor, own, rate, target } = row
  const isSame = own === target
  const in_total = isSame || factor !== null
  const convert = (amount: number): number => isSame || factor === null ? amount : Math.round(amount * factor)
  const [bets, wins, conversions] = [convert(row.bets), convert(row.wins), convert(row.bonus_conversions)]
  return {
    operator_id: row.operator_id,
    name: row.name,
    currency: in_total ? target : own,
    rate: isSame ? null : rate,
    in_total,
    bets,
    wins,
    ggr: bets - wins,
    bonus_conversions: conversions,
    net_gaming_revenue: bets - wins - conversions,
    deposits: convert(row.deposits - row.chargebacks),
    withdrawals: convert(row.withdrawals),
    rounds: row.rounds
  }
}

const totalOf = (lines: ReadonlyArray<OperatorLine>) => {
  const sum = (name: keyof typeof OperatorsReport.Type["total"]): number =>
    lines.reduce((all, { [name]: value }) => all + value, 0)
  return {
    bets: sum("bets"),
    wins: sum("wins"),
    ggr: sum("ggr"),
    bonus_conversions: sum("bonus_conversions"),
    net_gaming_revenue: sum("net_gaming_revenue"),
    deposits: sum("deposits"),
    withdrawals: sum("withdrawals"),
    rounds: sum("rounds")
  }
}

const groupTexts = {
  total: sumsOfRange,
  month: sumsByMonth,
  day: sumsByDay,
  type: sumsByType,
  provider: sumsByProvider
} as const

const notFound = refuse("NOT_FOUND", "There is no such operator.")

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
   * One metric by day or hour, at most {@link maxPoints} of them. By hour from readings, which are kept for 42 days; a metric that games do not
   * have cannot be asked of one provider. Two are made at once, others wait ten seconds at most, then `TRY_AGAIN`.
   */
  readonly series: (operatorId: number, query: SeriesQuery) => Effect.Effect<typeof Series.Type, Refused>
  /** Sums of a range of days in groups; the range as in `series` by day. By game as the job has added up. */
  readonly breakdown: (
    operatorId: number,
    by: (typeof breakdownGroups)[number],
    days: Days
  ) => Effect.Effect<typeof Breakdown.Type, Refused>
  /**
   * Sums by day of the operator's own zone, from readings at full hours, the running day until now: those days of the range that are among the last
   * {@link maxLocalDays} of that zone. Test players are left out.
   */
  readonly localDays: (
    operatorId: number,
    range: { readonly from: string; readonly to: string }
  ) => Effect.Effect<typeof LocalDays.Type, Refused>
  /** Sums of a range of days of each operator of a scope, in one currency at the rates of its end, or the first ones after it. */
  readonly operators: (
    scope: Scope,
    currency: string | undefined,
    days: Days
  ) => Effect.Effect<typeof OperatorsReport.Type, Refusal<"VALIDATION_FAILED"> | Unavailable>
  /** Balances of the players of a scope, as the job last read them. */
  readonly funds: (scope: Scope) => Effect.Effect<ReadonlyArray<typeof Funds.Type>, Unavailable>
  /** The same at the beginning of a past day, `YYYY-MM-DD`, UTC, from the ledger. */
  readonly fundsAt: (
    scope: Scope,
    day: string
  ) => Effect.Effect<ReadonlyArray<typeof Funds.Type>, Refusal<"VALIDATION_FAILED"> | Unavailable>
}>()("pitboss/reports/KeyFigures") {
  static readonly layer = Layer.effect(
    KeyFigures,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const reporting = yield* ReportClient
      const limitConcurrency = yield* ReportConcurrency
      const games = yield* GameSums

      const termsOf = Effect.fnUntraced(function*(operatorId: number) {
        const terms = yield* oneOf(operatorTermRows(
          sql`SELECT currency, report_offset_hours::float8 AS "offsetHours" FROM operators WHERE id = ${operatorId}`
        ))
        return terms === undefined ? yield* Effect.fail(notFound) : terms
      })

      const sums = (text: string, operatorId: number, days: Days, more: ReadonlyArray<unknown> = []) =>
        sumRows(
          reporting.unsafe(text, [String(operatorId), days.from, days.to, days.includeTestPlayers, ...more])
        ).pipe(limitConcurrency(tooManyReports))

      /** Values by day of a metric that the sums do not hold. */
      const playersOf = (text: string, operatorId: number, days: Days) =>
        Effect.map(
          valueRows(reporting.unsafe(text, [String(operatorId), days.from, days.to, days.includeTestPlayers])).pipe(
            limitConcurrency(tooManyReports)
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

      /** What days had come to at the full hours from `from` to before `until`, by epoch milliseconds. */
      const readings = Effect.fnUntraced(function*(
        operatorId: number,
        providerId: number | undefined,
        range: { readonly from: number; readonly until: number }
      ) {
        const rows = yield* hourRows(
          sql`SELECT at, sum(rounds)::float8 AS rounds, sum(bets)::float8 AS bets, sum(wins)::float8 AS wins,
              sum(bonus_conversions)::float8 AS "bonusConversions", sum(deposits)::float8 AS deposits,
              sum(withdrawals)::float8 AS withdrawals, sum(players)::float8 AS players,
              sum(registrations)::float8 AS registrations
            FROM figure_hours WHERE operator_id = ${operatorId} AND at >= ${toDate(range.from)}
              AND at < ${toDate(range.until)} ${
            // the row of no provider says that there was a reading
            providerId === undefined ? sql`` : sql`AND provider_id IN (0, ${providerId})`} GROUP BY at`
        )
        return new Map(rows.map(({ at, ...figures }) => [at.getTime(), figures]))
      })

      const readingsOf = Effect.fnUntraced(function*(
        operatorId: number,
        { metric, providerId }: SeriesQuery,
        { from, to }: { readonly from: number; readonly to: number }
      ) {
        const found = yield* readings(operatorId, providerId, { from, until: to + dayMs })
        return new Map([...found].map(([at, figures]) => [at, metricOf(figures, metric)]))
      })

      const series = Effect.fn("KeyFigures.series")(function*(operatorId: number, query: SeriesQuery) {
        const { metric, providerId, step } = query
        if (providerId !== undefined && !isOfGames(metric)) {
          return yield* Effect.fail(refuseFields({ provider: [`is not a filter of ${metric}`] }))
        }
        if (step === "hour" && query.includeTestPlayers) {
          return yield* Effect.fail(refuseFields({ include_test_players: ["is available with step day only"] }))
        }
        const range = { ...(yield* rangeOf(query, step)), now: yield* Clock.currentTimeMillis }
        const { currency } = yield* termsOf(operatorId)
        const { unconverted, values } = yield* valuesByDay(operatorId, query)
        const points = step === "day"
          ? dayPoints(range, (at) => values.get(at))
          : hourPoints(range, yield* readingsOf(operatorId, query, range), values)
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
        by: (typeof breakdownGroups)[number],
        days: Days
      ) {
        yield* rangeOf(days, "day")
        const { currency } = yield* termsOf(operatorId)
        const groups = by === "all"
          ? (["total", "month", "day", "type", "provider"] as const)
          : by === "game"
          ? []
          : [by]
        const summed = (yield* Effect.forEach(groups, (group) =>
          Effect.map(
            sums(groupTexts[group], operatorId, days, group === "day" || group === "month" ? [null] : []),
            (found) => found.map((row) => ({ by: group, provider: null, ...row }))
          ))).flat()
        const played = by === "all" || by === "game"
          ? yield* games.report(operatorId, days)
          : { asOf: null, rows: [] }
        const rows = [...summed, ...played.rows.map((row) => ({ by: "game" as const, ...row }))]
        return {
          operator_id: operatorId,
          currency,
          as_of: played.asOf,
          rows: rows.map(({ chargebacks, deposits, unconverted: _, ...row }) => ({
            ...row,
            ggr: row.bets - row.wins,
            deposits: deposits - chargebacks
          })),
          unconverted: [...new Set(rows.flatMap(({ unconverted }) => unconverted))].sort()
        }
      }, orTryAgain)

      const localDays = Effect.fn("KeyFigures.localDays")(function*(
        operatorId: number,
        asked: { readonly from: string; readonly to: string }
      ) {
        const days = { ...asked, includeTestPlayers: false }
        const range = yield* rangeOf(days, "day")
        const now = yield* Clock.currentTimeMillis
        const { currency, offsetHours: hours } = yield* termsOf(operatorId)
        const today = localDayAt(now, hours)
        const from = Math.max(range.from, today - (maxLocalDays - 1) * dayMs)
        const to = Math.min(range.to, today)
        // the days of UTC that those of the zone touch
        const first = Math.floor(localMidnight(from, hours) / dayMs) * dayMs
        const until = localMidnight(to + dayMs, hours)
        const rows = yield* sums(sumsByDay, operatorId, { ...days, from: utcDay(first), to: utcDay(until) }, [null])
        const found = yield* readings(operatorId, undefined, { from: first, until: until + 1 })
        return {
          operator_id: operatorId,
          currency,
          offset_hours: hours,
          rows: daysOfZone(
            { from, to, hours, now },
            found,
            new Map(rows.map((row) => [dayMsOf(row.key), figuresOf(row)]))
          ).map(localDayRow)
        }
      }, orTryAgain)

      const operators = Effect.fn("KeyFigures.operators")(
        function*(scope: Scope, asked: string | undefined, days: Days) {
          const { to } = yield* rangeOf(days, "day")
          const rows = yield* operatorRows(reporting`
            WITH o AS (SELECT id, name, currency FROM operators WHERE ${
            reporting.and([reporting`true`, ...withinReport(reporting, scope, "id")])
          }),
            target AS (SELECT coalesce(${
            asked ?? null
          }::text, mode() WITHIN GROUP (ORDER BY currency)) AS currency FROM o),
            summed AS (
              SELECT s.operator_id, ${reporting.literal(operatorSums)}
              FROM (SELECT s.*, CASE WHEN s.currency = o.currency THEN 1 WHEN r.base = o.currency THEN r.factor END AS factor
                FROM daily_sums s JOIN o ON o.id = s.operator_id LEFT JOIN exchange_rates r ON r.id = s.exchange_rate_id
                WHERE s.day BETWEEN ${days.from}::date AND ${days.to}::date
                  AND (NOT s.is_test OR ${days.includeTestPlayers}::boolean)) s
              GROUP BY s.operator_id)
            SELECT o.id AS operator_id, o.name, o.currency AS own, t.currency AS target, f.rate, f.factor,
              ${reporting.literal(operatorFigures)}, coalesce(s.unconverted, '{}') AS unconverted
            FROM o CROSS JOIN target t LEFT JOIN summed s ON s.operator_id = o.id
            LEFT JOIN LATERAL (
              SELECT CASE WHEN e.currency = o.currency THEN e.rate ELSE 1 / e.rate END::float8 AS rate,
                CASE WHEN e.currency = o.currency THEN e.factor ELSE 1 / e.factor END::float8 AS factor
              FROM exchange_rates e
              WHERE (e.currency, e.base) IN ((o.currency, t.currency), (t.currency, o.currency))
              ORDER BY e.created_at < ${toDate(to + dayMs)} DESC,
                CASE WHEN e.created_at < ${
            toDate(to + dayMs)
          } THEN -e.id ELSE e.id END LIMIT 1) f ON o.currency <> t.currency
            ORDER BY o.name, o.id`).pipe(limitConcurrency(tooManyReports))
          const lines = rows.map(operatorLine)
          return {
            total_currency: rows[0]?.target ?? asked ?? "EUR",
            rows: lines,
            total: totalOf(lines.filter(({ in_total: isIn }) => isIn)),
            unconverted: [...new Set(rows.flatMap(({ unconverted }) => unconverted))].sort()
          }
        },
        orTryAgain
      )

      const funds = Effect.fn("KeyFigures.funds")(function*(scope: Scope) {
        const rows = yield* fundsRows(
          sql`SELECT operator_id, currency, wallet, amount::float8 AS amount, players::float8 AS players, at FROM figure_funds
            WHERE ${sql.and([sql`true`, ...withinReport(sql, scope)])}
            ORDER BY operator_id, currency, wallet DESC`
        )
        return rows.map((row) => ({ ...row, at: iso(row.at.getTime()) }))
      }, orTryAgain)

      return KeyFigures.of({ series, breakdown, localDays, operators, funds, fundsAt: yield* makePastFunds })
    })
  )
}
