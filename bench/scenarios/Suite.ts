import { Console, Effect } from "effect"
import type { BenchError } from "../BenchError.ts"
import { mixedOperations } from "../load/MixedTraffic.ts"
import { type Result, writeReport } from "../report/Result.ts"
import { renderPage } from "../report/TextReport.ts"
import { bestBaselines } from "../targets/Baseline.ts"
import { formNames } from "../targets/Forms.ts"
import { apiScenario, endpoints } from "./Api.ts"
import { coldStartScenario } from "./ColdStart.ts"
import { engineScenario, storeNames } from "./Engine.ts"
import { growthScenario } from "./Growth.ts"
import { memoryScenario } from "./Memory.ts"
import { mixedScenario } from "./Mixed.ts"
import { caseNames } from "./NeighbourCases.ts"
import { neighbourScenario } from "./Neighbours.ts"
import { overloadScenario } from "./Overload.ts"
import { pageScenario } from "./Pages.ts"
import { readScenario } from "./Reads.ts"
import { recoveryScenario, victims } from "./Recovery.ts"
import { type MeasuredAlike, mixNames, traffics, trafficScenarios } from "./Traffic.ts"
import { verificationScenario } from "./Verification.ts"
import { waitScenario } from "./Waits.ts"
import { webhookScenario } from "./Webhooks.ts"

/** How much of everything there is. */
export interface SuiteSize {
  /** Names of the scenarios that run. */
  readonly only: ReadonlyArray<string>
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
  /** Whether bets are measured in open loops, too. */
  readonly openLoops: boolean
  /** Bets per second beside something. */
  readonly rate: number
  /** Percent of the processors. */
  readonly maxForeignLoad: number
}

const shortNames = [
  "bets",
  "bet-win",
  "session",
  "deposits",
  "originals",
  "mixed",
  "engine",
  "webhooks",
  "overload",
  "coldstart"
]

/** About eight minutes on two cores: for an overview, too short for small differences. */
export const short: SuiteSize = {
  only: shortNames,
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
  openLoops: false,
  rate: 300,
  maxForeignLoad: 100
}

/** About an hour: everything, with rounds enough for comparisons, on a casino of a million players. */
export const long: SuiteSize = {
  only: [...shortNames, "api", "memory", "reads", "growth", "pages", "waits"],
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
  openLoops: true,
  rate: 2000,
  maxForeignLoad: 10
}

/** A round of everything that the project promises a figure of, on a casino of ten million entries. */
export const promised: SuiteSize = {
  ...long,
  only: ["bets", "mixed", "neighbours", "recovery", "verification", "pages", "waits"],
  rounds: 1,
  dataset: { ...long.dataset, entries: 10_000_000 }
}

/** A scenario with its options. */
interface Planned {
  readonly name: string
  /** Approximate duration. */
  readonly seconds: number
  /** Whether it runs on the generated casino. */
  readonly onDataset: boolean
  readonly run: Effect.Effect<Result, BenchError>
}

const planned = <Options extends object>(
  { name, plan, run }: {
    readonly name: string
    readonly plan: (options: Options) => readonly [what: string, seconds: number]
    readonly run: (options: Options) => Effect.Effect<Result, BenchError>
  },
  options: NoInfer<Options>
): Planned => ({ name, seconds: plan(options)[1], onDataset: "entries" in options, run: run(options) })

const everything = (size: Omit<SuiteSize, "only">): ReadonlyArray<Planned> => {
  const { connections, dataset, maxForeignLoad, players, rate, registered, rounds, seconds, warmUpSeconds } = size
  const time = { rounds, seconds, warmUpSeconds, maxForeignLoad }
  const load = { ...time, players, registered, connections, generators: 1, cpuProfile: false }
  const traffic = (kind: MeasuredAlike, mixes: ReadonlyArray<(typeof mixNames)[number]> = ["many"]) =>
    planned(trafficScenarios[kind], {
      ...load,
      targets: traffics[kind].targets,
      mixes,
      ratePerSecond: null,
      shares: size.openLoops ? traffics[kind].shares : [],
      pools: {
        baseline: bestBaselines.baseline.poolSize,
        "one-statement": bestBaselines["one-statement"].poolSize
      },
      before: undefined
    })
  return [
    traffic("bet", mixNames),
    traffic("bet-win"),
    traffic("session"),
    traffic("deposit"),
    traffic("play"),
    planned(mixedScenario, { ...load, operations: mixedOperations }),
    planned(apiScenario, {
      ...load,
      rounds: Math.min(3, rounds),
      seconds: 2,
      warmUpSeconds: 8,
      players: 2000,
      connections: 64,
      endpoints
    }),
    planned(engineScenario, { ...time, stores: storeNames, callers: 256, players }),
    planned(webhookScenario, { endpoints: 50, hanging: 1, events: size.webhookEvents, rounds, maxForeignLoad }),
    planned(overloadScenario, {
      players,
      connections: size.overloadConnections,
      rounds: Math.min(3, rounds),
      seconds,
      factor: 3,
      patienceMs: 1000,
      maxForeignLoad
    }),
    planned(neighbourScenario, {
      players: Math.min(1000, players),
      others: 1000,
      registered,
      connections: 64,
      ratePerSecond: rate,
      rounds,
      seconds,
      cases: caseNames,
      readers: 10,
      retries: 1000,
      resting: registered,
      restSeconds: 125,
      cpuProfile: false
    }),
    planned(recoveryScenario, {
      players,
      connections: 128,
      rounds,
      seconds: 12 * seconds,
      secondsAfter: 15,
      forms: formNames,
      victims,
      nodes: 3,
      settings: ""
    }),
    planned(memoryScenario, { players: 100_000, bets: 16 }),
    planned(coldStartScenario, {
      ...dataset,
      bettors: Math.min(400, players),
      rounds,
      connections: 64,
      seconds,
      secondsAfter: 6
    }),
    planned(readScenario, {
      ...dataset,
      connections: [1, 8],
      rounds: Math.min(3, rounds),
      repetitions: size.repetitions,
      maxForeignLoad,
      verify: false
    }),
    planned(growthScenario, { ...dataset, ...time, bettors: players, connections }),
    planned(verificationScenario, {
      ...dataset,
      bettors: Math.min(2000, players),
      connections: 64,
      rate: rate / 4,
      seconds,
      bets: 20 * rate
    }),
    planned(pageScenario, { ...dataset, rounds }),
    planned(waitScenario, { rounds, what: ["first", "start", "player"] }),
    planned(waitScenario, { rounds: 1, what: ["test"] })
  ]
}

export const scenarioNames = [...new Set(everything(long).map(({ name }) => name))]

/** Those that belong to a suite of this size. */
export const scenariosOf = (size: SuiteSize): ReadonlyArray<Planned> =>
  everything(size).filter(({ name }) => size.only.includes(name))

/** Runs all scenarios in order and writes one page. A failure stops the suite, as its figures would be unreliable. */
export const runSuite = Effect.fn("runSuite")(function*(size: SuiteSize) {
  const startedAt = new Date().toISOString()
  const scenarios = scenariosOf(size)
  const results: Array<Result> = []
  for (const [index, { run }] of scenarios.entries()) {
    yield* Console.log(`\n── ${index + 1} of ${scenarios.length} ──`)
    results.push(yield* run)
  }
  const path = yield* writeReport(startedAt, "suite.md", renderPage(results))
  yield* Console.log(`\n${results.length} scenarios. The page with all of them: ${path}`)
  return results
})
