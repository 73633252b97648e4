import { Console, Effect } from "effect"
import { Flag } from "effect/cli"
import { BenchError } from "../BenchError.ts"
import * as Flags from "../Flags.ts"
import { readProcessors, undisturbed, usageBetween } from "../load/Quiet.ts"
import { headlineOf } from "../report/Format.ts"
import { endProgress, showProgress } from "../report/Progress.ts"
import { figure } from "../report/Result.ts"
import { startPostgres } from "../targets/Postgres.ts"
import { Created, environmentOn, startService } from "../targets/Service.ts"
import { startSink } from "../targets/Sink.ts"
import { roundNumbers } from "./Rounds.ts"
import { describeServer, scenario } from "./Scenario.ts"

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
export const webhookScenario = scenario({
  name: "webhooks",
  title: "Webhooks: from events to deliveries while some endpoints never answer",
  about: "Events to endpoints: deliveries per second while some endpoints never answer",
  flags: {
    endpoints: Flags.count("endpoints", "endpoints, each of an operator of its own", 500).pipe(Flag.withDefault(50)),
    hanging: Flags.count("hanging", "endpoints among them that never answer", 100).pipe(Flag.withDefault(1)),
    events: Flags.count("events", "events of each operator in a round", 100_000).pipe(Flag.withDefault(200)),
    rounds: Flags.rounds(5),
    maxForeignLoad: Flags.maxForeignLoad
  },
  plan: ({ endpoints, events, rounds }) => [
    `webhooks: ${rounds} rounds`,
    8 + endpoints / 20 + rounds * (2 + endpoints * events / 2500)
  ],
  measure: Effect.fnUntraced(function*({ endpoints, events, hanging, maxForeignLoad, rounds: count }) {
    const postgres = yield* startPostgres()
    const server = yield* describeServer(postgres)
    const sink = yield* startSink
    yield* postgres.query("postgres", `CREATE DATABASE ${database}`)
    const { child, create } = yield* startService({
      ...environmentOn(postgres, database),
      LOG_LEVEL: "warn",
      WEBHOOK_ALLOW_INSECURE: "on"
    })

    const operatorIds: Array<number> = []
    for (let index = 0; index < endpoints; index++) {
      const slug = `operator-${index}`
      operatorIds.push((yield* create("operators", { slug, name: slug, currency: "EUR" }, Created)).id)
      const path = index < hanging ? "hang" : "hook"
      yield* create("webhooks", { operator: slug, url: `http://127.0.0.1:${sink.port}/${path}/${index}` }, Created)
      showProgress(`${index + 1} of ${endpoints} endpoints`)
    }

    const answering = endpoints - hanging
    let sent = 0
    const attempt = Effect.gen(function*() {
      const before = sink.deliveries.size
      const wanted = before + answering * events
      const parties = { service: [child.pid], postgres: postgres.pid, generators: [process.pid] }
      const begun = readProcessors(parties)
      yield* postgres.query(
        database,
        `INSERT INTO events (id, operator_id, type, data, created_at)
          SELECT $1 + row_number() OVER (), o.id, 'deposit.paid', $2::jsonb, now()
          FROM generate_series(1, $3) AS e, unnest($4::bigint[]) AS o(id)`,
        [firstEventId + sent++ * 1_000_000_000, eventData, events, operatorIds]
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
    for (const round of roundNumbers(count)) {
      const { last } = yield* undisturbed(maxForeignLoad / 100, () => attempt)
      rounds.push(last)
      endProgress()
      yield* Console.log(
        `round ${round}/${count}  ${Math.round(last.perSecond)} deliveries/s  ` +
          `foreign load ${Math.round(last.foreignShare * 100)}%`
      )
    }
    const perSecond = figure("deliveries", "/s", "higher", rounds.map((round) => round.perSecond))
    const repeated = sink.repeats()
    return {
      ...server,
      method: [
        `${count} rounds of ${answering * events} deliveries to ${answering} endpoints that answer; ${hanging} ` +
        "never do. Events are put into the table in one commit; the clock runs from there to the last delivery.",
        `${repeated} deliveries came twice, ${sink.hanging()} attempts hung.`
      ],
      headlines: headlineOf(
        perSecond,
        `deliveries to ${answering} endpoints, ${hanging} hanging, ${repeated} twice`
      ),
      measurements: [{
        group: `${endpoints} endpoints, ${hanging} hanging`,
        name: "pitboss",
        figures: [
          perSecond,
          figure("CPU service", "µs", "lower", rounds.map(({ serviceMicros }) => serviceMicros)),
          figure("CPU PostgreSQL", "µs", "lower", rounds.map(({ postgresMicros }) => postgresMicros)),
          figure("foreign load", "%", "neither", rounds.map(({ foreignShare }) => foreignShare * 100))
        ],
        errors: repeated === 0 ? {} : { DELIVERED_TWICE: repeated }
      }]
    }
  })
})
