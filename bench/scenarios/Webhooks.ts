import { Console, Effect, Schedule, Schema } from "effect"
import { randomBytes } from "node:crypto"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { BenchError } from "../BenchError.ts"
import { describeMachine } from "../report/Machine.ts"
import { familyMicros, processMicros } from "../report/ProcessorTime.ts"
import { endProgress, showProgress } from "../report/Progress.ts"
import { writeResult } from "../report/ResultFile.ts"
import { median } from "../report/Statistics.ts"
import { renderTable } from "../report/Table.ts"
import { startChild } from "../targets/Child.ts"
import { freePort } from "../targets/FreePort.ts"
import { readSettings, startPostgres } from "../targets/Postgres.ts"
import { startSink } from "../targets/Sink.ts"

export interface WebhooksOptions {
  /** One endpoint for each operator. */
  readonly endpoints: number
  /** Endpoints among them that never answer. */
  readonly hanging: number
  /** Events of each operator in a round. */
  readonly events: number
  readonly rounds: number
}

const database = "webhooks"
const host = "127.0.0.1"

/** Nothing that the service numbers comes near. */
const firstEventId = 4_000_000_000_000

const Created = Schema.fromJsonString(Schema.Struct({ data: Schema.Struct({ id: Schema.Int }) }))

/** An event of the size of most: a payment and the player's short form. */
const eventData = JSON.stringify({
  payment: {
    id: 48_213,
    type: "deposit",
    status: "paid",
    player_id: 48_213,
    amount: 2500,
    currency: "EUR",
    payment_method: "card",
    external_reference: "reference-48213",
    info: null,
    reject_reason: null,
    is_reversed: false,
    created_at: "2026-11-20T12:00:00.000Z",
    paid_at: "2026-11-20T12:00:00.000Z",
    rejected_at: null,
    cancelled_at: null,
    updated_at: "2026-11-20T12:00:00.000Z"
  },
  player: { id: 48_213, external_id: "x-48213", username: "lucky_luke" }
})

/**
 * How fast events that are there already become deliveries and reach their endpoints, while some of these never answer. The
 * service runs as a customer runs it; events are put into its table in one commit per round, and the clock runs from there to
 * the last delivery to an endpoint that answers.
 */
export const runWebhooks = Effect.fn("runWebhooks")(
  function*(options: WebhooksOptions) {
    const startedAt = new Date()
    const postgres = yield* startPostgres
    const sink = yield* startSink
    yield* postgres.query("postgres", `CREATE DATABASE ${database}`)
    const [port, backofficePort] = [yield* freePort, yield* freePort]
    const token = randomBytes(24).toString("hex")
    const child = yield* startChild({
      name: "pitboss",
      args: [fileURLToPath(import.meta.resolve("../../src/main.ts"))],
      environment: {
        HOST: host,
        PORT: String(port),
        BACKOFFICE_PORT: String(backofficePort),
        DATABASE_URL: postgres.url(database),
        DATA_DIR: join(postgres.folder, "pitboss"),
        DEMO: "off",
        LOG_LEVEL: "warn",
        MASTER_KEY: randomBytes(32).toString("base64"),
        BACKOFFICE_TOKEN: token,
        WEBHOOK_ALLOW_INSECURE: "on"
      }
    })
    const create = (path: string, body: object) =>
      Effect.tryPromise({
        try: async (signal) => {
          const response = await fetch(`http://${host}:${backofficePort}/backoffice/v1/${path}`, {
            method: "POST",
            signal,
            headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
            body: JSON.stringify(body)
          })
          return await response.text()
        },
        catch: (error) => new BenchError({ message: `${path}: ${String(error)}` })
      }).pipe(
        Effect.flatMap(Schema.decodeEffect(Created)),
        Effect.catchTag(
          "SchemaError",
          (error) => Effect.fail(new BenchError({ message: `${path}: ${error.message}` }))
        ),
        Effect.map(({ data }) => data.id)
      )
    const createFirst = create("operators", { slug: "first", name: "first", currency: "EUR" })
    yield* createFirst.pipe(
      Effect.retry({ schedule: Schedule.spaced("200 millis"), times: 300 }),
      Effect.raceFirst(child.ended)
    )

    const operatorIds: Array<number> = []
    for (let index = 0; index < options.endpoints; index++) {
      const slug = `operator-${index}`
      operatorIds.push(yield* create("operators", { slug, name: slug, currency: "EUR" }))
      const path = index < options.hanging ? "hang" : "hook"
      yield* create("webhooks", { operator: slug, url: `http://${host}:${sink.port}/${path}/${index}` })
      showProgress(`${index + 1} of ${options.endpoints} endpoints`)
    }

    const answering = options.endpoints - options.hanging
    const rounds: Array<{ deliveries: number; seconds: number; serviceMicros: number; postgresMicros: number }> = []
    for (let round = 0; round < options.rounds; round++) {
      const before = sink.deliveries.size
      const wanted = before + answering * options.events
      const [service, server] = [processMicros(child.pid), familyMicros(postgres.pid)]
      const begunAt = performance.now()
      yield* postgres.query(
        database,
        `INSERT INTO events (id, operator_id, type, data, created_at)
          SELECT $1 + row_number() OVER (), o.id, 'deposit.paid', $2::jsonb, now()
          FROM generate_series(1, $3) AS e, unnest($4::bigint[]) AS o(id)`,
        [firstEventId + round * 1_000_000_000, eventData, options.events, operatorIds]
      )
      const isDone = Effect.sync(() => sink.deliveries.size >= wanted)
      yield* Effect.repeat(Effect.delay(isDone, "20 millis"), { until: (done) => done }).pipe(
        Effect.raceFirst(child.ended),
        Effect.timeoutOrElse({
          duration: "10 minutes",
          orElse: () => Effect.fail(new BenchError({ message: `${sink.deliveries.size} of ${wanted} deliveries came` }))
        })
      )
      rounds.push({
        deliveries: wanted - before,
        seconds: (sink.lastAt() - begunAt) / 1000,
        serviceMicros: processMicros(child.pid) - service,
        postgresMicros: familyMicros(postgres.pid) - server
      })
      showProgress(`round ${round + 1} of ${options.rounds}`)
    }
    endProgress()
    const perSecond = rounds.map(({ deliveries, seconds }) => deliveries / seconds)
    const perDelivery = (of: (round: (typeof rounds)[number]) => number) =>
      Math.round(median(rounds.map((round) => of(round) / round.deliveries)))
    const summary = {
      deliveries_per_second: Math.round(median(perSecond)),
      lowest: Math.round(Math.min(...perSecond)),
      highest: Math.round(Math.max(...perSecond)),
      service_us_per_delivery: perDelivery(({ serviceMicros }) => serviceMicros),
      postgres_us_per_delivery: perDelivery(({ postgresMicros }) => postgresMicros),
      repeated: sink.repeats(),
      attempts_that_hang: sink.hanging()
    }
    yield* Console.log(renderTable(
      [
        `${options.endpoints} endpoints, ${options.hanging} hanging`,
        "deliveries/s",
        "service µs",
        "PostgreSQL µs",
        "twice"
      ],
      [[
        `${options.rounds} rounds of ${answering * options.events}`,
        `${summary.deliveries_per_second} (${summary.lowest}–${summary.highest})`,
        String(summary.service_us_per_delivery),
        String(summary.postgres_us_per_delivery),
        String(summary.repeated)
      ]]
    ))
    const path = yield* writeResult("webhooks", startedAt, {
      scenario: "webhooks",
      started_at: startedAt.toISOString(),
      options,
      machine: describeMachine(postgres.folder),
      postgres: yield* readSettings(postgres),
      rounds,
      summary
    })
    yield* Console.log(`\nwritten to ${path}`)
  },
  Effect.scoped,
  Effect.ensuring(Effect.sync(endProgress))
)
