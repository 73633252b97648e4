import { Console, Effect } from "effect"
import { Flag } from "effect/cli"
import { type Dataset, openDataset } from "../data/Dataset.ts"
import { days, heavyPlayer, type Shape } from "../data/GeneratorSql.ts"
import * as Flags from "../Flags.ts"
import { summarize } from "../load/Latency.ts"
import { readProcessors, undisturbed, usageBetween } from "../load/Quiet.ts"
import { measureReads, type ReadJob, signedBy } from "../load/Reads.ts"
import { formatFigure, formatValue, headlineOf, meetsLimit } from "../report/Format.ts"
import { endProgress, showProgress } from "../report/Progress.ts"
import { curveOf, figure, type Measurement } from "../report/Result.ts"
import { addHistograms } from "../report/TrafficReport.ts"
import { type Service, startService } from "../targets/Service.ts"
import { type ReadCase, readCases, reportCases, staffCases } from "./ReadCases.ts"
import { roundNumbers } from "./Rounds.ts"
import { describeServer, scenario } from "./Scenario.ts"

/** Number of players with short ledgers that are read: many, so that most are not yet in memory. */
const usualPlayers = 2000

const measureOnce = Effect.fnUntraced(function*(
  reader: Pick<ReadJob, "origin" | "headersOf">,
  service: Service,
  { postgres }: Dataset,
  { uris }: ReadCase,
  connections: number,
  repetitions: number
) {
  const warmUp = Math.max(10, connections)
  const parties = { service: [service.child.pid], postgres: postgres.pid, generators: [process.pid] }
  const before = readProcessors(parties)
  const { histogram, perSecond } = yield* measureReads({
    ...reader,
    uris,
    connections,
    repetitions,
    warmUp
  })
  const usage = usageBetween(before, readProcessors(parties))
  const reads = repetitions + warmUp
  return {
    histogram,
    perSecond,
    serviceMs: usage.service / reads / 1000,
    postgresMs: usage.postgres / reads / 1000,
    foreignShare: usage.foreignShare
  }
})

type ReadRound = Effect.Success<ReturnType<typeof measureOnce>>

const measure = (group: string, { name, target_ms }: ReadCase, rounds: ReadonlyArray<ReadRound>): Measurement => {
  const latencies = rounds.map(({ histogram }) => summarize(histogram))
  return {
    group,
    name,
    figures: [
      figure("p50", "ms", "lower", latencies.map(({ p50_ms }) => p50_ms)),
      figure("p99", "ms", "lower", latencies.map(({ p99_ms }) => p99_ms), target_ms),
      figure("reads", "/s", "higher", rounds.map(({ perSecond }) => perSecond)),
      figure("CPU service", "ms", "lower", rounds.map(({ serviceMs }) => serviceMs)),
      figure("CPU PostgreSQL", "ms", "lower", rounds.map(({ postgresMs }) => postgresMs)),
      figure("foreign load", "%", "neither", rounds.map(({ foreignShare }) => foreignShare * 100))
    ],
    curve: curveOf(addHistograms(rounds.map(({ histogram }) => histogram))),
    errors: {}
  }
}

/** A scenario of reads; `looksBack` adds the cost of the first filtered look at a long ledger. */
const readings = (
  { about, cases: casesOf, isStaff = false, looksBack, name: scenarioName, title }: {
    readonly name: string
    readonly title: string
    readonly about: string
    readonly cases: (shape: Shape, usual: ReadonlyArray<number>) => ReadonlyArray<ReadCase>
    readonly looksBack: boolean
    /** Staff with a token ask, not an operator with a key. */
    readonly isStaff?: boolean
  }
) =>
  scenario({
    name: scenarioName,
    title,
    about,
    flags: {
      ...Flags.dataset(10_000_000),
      connections: Flags.counts("connections", "connections of the closed loop, one measurement each", [1, 8], 256),
      rounds: Flags.rounds(3),
      repetitions: Flags.count(
        "repetitions",
        "answers measured per read, number of connections and round",
        100_000
      ).pipe(Flag.withDefault(100)),
      maxForeignLoad: Flags.maxForeignLoad,
      verify: Flags.switchOf("verify", "prove the ledger at the end")
    },
    plan: ({ entries, folder, repetitions, rounds, verify }) => [
      `${scenarioName}: ${rounds} rounds, the data first where there are none`,
      10 + (folder === undefined ? entries / 30_000 : 0) + rounds * repetitions * (looksBack ? 0.5 : 0.1) +
      (verify ? entries / 40_000 : 0)
    ],
    measure: Effect.fnUntraced(function*(options) {
      const dataset = yield* openDataset(options)
      const { database, environment, key, made, operatorId, postgres, shape } = dataset
      const server = yield* describeServer(postgres)
      const service = yield* startService(environment)
      const reader = isStaff
        ? {
          origin: `http://${service.host}:${service.backofficePort}`,
          headersOf: () => ({ authorization: `Bearer ${environment["BACKOFFICE_TOKEN"] ?? ""}` })
        }
        : { origin: `http://${service.host}:${service.port}`, headersOf: signedBy(key) }
      const usual = (yield* postgres.query(
        database,
        `SELECT player_id::float8 AS id FROM accounts WHERE operator_id = $1 AND entry_seq BETWEEN 3 AND 40
        ORDER BY hashint8(player_id) LIMIT ${usualPlayers}`,
        [operatorId]
      )).map((row) => Number(row["id"]))
      const cases = casesOf(shape, usual)
      const number = (value: number) => value.toLocaleString("en-US")

      const extra: Array<string> = []
      const heavyFiltered = looksBack ? cases.find(({ name }) => name.includes("type=casino_bet")) : undefined
      if (heavyFiltered !== undefined) {
        const { histogram } = yield* measureReads({
          ...reader,
          uris: heavyFiltered.uris,
          connections: 1,
          repetitions: 1,
          warmUp: 0
        })
        extra.push(
          `The first filtered look at a ledger of ${number(heavyPlayer(shape).entries)} entries took ` +
            `${summarize(histogram).max_ms.toFixed(0)} ms.`
        )
      }

      const all: Array<ReadRound & { readonly of: ReadCase; readonly connections: number }> = []
      for (const round of roundNumbers(options.rounds)) {
        for (const connections of options.connections) {
          const label = `round ${round}/${options.rounds}  ${connections} connections`
          for (const [index, each] of cases.entries()) {
            showProgress(`${label}  ${index + 1}/${cases.length} ${each.name}`)
            const { last } = yield* undisturbed(
              options.maxForeignLoad / 100,
              () => measureOnce(reader, service, dataset, each, connections, options.repetitions)
            )
            all.push({ ...last, of: each, connections })
          }
          endProgress()
          yield* Console.log(`${label}  ${cases.length} reads done`)
        }
      }
      const measurements = options.connections.flatMap((connections) =>
        cases.map((each) =>
          measure(
            connections === 1 ? "one connection" : `${connections} connections`,
            each,
            all.filter((round) => round.of === each && round.connections === connections)
          )
        )
      )

      if (options.verify) {
        showProgress("proving the ledger")
        const proving = performance.now()
        const { entries, violations } = yield* service.verify()
        endProgress()
        for (const found of violations.slice(0, 20)) yield* Console.log(`violation: ${JSON.stringify(found)}`)
        extra.push(
          `ledger verify: ${number(entries)} entries in ${((performance.now() - proving) / 1000).toFixed(0)} s, ` +
            `${violations.length} violations.`
        )
      }
      const judged = measurements.flatMap(({ figures, group, name }) =>
        figures.filter(({ limit }) => limit !== undefined).map((found) => ({ found, label: `${name}, ${group}` }))
      )
      const missed = judged.filter(({ found }) => meetsLimit(found) === false)
      for (const { found, label } of missed) {
        yield* Console.log(
          `missed: ${label}: ${formatFigure(found)} ms, target ${formatValue("ms", found.limit ?? 0)} ms`
        )
      }
      return {
        ...server,
        method: [
          `A casino of ${number(made.players)} players, ${number(made.entries)} ledger entries and ${days} days, ` +
          `${number(Math.round(made.bytes / 2 ** 20))} MiB.`,
          `Requests in a closed loop, ${options.rounds} rounds of ${options.repetitions} answers each; a target is met by p99.`,
          ...extra
        ],
        headlines: [
          { value: `${judged.length - missed.length} of ${judged.length}`, label: "targets met by p99" },
          ...measurements.slice(-1).flatMap(({ figures: [first], group, name }) =>
            headlineOf(first, `${name}, median, ${group}`)
          )
        ],
        measurements
      }
    })
  })

/** Everything that operators read. A missed target is reported and does not fail the run: on another machine it may be met. */
export const readScenario = readings({
  name: "reads",
  title: "Reads: what operators look up among millions of rows",
  about: "How fast operators' reads are among millions of players and ledger entries",
  cases: (shape, usual) => [...readCases(shape, usual), ...reportCases(shape)],
  looksBack: true
})

export const reportScenario = readings({
  name: "reports",
  title: "Reports: GGR over a day, a month and a year",
  about: "The GGR report over a day, a month and a year, of a generated casino",
  cases: reportCases,
  looksBack: false
})

export const staffReadScenario = readings({
  name: "staff-reads",
  title: "Staff reads: what the pages of the back office ask for among millions of rows",
  about: "How fast the staff API answers the pages of the back office among millions of players and ledger entries",
  cases: staffCases,
  isStaff: true,
  looksBack: false
})
