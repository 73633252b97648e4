/** `/metrics` for Prometheus, on the back-office port (`docs/operations.md` explains every metric). */
import { poolSql } from "../platform/ServiceProcesses.ts"
import { Clock, Effect, Layer, Metric, Schema } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { PrometheusMetrics } from "effect/observability"
import { SqlClient } from "effect/sql"
import { exportedName, makeGaugeFamily } from "../platform/Metrics.ts"
import { registerProcessMetrics } from "../platform/ProcessMetrics.ts"
import { rowsOf } from "../store/Rows.ts"
import { Readiness } from "./Readiness.ts"

const ready = Metric.gauge("ready", { description: "Whether the service can serve: 1, or 0 with the reason" })
const databaseUp = Metric.gauge("database_up", { description: "Whether the database answered this scrape" })
const databaseAnswer = Metric.gauge("database_answer_seconds", {
  description: "Time to get a connection and an answer for this scrape"
})
const databaseConnections = Metric.gauge("database_connections", {
  description: "Connections of all services on the database, by pool and state"
})

const connectionRows = rowsOf(Schema.Struct({ pool: Schema.String, state: Schema.String, connections: Schema.Number }))

const makeDatabaseMetrics = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const clock = yield* Clock.Clock
  const setConnections = makeGaugeFamily(databaseConnections)
  const readConnections = connectionRows(sql`
    SELECT ${sql.literal(poolSql)} AS pool, coalesce(state, 'unknown') AS state, count(*)::float8 AS connections
    FROM pg_stat_activity
    WHERE datname = current_database() AND ${
    sql.literal(poolSql)
  } IN ('pitboss', 'pitboss-reports', 'pitboss-serving', 'pitboss-journal')
    GROUP BY 1, 2 ORDER BY 1, 2`)
  return Effect.gen(function*() {
    const startedAt = clock.monotonicTimeNanosUnsafe()
    const found = yield* Effect.option(Effect.timeout(readConnections, "2 seconds"))
    yield* Metric.update(databaseAnswer, Number(clock.monotonicTimeNanosUnsafe() - startedAt) / 1e9)
    yield* Metric.update(databaseUp, found._tag === "Some" ? 1 : 0)
    yield* setConnections(
      found._tag === "None" ? [] : found.value.map(({ connections, pool, state }) => [{ pool, state }, connections])
    )
  })
})

/** Omits the metrics of effect/cluster: they have no descriptions, and `Ownership` has equivalents. */
const exported = (registry: Metric.MetricRegistry): Metric.MetricRegistry =>
  new Map([...registry].filter(([, { id }]) => !id.startsWith("effect_cluster")))

export const MetricsRoute = Layer.unwrap(Effect.gen(function*() {
  const readiness = yield* Readiness
  const observeDatabase = yield* makeDatabaseMetrics
  const observeProcess = yield* registerProcessMetrics
  const setReady = makeGaugeFamily(ready)
  const registry = yield* Metric.MetricRegistry
  const handler = Effect.gen(function*() {
    const reason = yield* readiness.check
    yield* setReady([[{ reason }, reason === "ready" ? 1 : 0]])
    yield* observeDatabase
    yield* observeProcess
    const text = yield* Effect.provideService(
      PrometheusMetrics.format({ metricNameMapper: exportedName }),
      Metric.MetricRegistry,
      exported(registry)
    )
    return HttpServerResponse.text(text, { contentType: "text/plain; version=0.0.4; charset=utf-8" })
  })
  return HttpRouter.add("GET", "/metrics", Effect.provideService(handler, Metric.MetricRegistry, registry))
})).pipe(Layer.provide(Readiness.layer))
