/**
 * Key figures on the home page of the back office, updated live: cached for two seconds per node and set of operators
 * (`docs/decisions/0050-live-figures.md`).
 */
import { Cache, Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { between, stepMs } from "../../domain/Figures.ts"
import { connectionKinds } from "../../domain/register/Register.ts"
import type { Role } from "../../domain/staff/Staff.ts"
import { Instant } from "../../domain/Instant.ts"
import { type Refusal, temporarilyUnavailable } from "../../domain/Refusal.ts"
import { Scheduler } from "../../platform/Scheduler.ts"
import { iso, toDate, utcDay } from "../../platform/Time.ts"
import { orTryAgain, rowsOf } from "../../store/Rows.ts"
import { ProviderCallLog } from "../integrations/ProviderCallLog.ts"
import { type Scope, withinReport } from "../../store/OperatorScope.ts"
import { rolesFor } from "../../office/Authorisation.ts"
import type { ChangedKind, Overview } from "../../contract/figures/OverviewResource.ts"

/** An overview, and a mark for each kind of list that differs when something of it has changed. */
export interface Reading {
  readonly overview: Overview
  readonly marks: { readonly [kind in ChangedKind]: string }
}

const seesCases = rolesFor("case.list")

/** An overview as a role sees it: who does not work on cases does not learn that there is one. */
export const overviewFor = (role: Role, overview: Overview): Overview =>
  seesCases.includes(role) ? overview : { ...overview, open_cases: null }

const timeToLive = "2 seconds"

/** Maximum number of cached sets of operators; least recently used first out. */
const keptSets = 64

const maxPending = 10_000
const maxAlerts = 1000
const maxOpenRounds = 1000
const maxWebhooks = 20
const maxUndelivered = 1000
const maxProviders = 100

/** The calls of providers are asked of every node: less often. */
const providersKeptFor = "15 seconds"
const callsWithinMs = 10 * 60_000

/** A job, or a delivery, is late so long after its time. */
const lateAfterMs = 60_000

const MoneyRow = Schema.Struct({
  operator: Schema.Number,
  currency: Schema.String,
  isToday: Schema.Boolean,
  bets: Schema.Number,
  wins: Schema.Number,
  deposits: Schema.Number,
  withdrawals: Schema.Number
})
const moneyRows = rowsOf(MoneyRow)
const hourRows = rowsOf(Schema.Struct({ operator: Schema.Number, at: Schema.Date, ggr: Schema.Number }))
const CountRow = Schema.Struct({
  players: Schema.Number,
  registrations: Schema.Number,
  deposits: Schema.Number,
  withdrawals: Schema.Number,
  openForDay: Schema.Number,
  openForTwoDays: Schema.Number,
  alerts: Schema.Number,
  unassigned: Schema.Number,
  cases: Schema.Number,
  unassignedCases: Schema.Number,
  newestAlert: Schema.NullOr(Schema.Number),
  newestDelivery: Schema.NullOr(Schema.Number)
})
const countRows = rowsOf(CountRow)
const pendingRows = rowsOf(
  Schema.Struct({ currency: Schema.String, count: Schema.Number, amount: Schema.Number })
)
const webhookRows = rowsOf(Schema.Struct({
  id: Schema.Number,
  operator_id: Schema.Number,
  url: Schema.String,
  failed: Schema.Number,
  late: Schema.Boolean,
  undelivered: Schema.Number,
  since: Schema.NullOr(Instant)
}))
const registerRows = rowsOf(Schema.Struct({
  id: Schema.Number,
  operator_id: Schema.Number,
  kind: Schema.Literals(connectionKinds),
  since: Instant
}))
const markRows = rowsOf(Schema.Struct({ noun: Schema.String, id: Schema.Number }))
const providerRows = rowsOf(Schema.Struct({ id: Schema.Number, slug: Schema.String, name: Schema.String }))

/** Actions of staff after which lists are to be read again. */
const markingActions = [
  "payment.approve",
  "payment.pay",
  "payment.reject",
  "payment.cancel",
  "payment.chargeback",
  "alert.update",
  "alert.assign",
  "alert.hold",
  "alert.release",
  "webhook.create",
  "webhook.update",
  "webhook.ping",
  "webhook.redeliver",
  "delivery.retry"
] as const

/** Refusals that are a fault of the vendor's connection or of ours, and no ordinary "no" to a player. */
const faults: ReadonlySet<string | null> = new Set(["form", "TRY_AGAIN", "SERVER_ERROR"])

const scopeKey = (scope: Scope): string => scope === null ? "all" : scope.toSorted((a, b) => a - b).join(",")

const scopeOf = (key: string): Scope => key === "all" ? null : key === "" ? [] : key.split(",").map(Number)

export class Overviews extends Context.Service<Overviews, {
  /** Figures of the operators in scope, at most two seconds old; concurrent callers share a reading. */
  readonly read: (scope: Scope) => Effect.Effect<Reading, Refusal<"TRY_AGAIN">>
}>()("pitboss/figures/Overviews") {
  static readonly layer = Layer.effect(
    Overviews,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const scheduler = yield* Scheduler
      const calls = yield* ProviderCallLog

      // Kept: readings, providers. How the operators of a set stand, 64 sets; calls of providers that failed. Several nodes: its own: read again
      // after 2 s, the providers after 15 s.
      const providers = yield* Cache.make({
        capacity: 1,
        timeToLive: providersKeptFor,
        lookup: (_: "all") =>
          Effect.gen(function*() {
            const since = (yield* Clock.currentTimeMillis) - callsWithinMs
            const all = yield* providerRows(
              sql`SELECT id, slug, name FROM providers WHERE protocol IS NOT NULL AND active ORDER BY id LIMIT ${maxProviders}`
            )
            const judged = yield* Effect.forEach(all, (provider) =>
              Effect.map(calls.recent(provider.id), (recent) => {
                const late = recent.filter(({ at }) => at >= since)
                return {
                  ...provider,
                  calls: late.length,
                  errors: late.filter(({ refusal, status }) => status >= 500 || faults.has(refusal)).length
                }
              }), { concurrency: 4 })
            return judged.filter(({ errors }) => errors > 0)
          }).pipe(orTryAgain, Effect.uninterruptible)
      })

      const conditionsOf = (scope: Scope, column: string) => sql.and([sql`true`, ...withinReport(sql, scope, column)])

      const money = Effect.fnUntraced(function*(scope: Scope, now: number) {
        const today = Math.floor(now / stepMs.day) * stepMs.day
        const lastWeek = today - 7 * stepMs.day
        const sameTime = now - 7 * stepMs.day
        const hour = Math.floor(sameTime / stepMs.hour) * stepMs.hour
        const [from, to] = [hour, hour + stepMs.hour]
        const sums = yield* moneyRows(
          sql`SELECT o.id AS operator, o.currency, s.day = ${utcDay(today)}::date AS "isToday",
              round(coalesce(sum(s.bets * f.factor), 0))::float8 AS bets,
              round(coalesce(sum(s.wins * f.factor), 0))::float8 AS wins,
              round(coalesce(sum((s.deposits - s.chargebacks) * f.factor), 0))::float8 AS deposits,
              round(coalesce(sum(s.withdrawals * f.factor), 0))::float8 AS withdrawals
            FROM operators o
              JOIN daily_sums s ON s.operator_id = o.id AND NOT s.is_test
                AND s.day IN (${utcDay(today)}::date, ${utcDay(lastWeek)}::date)
              LEFT JOIN exchange_rates r ON r.id = s.exchange_rate_id
              CROSS JOIN LATERAL (SELECT CASE WHEN s.currency = o.currency THEN 1 WHEN r.base = o.currency THEN r.factor END)
                AS f(factor)
            WHERE ${conditionsOf(scope, "o.id")} GROUP BY o.id, o.currency, 3`
        )
        const currencies = yield* rowsOf(Schema.Struct({ operator: Schema.Number, currency: Schema.String }))(
          sql`SELECT id AS operator, currency FROM operators o WHERE ${conditionsOf(scope, "o.id")} ORDER BY o.currency`
        )
        const hours = yield* hourRows(
          sql`SELECT operator_id AS operator, at, sum(bets - wins)::float8 AS ggr FROM figure_hours
            WHERE at IN (${toDate(from)}, ${toDate(to)}) AND ${
            conditionsOf(scope, "operator_id")
          } GROUP BY operator_id, at`
        )
        const whole = new Map(
          sums.filter(({ isToday }) => !isToday).map(({ bets, operator, wins }) => [operator, bets - wins])
        )
        const reached = (operator: number, at: number): number | undefined =>
          at === lastWeek
            ? 0
            : at === lastWeek + stepMs.day
            ? whole.get(operator) ?? 0
            : hours.find((row) => row.operator === operator && row.at.getTime() === at)?.ggr
        const sameTimeOf = (operator: number): number | null => {
          const [before, after] = [reached(operator, from), reached(operator, to)]
          return before === undefined || after === undefined
            ? null
            : between(sameTime, { at: from, value: before }, { at: to, value: after })
        }
        return [...new Set(currencies.map(({ currency }) => currency))].map((currency) => {
          const operators = currencies.filter((one) => one.currency === currency).map(({ operator }) => operator)
          const of = sums.filter((row) => row.isToday && row.currency === currency)
          const total = (field: "bets" | "wins" | "deposits" | "withdrawals") =>
            of.reduce((sum, row) => sum + row[field], 0)
          // an operator of this week has no figure of the last one: the others are compared among themselves
          const compared = operators.flatMap((operator) => {
            const before = sameTimeOf(operator)
            return before === null ? [] : [{ operator, before }]
          })
          const ggrOf = (operator: number) =>
            of.filter((row) => row.operator === operator).reduce((sum, { bets, wins }) => sum + bets - wins, 0)
          const isCompared = compared.length > 0
          return {
            currency,
            bets: total("bets"),
            wins: total("wins"),
            ggr: total("bets") - total("wins"),
            ggr_last_week: isCompared ? compared.reduce((sum, { before }) => sum + before, 0) : null,
            ggr_compared: isCompared ? compared.reduce((sum, { operator }) => sum + ggrOf(operator), 0) : null,
            operators: operators.length,
            operators_compared: compared.length,
            deposits: total("deposits"),
            withdrawals: total("withdrawals")
          }
        })
      })

      const counts = (scope: Scope, now: number) => {
        const today = utcDay(now)
        const operators = conditionsOf(scope, "operator_id")
        return countRows(
          sql`SELECT
            (SELECT coalesce(sum(players), 0) FROM daily_players WHERE ${operators} AND day = ${today}::date
              AND kind = 'casino' AND NOT is_test)::float8 AS players,
            (SELECT coalesce(sum(rows), 0) FROM player_counts WHERE ${operators} AND created_on = ${today}::date)::float8
              AS registrations,
            (SELECT coalesce(sum(rows), 0) FROM payment_counts WHERE ${operators} AND created_on = ${today}::date
              AND type = 'deposit' AND status = 'paid')::float8 AS deposits,
            (SELECT coalesce(sum(rows), 0) FROM payment_counts WHERE ${operators} AND created_on = ${today}::date
              AND type = 'withdrawal')::float8 AS withdrawals,
            (SELECT count(*) FROM (SELECT FROM stale_rounds WHERE ${operators} LIMIT ${maxOpenRounds + 1}) s)::float8
              AS "openForDay",
            (SELECT count(*) FROM (SELECT FROM stale_rounds WHERE ${operators}
              AND opened_at <= ${toDate(now - 2 * stepMs.day)} LIMIT ${maxOpenRounds}) s)::float8 AS "openForTwoDays",
            a.alerts::float8 AS alerts, a.unassigned::float8 AS unassigned,
            c.cases::float8 AS cases, c.unassigned::float8 AS "unassignedCases",
            (SELECT id FROM compliance_alerts WHERE ${operators} ORDER BY created_at DESC, id DESC LIMIT 1)::float8
              AS "newestAlert",
            (SELECT d.id FROM webhook_endpoints e CROSS JOIN LATERAL (SELECT id, created_at FROM webhook_deliveries
                WHERE endpoint_id = e.id ORDER BY created_at DESC, id DESC LIMIT 1) d
              WHERE ${conditionsOf(scope, "e.operator_id")} ORDER BY d.created_at DESC, d.id DESC LIMIT 1)::float8
              AS "newestDelivery"
          FROM (SELECT count(*) AS alerts, count(*) FILTER (WHERE assigned_to IS NULL) AS unassigned FROM (
            SELECT assigned_to FROM compliance_alerts WHERE ${operators} AND status <> 'closed' LIMIT ${
            maxAlerts + 1
          }) open
          ) a, (SELECT count(*) AS cases, count(*) FILTER (WHERE assigned_to IS NULL) AS unassigned FROM (
            SELECT assigned_to FROM cases WHERE ${operators} AND status <> 'closed' LIMIT ${maxAlerts + 1}) open) c`
        )
      }

      const pending = (scope: Scope) =>
        pendingRows(
          sql`SELECT currency, count(*)::float8 AS count, sum(amount)::float8 AS amount FROM (
              SELECT currency, amount FROM payment_requests
              WHERE ${conditionsOf(scope, "operator_id")} AND status IN ('new', 'allowed') AND type = 'withdrawal'
              LIMIT ${maxPending + 1}
            ) waiting GROUP BY currency ORDER BY currency`
        )

      const webhooks = (scope: Scope, now: number) =>
        webhookRows(
          sql`SELECT f.*, w.undelivered::float8 AS undelivered, w.since FROM (
            SELECT e.id, e.operator_id, e.url, l.failed::float8 AS failed, coalesce(d.late, false) AS late
            FROM webhook_endpoints e
              CROSS JOIN LATERAL (SELECT count(*) FILTER (WHERE status = 'failed' OR (status = 'pending' AND error IS NOT NULL))
                AS failed FROM (
                SELECT status, error FROM webhook_deliveries WHERE endpoint_id = e.id ORDER BY created_at DESC, id DESC LIMIT 50
              ) newest) l
              LEFT JOIN LATERAL (SELECT next_attempt_at < ${toDate(now - lateAfterMs)} AS late FROM webhook_deliveries
                WHERE endpoint_id = e.id AND status = 'pending' ORDER BY next_attempt_at, id LIMIT 1) d ON true
            WHERE ${conditionsOf(scope, "e.operator_id")} AND e.active AND (l.failed > 0 OR d.late)
            ORDER BY l.failed DESC, e.id LIMIT ${maxWebhooks}
            ) f CROSS JOIN LATERAL (SELECT count(*) AS undelivered, min(created_at) AS since FROM (
              (SELECT created_at FROM webhook_deliveries WHERE endpoint_id = f.id AND status = 'failed'
                ORDER BY created_at, id LIMIT ${maxUndelivered})
              UNION ALL
              (SELECT created_at FROM webhook_deliveries WHERE endpoint_id = f.id AND status = 'pending' AND attempts > 0
                ORDER BY created_at, id LIMIT ${maxUndelivered})) lost) w
            ORDER BY f.failed DESC, f.id`
        )

      /** Registers whose newest question had no answer. */
      const registers = (scope: Scope) =>
        registerRows(
          sql`SELECT r.id, r.operator_id, r.kind, l.at AS since FROM register_connections r
            CROSS JOIN LATERAL (SELECT verdict, asked_at AS at FROM register_checks c
              WHERE c.operator_id = r.operator_id AND c.kind = r.kind ORDER BY asked_at DESC, id DESC LIMIT 1) l
            WHERE ${conditionsOf(scope, "r.operator_id")} AND r.active AND l.verdict = 'unavailable'
            ORDER BY r.id LIMIT ${maxWebhooks}`
        )

      /** The newest audit line of each action after which lists are read again. */
      const marks = Effect.map(
        markRows(
          sql`SELECT split_part(a.action, '.', 1) AS noun, l.id::float8 AS id
            FROM unnest(string_to_array(${markingActions.join(",")}, ',')) AS a(action)
              CROSS JOIN LATERAL (SELECT id FROM audit_log WHERE action = a.action ORDER BY at DESC, id DESC LIMIT 1) l`
        ),
        (rows) => (...nouns: ReadonlyArray<string>) =>
          rows.filter(({ noun }) => nouns.includes(noun)).map(({ id }) => id).sort((a, b) => a - b)
      )

      const jobs = Effect.fnUntraced(function*(now: number) {
        const all = yield* Effect.mapError(scheduler.list, () => temporarilyUnavailable)
        return {
          failing: all.map((job) => ({
            name: job.name,
            failures: job.failures,
            late: !job.isRunning && job.nextRunAt < now - lateAfterMs,
            last_error: job.failures > 0 ? job.lastError : null
          })).filter(({ failures, late }) => failures > 0 || late),
          mark: all.map(({ failures, lastEndedAt, name }) => [name, failures, lastEndedAt])
        }
      })

      const read = Effect.fnUntraced(function*(scope: Scope) {
        const now = yield* Clock.currentTimeMillis
        // one after the other: a page takes one connection of lists, not six
        const sums = yield* money(scope, now)
        const [counted] = yield* counts(scope, now)
        const waiting = yield* pending(scope)
        const failing = yield* webhooks(scope, now)
        const silent = yield* registers(scope)
        const markOf = yield* marks
        const { failing: failingJobs, mark: jobMark } = yield* jobs(now)
        const failingProviders = yield* Cache.get(providers, "all")
        const waitingCount = waiting.reduce((sum, { count }) => sum + count, 0)
        const overview: Overview = {
          at: iso(now),
          money: sums,
          active_players: counted?.players ?? 0,
          registrations: counted?.registrations ?? 0,
          deposits: counted?.deposits ?? 0,
          withdrawals: counted?.withdrawals ?? 0,
          pending_withdrawals: {
            count: Math.min(waitingCount, maxPending),
            is_lower_bound: waitingCount > maxPending,
            amounts: waiting.map(({ amount, currency }) => ({ currency, amount }))
          },
          open_rounds: {
            for_a_day: Math.min(counted?.openForDay ?? 0, maxOpenRounds),
            for_two_days: counted?.openForTwoDays ?? 0,
            is_lower_bound: (counted?.openForDay ?? 0) > maxOpenRounds
          },
          open_alerts: {
            count: Math.min(counted?.alerts ?? 0, maxAlerts),
            unassigned: counted?.unassigned ?? 0,
            is_lower_bound: (counted?.alerts ?? 0) > maxAlerts
          },
          open_cases: {
            count: Math.min(counted?.cases ?? 0, maxAlerts),
            unassigned: counted?.unassignedCases ?? 0,
            is_lower_bound: (counted?.cases ?? 0) > maxAlerts
          },
          silent_registers: silent.map(({ since, ...one }) => ({ ...one, since: iso(since) })),
          failing_webhooks: failing.map((one) => ({ ...one, since: one.since === null ? null : iso(one.since) })),
          failing_jobs: failingJobs,
          failing_providers: failingProviders
        }
        return {
          overview,
          marks: {
            payments: JSON.stringify([waiting, counted?.deposits, counted?.withdrawals, markOf("payment")]),
            alerts: JSON.stringify([counted?.alerts, counted?.newestAlert, markOf("alert")]),
            deliveries: JSON.stringify([counted?.newestDelivery, failing, markOf("webhook", "delivery")]),
            jobs: JSON.stringify(jobMark)
          }
        } satisfies Reading
      })

      const readings = yield* Cache.make({
        capacity: keptSets,
        timeToLive,
        // uninterruptible: the first caller may disconnect while others wait for the same reading
        lookup: (key: string) => Effect.uninterruptible(orTryAgain(read(scopeOf(key))))
      })

      return Overviews.of({
        read: Effect.fn("Overviews.read")((scope) => Cache.get(readings, scopeKey(scope)))
      })
    })
  )
}
