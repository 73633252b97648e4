import { Console, Effect } from "effect"
import { cpus } from "node:os"
import { generate } from "../data/Generate.ts"
import { days, heavyPlayer } from "../data/GeneratorSql.ts"
import { summarize } from "../load/Latency.ts"
import { measureReads } from "../load/Reads.ts"
import { describeMachine } from "../report/Machine.ts"
import { familyMicros, machineMicros, processMicros } from "../report/ProcessorTime.ts"
import { endProgress, showProgress } from "../report/Progress.ts"
import { type ReadLatency, type ReadMeasurement, renderReads, verdict } from "../report/ReadsReport.ts"
import { writeResult } from "../report/ResultFile.ts"
import { type Postgres, readSettings, startPostgres } from "../targets/Postgres.ts"
import { ApiKey, create, Created, environmentOn, type Service, startService, Verification } from "../targets/Service.ts"
import { type ReadCase, readCases, reportCase } from "./ReadCases.ts"

export interface ReadsOptions {
  readonly players: number
  readonly entries: number
  readonly connections: ReadonlyArray<number>
  /** Answers measured per case and number of connections. */
  readonly repetitions: number
  /** Whether the generated ledger is proved at the end. */
  readonly verify: boolean
}

const database = "reads"
const smallOperators = 3
/** Whose short ledgers are read: many, so that most are not in the service's memory yet. */
const usualPlayers = 2000
const minuteMs = 60_000

const secondsSince = (start: number): string => `${((performance.now() - start) / 1000).toFixed(1)} s`

/** Operators and a key, made as staff make them, by a service that ends before the data is generated. */
const provision = Effect.fnUntraced(function*(environment: Readonly<Record<string, string>>) {
  const { backoffice } = yield* startService(environment)
  const operators = yield* Effect.forEach(
    Array.from({ length: 1 + smallOperators }, (_, index) => `operator-${index + 1}`),
    (slug) => backoffice(Created, create("operator", { slug, name: slug, currency: "EUR" }))
  )
  const operatorIds = operators.map(({ id }) => id)
  const key = yield* backoffice(
    ApiKey,
    create("key", { operator: String(operatorIds[0]), name: "bench", "rate-limit": "10000000" })
  )
  return { operatorIds, key }
}, Effect.scoped)

const measureCase = Effect.fnUntraced(function*(
  service: Service,
  postgres: Postgres,
  key: typeof ApiKey.Type,
  { name, target_ms, uris }: ReadCase,
  options: ReadsOptions
) {
  const latencies: Array<ReadLatency> = []
  for (const connections of options.connections) {
    showProgress(`${name}, ${connections} connections`)
    const warmUp = Math.max(10, connections)
    const read = () => ({
      at: performance.now(),
      service: processMicros(service.child.pid),
      postgres: familyMicros(postgres.pid),
      generator: processMicros(process.pid),
      machine: machineMicros()
    })
    const before = read()
    const { histogram, perSecond } = yield* measureReads({
      origin: `http://${service.host}:${service.port}`,
      key: key.key,
      secret: key.secret,
      uris,
      connections,
      repetitions: options.repetitions,
      warmUp
    })
    const after = read()
    const used = {
      service: after.service - before.service,
      postgres: after.postgres - before.postgres,
      generator: after.generator - before.generator
    }
    const machine = after.machine.busy + after.machine.stolen - before.machine.busy - before.machine.stolen
    const foreign = machine - used.service - used.postgres - used.generator
    const reads = options.repetitions + warmUp
    latencies.push({
      ...summarize(histogram),
      connections,
      repetitions: options.repetitions,
      per_second: perSecond,
      service_ms: used.service / reads / 1000,
      postgres_ms: used.postgres / reads / 1000,
      foreign_share: Math.max(0, foreign) / ((after.at - before.at) * 1000 * cpus().length)
    })
  }
  return { name, target_ms, latencies } satisfies ReadMeasurement
})

/**
 * Generates a casino's year, reads of it what operators read, and holds the time against targets. Prints the table and writes it
 * to a file; a missed target is told, not punished: on another machine it may be met.
 */
export const runReads = Effect.fn("runReads")(
  function*(options: ReadsOptions) {
    const startedAt = new Date()
    const postgres = yield* startPostgres
    const machine = describeMachine(postgres.folder)
    yield* postgres.query("postgres", `CREATE DATABASE ${database}`)
    const environment = environmentOn(postgres, database)
    const { key, operatorIds } = yield* provision(environment)

    const generating = performance.now()
    const { made, shape } = yield* generate({
      url: postgres.url(database),
      players: options.players,
      entries: options.entries,
      endsAt: Date.now() - minuteMs,
      operatorIds,
      progress: (text) => showProgress(`generating, ${secondsSince(generating)}: ${text}`)
    })
    const generated_s = Math.round((performance.now() - generating) / 1000)
    endProgress()
    const number = (value: number) => value.toLocaleString("en-US")
    yield* Console.log(
      `${days} days generated in ${generated_s} s: ${number(made.players)} players, ${number(made.entries)} entries, ` +
        `${number(made.provider_transactions)} provider transactions, ${number(made.payments)} payments, ` +
        `${number(Math.round(made.bytes / 2 ** 20))} MiB`
    )

    const service = yield* startService(environment)
    const usual = (yield* postgres.query(
      database,
      `SELECT player_id::float8 AS id FROM accounts WHERE operator_id = $1 AND entry_seq BETWEEN 3 AND 40
        ORDER BY hashint8(player_id) LIMIT ${usualPlayers}`,
      [operatorIds[0]]
    )).map((row) => Number(row["id"]))
    const cases = [...readCases(shape, usual), reportCase(shape)]
    // what the first filtered look at the long ledger costs: nobody has summed it up yet
    const [heavyFiltered] = cases.filter(({ name }) => name.includes("type=casino_bet"))
    const origin = `http://${service.host}:${service.port}`
    const firstLook = heavyFiltered === undefined ? undefined : yield* measureReads({
      origin,
      ...key,
      uris: heavyFiltered.uris,
      connections: 1,
      repetitions: 1,
      warmUp: 0
    })
    const first_look_ms = firstLook === undefined ? undefined : summarize(firstLook.histogram).max_ms
    yield* Console.log(
      `the first filtered look at a ledger of ${number(heavyPlayer(shape).entries)} entries: ${
        first_look_ms?.toFixed(0)
      } ms`
    )

    const measurements: Array<ReadMeasurement> = []
    for (const each of cases) {
      const measured = yield* measureCase(service, postgres, key, each, options)
      measurements.push(measured)
      endProgress()
      const [alone] = measured.latencies
      yield* Console.log(
        `${each.name}: ${alone?.p50_ms.toFixed(2)} / ${alone?.p99_ms.toFixed(2)} ms, processor time ` +
          `${alone?.service_ms.toFixed(2)} + ${alone?.postgres_ms.toFixed(2)} ms`
      )
    }

    let verified_s: number | undefined
    if (options.verify) {
      showProgress("proving the ledger")
      const proving = performance.now()
      const { entries, violations } = yield* service.backoffice(Verification, ["ledger", "verify"])
      verified_s = Math.round((performance.now() - proving) / 1000)
      endProgress()
      yield* Console.log(
        `ledger verify: ${number(entries)} entries in ${verified_s} s, ${violations.length} violations`
      )
    }
    const settings = yield* readSettings(postgres)
    const missed = measurements.flatMap(({ latencies, name, target_ms }) =>
      latencies.filter((latency) => verdict(target_ms, latency) === false).map(({ connections }) =>
        `${name} (${connections} connections)`
      )
    )
    yield* Console.log(`\n${renderReads(measurements, machine, settings)}`)
    yield* Console.log(missed.length === 0 ? "\nall targets are met" : `\nmissed: ${missed.join("; ")}`)
    const path = yield* writeResult("reads", startedAt, {
      scenario: "reads",
      started_at: startedAt.toISOString(),
      options,
      machine,
      postgres: settings,
      generated: { ...made, seconds: generated_s },
      first_look_ms,
      measurements,
      missed,
      verified_s
    })
    yield* Console.log(`\nwritten to ${path}`)
  },
  Effect.scoped,
  Effect.ensuring(Effect.sync(endProgress))
)
