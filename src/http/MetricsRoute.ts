/** `/metrics` for Prometheus, on the back-office port (`docs/operations.md` says what each one means and what to do about it). */
import { Clock, Effect, Layer, Schema } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { PrometheusMetrics } from "effect/observability"
import { SqlClient } from "effect/sql"
import { type Family, prometheusText, type Sample } from "../platform/Measures.ts"
import { makeProcessMeasures } from "../platform/ProcessMeasures.ts"
import { PlayerActors } from "../store/PlayerActors.ts"
import { rowsOf } from "../store/Rows.ts"
import { Readiness } from "./Readiness.ts"
import { RequestMetrics } from "./RequestMetrics.ts"

const family =
  (type: "counter" | "gauge") => (name: string, help: string, value: number | ReadonlyArray<Sample>): Family => ({
    type,
    name: `pitboss_${name}`,
    help,
    samples: typeof value === "number" ? [[{}, value]] : value
  })
const gauge = family("gauge")
const counter = family("counter")

const connectionRows = rowsOf(Schema.Struct({ pool: Schema.String, state: Schema.String, connections: Schema.Number }))

/** How the players' actors and their journal do. */
const engineFamilies = ({ measures, writesStalledMs }: PlayerActors["Service"]): ReadonlyArray<Family> => {
  const now = measures()
  return [
    gauge("actors_resident", "Players held in memory.", now.resident),
    gauge("actors_commands_waiting", "Commands in all mailboxes.", now.waiting),
    gauge("actors_longest_mailbox", "Commands in the fullest mailbox.", now.longestMailbox),
    counter(
      "actors_refused_total",
      "Commands refused because a mailbox, the memory or the service was full.",
      now.refused
    ),
    counter("actors_loads_total", "Players loaded into memory.", now.loads),
    counter("actors_reloads_total", "Players loaded again after a rejected or unknown commit.", now.reloads),
    counter("actors_passivations_total", "Players who left memory, idle or to make room.", now.passivations),
    {
      type: "histogram",
      name: "pitboss_journal_batch_units",
      help: "Units in one group commit: the commands of one player that are written together.",
      samples: [[{}, now.batchUnits]]
    },
    {
      type: "histogram",
      name: "pitboss_journal_commit_seconds",
      help: "Time of one group commit.",
      samples: [[{}, now.commitSeconds]]
    },
    gauge(
      "journal_stalled_seconds",
      "For how long nothing could be written; 0 when the last commit went well.",
      writesStalledMs() / 1000
    )
  ]
}

const databaseFamilies = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const clock = yield* Clock.Clock
  const look = connectionRows(sql`
    SELECT application_name AS pool, coalesce(state, 'unknown') AS state, count(*) AS connections
    FROM pg_stat_activity
    WHERE datname = current_database() AND application_name IN ('pitboss', 'pitboss-journal')
    GROUP BY 1, 2 ORDER BY 1, 2`)
  return Effect.gen(function*() {
    const startedAt = clock.monotonicTimeNanosUnsafe()
    const found = yield* Effect.option(Effect.timeout(look, "2 seconds"))
    const seconds = Number(clock.monotonicTimeNanosUnsafe() - startedAt) / 1e9
    return [
      gauge("database_up", "Whether the database answered just now.", found._tag === "Some" ? 1 : 0),
      gauge("database_answer_seconds", "How long it took to get a connection and an answer just now.", seconds),
      gauge(
        "database_connections",
        "Connections of all services on the database, by pool and state.",
        found._tag === "None" ? [] : found.value.map(({ connections, pool, state }) => [{ pool, state }, connections])
      )
    ]
  })
})

export const MetricsRoute = Layer.unwrap(Effect.gen(function*() {
  const requests = yield* RequestMetrics
  const actors = yield* PlayerActors
  const readiness = yield* Readiness
  const database = yield* databaseFamilies
  const processFamilies = yield* makeProcessMeasures
  const handler = Effect.gen(function*() {
    const ready = yield* readiness.check
    const families = [
      ...processFamilies(),
      gauge("ready", "Whether the service can serve: 1, or 0 with the reason.", [[
        { reason: ready },
        ready === "ready" ? 1 : 0
      ]]),
      requests.family(),
      ...engineFamilies(actors),
      ...yield* database
    ]
    // what is measured where it is not hot: jobs, webhooks, open rounds
    const others = yield* PrometheusMetrics.format({ prefix: "pitboss" })
    return HttpServerResponse.text(prometheusText(families) + others, {
      contentType: "text/plain; version=0.0.4; charset=utf-8"
    })
  })
  return HttpRouter.add("GET", "/metrics", handler)
})).pipe(Layer.provide(Readiness.layer))
