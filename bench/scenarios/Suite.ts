import { Console, Effect } from "effect"
import type { BenchError } from "../BenchError.ts"
import { mixedOperations } from "../load/MixedTraffic.ts"
import { type Result, writeReport } from "../report/Result.ts"
import { renderPage } from "../report/TextReport.ts"
import { bestBaselines } from "../targets/Baseline.ts"
import { apiScenario, endpoints } from "./Api.ts"
import { coldStartScenario } from "./ColdStart.ts"
import { engineScenario, storeNames } from "./Engine.ts"
import { growthScenario } from "./Growth.ts"
import { memoryScenario } from "./Memory.ts"
import { mixedScenario } from "./Mixed.ts"
import { overloadScenario } from "./Overload.ts"
import { readScenario } from "./Reads.ts"
import { type MeasuredAlike, mixNames, traffics, trafficScenarios } from "./Traffic.ts"
import { webhookScenario } from "./Webhooks.ts"

/** How much of everything there is. */
export interface SuiteSize {
  readonly rounds: number
  readonly seconds: number
  readonly warmUpSeconds: number
  /** Players of the mix `many`. */
  readonly players: number
  readonly registered: number
  readonly connections: number
  /** The generated casino. */
  readonly dataset: { readonly players: number; readonly entries: number; readonly folder: string | undefined }
  readonly webhookEvents: number
  readonly overloadConnections: number
  readonly repetitions: number
  readonly api: boolean
  readonly reads: boolean
  readonly growth: boolean
  readonly memory: boolean
  /** Percent of the processors. */
  readonly maxForeignLoad: number
}

/** About eight minutes on two cores: for an overview, too short for small differences. */
export const short: SuiteSize = {
  rounds: 3,
  seconds: 2,
  warmUpSeconds: 1,
  players: 400,
  registered: 400,
  connections: 128,
  dataset: { players: 20_000, entries: 200_000, folder: undefined },
  webhookEvents: 50,
  overloadConnections: 1000,
  repetitions: 20,
  api: false,
  reads: false,
  growth: false,
  memory: false,
  maxForeignLoad: 100
}

/** About an hour: everything, with rounds enough for comparisons, on a casino of a million players. */
export const long: SuiteSize = {
  rounds: 5,
  seconds: 5,
  warmUpSeconds: 3,
  players: 10_000,
  registered: 100_000,
  connections: 256,
  dataset: { players: 1_000_000, entries: 20_000_000, folder: undefined },
  webhookEvents: 200,
  overloadConnections: 2000,
  repetitions: 100,
  api: true,
  reads: true,
  growth: true,
  memory: true,
  maxForeignLoad: 10
}

const scenariosOf = (size: SuiteSize): ReadonlyArray<Effect.Effect<Result, BenchError>> => {
  const { connections, dataset, maxForeignLoad, players, registered, rounds, seconds, warmUpSeconds } = size
  const time = { rounds, seconds, warmUpSeconds, maxForeignLoad }
  const traffic = (kind: MeasuredAlike, mixes: ReadonlyArray<(typeof mixNames)[number]> = ["many"]) =>
    trafficScenarios[kind].run({
      ...time,
      targets: traffics[kind].targets,
      mixes,
      connections,
      ratePerSecond: null,
      players,
      registered,
      generators: 1,
      shares: size === short ? [] : traffics[kind].shares,
      pools: {
        baseline: bestBaselines.baseline.poolSize,
        "one-statement": bestBaselines["one-statement"].poolSize
      },
      cpuProfile: false,
      before: undefined
    })
  return [
    traffic("bet", mixNames),
    traffic("bet-win"),
    traffic("session"),
    traffic("deposit"),
    traffic("play"),
    mixedScenario.run({
      ...time,
      players,
      registered,
      connections,
      generators: 1,
      operations: mixedOperations,
      cpuProfile: false
    }),
    ...(size.api
      ? [apiScenario.run({
        ...time,
        rounds: 3,
        seconds: 2,
        warmUpSeconds: 8,
        players: 2000,
        registered,
        connections: 64,
        cpuProfile: false,
        endpoints
      })]
      : []),
    engineScenario.run({ ...time, stores: storeNames, callers: 256, players }),
    webhookScenario.run({ endpoints: 50, hanging: 1, events: size.webhookEvents, rounds, maxForeignLoad }),
    overloadScenario.run({
      players,
      connections: size.overloadConnections,
      rounds: Math.min(3, rounds),
      seconds,
      factor: 3,
      patienceMs: 1000,
      maxForeignLoad
    }),
    ...(size.memory ? [memoryScenario.run({ players: 100_000, bets: 16 })] : []),
    coldStartScenario.run({
      ...dataset,
      bettors: Math.min(400, players),
      rounds,
      connections: 64,
      seconds,
      secondsAfter: 6
    }),
    ...(size.reads
      ? [readScenario.run({
        ...dataset,
        connections: [1, 8],
        rounds: 3,
        repetitions: size.repetitions,
        maxForeignLoad,
        verify: false
      })]
      : []),
    ...(size.growth ? [growthScenario.run({ ...dataset, ...time, bettors: players, connections })] : [])
  ]
}

/** Runs all scenarios in order and writes one page. A failure stops the suite, as its figures would be unreliable. */
export const runSuite = Effect.fn("runSuite")(function*(size: SuiteSize) {
  const startedAt = new Date().toISOString()
  const scenarios = scenariosOf(size)
  const results: Array<Result> = []
  for (const [index, scenario] of scenarios.entries()) {
    yield* Console.log(`\n── ${index + 1} of ${scenarios.length} ──`)
    results.push(yield* scenario)
  }
  const path = yield* writeReport(startedAt, "suite.md", renderPage(results))
  yield* Console.log(`\n${results.length} scenarios. The page with all of them: ${path}`)
  return results
})
