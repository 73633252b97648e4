import { Console, Effect } from "effect"
import { BenchError } from "../BenchError.ts"
import { readProcessors, undisturbed, usageBetween } from "../load/Quiet.ts"
import { headlineOf } from "../report/Format.ts"
import { describeMachine } from "../report/Machine.ts"
import { endProgress, showProgress } from "../report/Progress.ts"
import { figure } from "../report/Result.ts"
import { readSettings, startPostgres } from "../targets/Postgres.ts"
import { Created, environmentOn, startService } from "../targets/Service.ts"
import { startSink } from "../targets/Sink.ts"
import { announce, publish } from "./Findings.ts"

export interface WebhooksOptions {
  /** One endpoint for each operator. */
  readonly endpoints: number
  /** Endpoints among them that never answer. */
  readonly hanging: number
  /** Events of each operator in a round. */
  readonly events: number
  readonly rounds: number
  /** Percent of the processors; a round that others disturbed more is run again. */
  readonly maxForeignLoad: number
}

const database = "webhooks"

/** Nothing that the service numbers comes near. */
const firstEventId = 4_000_000_000_000

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
    yield* announce(
      `webhooks: ${options.rounds} rounds`,
      8 + options.endpoints / 20 + options.rounds * (2 + options.endpoints * options.events / 2500)
    )
    const postgres = yield* startPostgres()
    const machine = describeMachine(postgres.folder)
    const sink = yield* startSink
    yield* postgres.query("postgres", `CREATE DATABASE ${database}`)
    const { child, create } = yield* startService({
      ...environmentOn(postgres, database),
      LOG_LEVEL: "warn",
      WEBHOOK_ALLOW_INSECURE: "on"
    })

    const operatorIds: Array<number> = []
    for (let index = 0; index < options.endpoints; index++) {
      const slug = `operator-${index}`
      operatorIds.push((yield* create("operators", { slug, name: slug, currency: "EUR" }, Created)).id)
      const path = index < options.hanging ? "hang" : "hook"
      yield* create("webhooks", { operator: slug, url: `http://127.0.0.1:${sink.port}/${path}/${index}` }, Created)
      showProgress(`${index + 1} of ${options.endpoints} endpoints`)
    }

    const answering = options.endpoints - options.hanging
    let sent = 0
    const attempt = Effect.gen(function*() {
      const before = sink.deliveries.size
      const wanted = before + answering * options.events
      const parties = { service: child.pid, postgres: postgres.pid, generators: [process.pid] }
      const begun = readProcessors(parties)
      yield* postgres.query(
        database,
        `INSERT INTO events (id, operator_id, type, data, created_at)
          SELECT $1 + row_number() OVER (), o.id, 'deposit.paid', $2::jsonb, now()
          FROM generate_series(1, $3) AS e, unnest($4::bigint[]) AS o(id)`,
        [firstEventId + sent++ * 1_000_000_000, eventData, options.events, operatorIds]
      )
      const isDone = Effect.sync(() => sink.deliveries.size >= wanted)
      yield* Effect.repeat(Effect.delay(isDone, "20 millis"), { until: (done) => done }).pipe(
        Effect.raceFirst(child.ended),
        Effect.timeoutOrElse({
          duration: "10 minutes",
          orElse: () => Effect.fail(new BenchError({ message: `${sink.deliveries.size} of ${wanted} deliveries came` }))
        })
      )
      const usage = usageBetween(begun, readProcessors(parties))
      const deliveries = wanted - before
      return {
        perSecond: deliveries * 1000 / (sink.lastAt() - begun.at),
        serviceMicros: usage.service / deliveries,
        postgresMicros: usage.postgres / deliveries,
        foreignShare: usage.foreignShare
      }
    })
    const rounds: Array<Effect.Success<typeof attempt>> = []
    for (let round = 1; round <= options.rounds; round++) {
      const { last } = yield* undisturbed(options.maxForeignLoad / 100, () => attempt)
      rounds.push(last)
      endProgress()
      yield* Console.log(
        `round ${round}/${options.rounds}  ${Math.round(last.perSecond)} deliveries/s  ` +
          `foreign load ${Math.round(last.foreignShare * 100)}%`
      )
    }
    const perSecond = rounds.map((round) => round.perSecond)
    const repeated = sink.repeats()
    return yield* publish({
      scenario: "webhooks",
      title: "Webhooks: from events to deliveries while some endpoints never answer",
      method: [
        `${options.rounds} rounds of ${
          answering * options.events
        } deliveries to ${answering} endpoints that answer; ${options.hanging} ` +
        "never do. Events are put into the table in one commit; the clock runs from there to the last delivery.",
        `${repeated} deliveries came twice, ${sink.hanging()} attempts hung.`
      ],
      startedAt,
      machine,
      postgres: yield* readSettings(postgres),
      options: { ...options },
      headlines: headlineOf(
        figure("deliveries", "/s", "higher", perSecond),
        `deliveries to ${answering} endpoints, ${options.hanging} hanging, ${repeated} twice`
      ),
      measurements: [{
        group: `${options.endpoints} endpoints, ${options.hanging} hanging`,
        name: "pitboss",
        figures: [
          figure("deliveries", "/s", "higher", perSecond),
          figure("CPU service", "µs", "lower", rounds.map(({ serviceMicros }) => serviceMicros)),
          figure("CPU PostgreSQL", "µs", "lower", rounds.map(({ postgresMicros }) => postgresMicros)),
          figure("foreign load", "%", "neither", rounds.map(({ foreignShare }) => foreignShare * 100))
        ],
        errors: repeated === 0 ? {} : { DELIVERED_TWICE: repeated }
      }]
    })
  },
  Effect.scoped,
  Effect.ensuring(Effect.sync(endProgress))
)
