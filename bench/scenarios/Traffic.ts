import { Console, Effect, type Scope } from "effect"
import { BenchError } from "../BenchError.ts"
import { type Generator, startGenerator } from "../load/Generator.ts"
import type { TrafficKind } from "../load/Job.ts"
import { loadDefaults, type LoadOptions, type RoundResult, runRound, steadily } from "../load/Round.ts"
import { summarize } from "../load/Latency.ts"
import { Books, describeMismatches, findMismatches } from "../report/Balances.ts"
import { formatErrors, formatValue, headlineOf } from "../report/Format.ts"
import { describeMachine } from "../report/Machine.ts"
import { renderProfile, summarizeProfile } from "../report/Profile.ts"
import { endProgress, showProgress } from "../report/Progress.ts"
import { type Headline, type Measurement, writeReport } from "../report/Result.ts"
import { measureTraffic, type TrafficRound } from "../report/TrafficReport.ts"
import { type BaselineOptions, startBaseline } from "../targets/Baseline.ts"
import { startCeiling } from "../targets/Ceiling.ts"
import { type PlayerNeeds, startPitboss } from "../targets/Pitboss.ts"
import { type Postgres, readSettings, startPostgres } from "../targets/Postgres.ts"
import type { Profiler } from "../targets/Profiler.ts"
import type { Provisioning, Target, TargetName } from "../targets/Target.ts"
import { announce, publish } from "./Findings.ts"

export const mixNames = ["many", "ten", "one"] as const
type MixName = (typeof mixNames)[number]

/** What a kind of traffic is called, what it needs, and who else can serve it. */
interface TrafficScenario {
  readonly scenario: string
  readonly title: string
  /** What is counted. */
  readonly noun: string
  readonly needs: PlayerNeeds
  readonly targets: ReadonlyArray<TargetName>
}

/** Every kind of traffic that is measured alike. */
export const traffics: Readonly<Record<TrafficKind, TrafficScenario>> = {
  bet: {
    scenario: "bets",
    title: "Bets: signed, durable stakes over REST",
    noun: "bets",
    needs: {},
    targets: ["pitboss", "baseline", "ceiling"]
  },
  "bet-win": {
    scenario: "bet-win",
    title: "Bet and win: a stake and its win in one call and one commit",
    noun: "rounds",
    needs: {},
    targets: ["pitboss", "ceiling"]
  },
  session: {
    scenario: "session",
    title: "Sessions: authenticate, three bets with wins and rollbacks, balance",
    noun: "calls",
    needs: { refs: true },
    targets: ["pitboss", "ceiling"]
  },
  deposit: {
    scenario: "deposits",
    title: "Deposits: payments recorded by operators, each with its webhook event",
    noun: "deposits",
    needs: {},
    targets: ["pitboss"]
  },
  play: {
    scenario: "originals",
    title: "Originals: rounds of the platform's own games, bet and outcome in one commit",
    noun: "plays",
    needs: { bearers: true },
    targets: ["pitboss"]
  }
}

export interface TrafficOptions {
  readonly targets: ReadonlyArray<TargetName>
  readonly mixes: ReadonlyArray<MixName>
  readonly rounds: number
  readonly seconds: number
  readonly warmUpSeconds: number
  readonly connections: number
  /** Requests per second of the open loop; null for the closed loop. */
  readonly ratePerSecond: number | null
  readonly players: number
  readonly generators: number
  /** Percent of the processors; see {@link LoadOptions}. */
  readonly maxForeignLoad: number
  readonly baseline: BaselineOptions
  /** Whether the service is profiled; its figures then are lower. */
  readonly cpuProfile: boolean
}

const currency = "EUR"
/** Enough for a hundred million stakes of one player. */
const openingBalance = 1_000_000_000

/** How many of the players take part in a mix. */
const mixSize = (mix: MixName, players: number): number =>
  mix === "many" ? players : Math.min(players, mix === "ten" ? 10 : 1)

const groupName = (mix: MixName, players: number): string =>
  mix === "many" ? `${players.toLocaleString("en-US")} players` : mix === "ten" ? "ten hot players" : "one hot player"

interface Started {
  readonly target: Target
  readonly profiler: Profiler | undefined
}

const startTarget = (
  name: TargetName,
  postgres: Postgres,
  needs: PlayerNeeds,
  options: TrafficOptions
): Effect.Effect<Started, BenchError, Scope.Scope> => {
  const provisioning: Provisioning = { players: options.players, currency, openingBalance }
  if (name === "pitboss") {
    return startPitboss(postgres, provisioning, showProgress, { needs, profiled: options.cpuProfile }).pipe(
      Effect.map((target) => ({ target, profiler: target.profiler }))
    )
  }
  const started = name === "baseline"
    ? startBaseline(postgres, provisioning, options.baseline)
    : startCeiling(provisioning)
  return Effect.map(started, (target) => ({ target, profiler: undefined }))
}

/** Holds the balances of a target against all that was acknowledged so far. */
export const checkBalances = Effect.fnUntraced(function*(target: Target, players: number, books: Books) {
  if (target.balances === undefined) return
  const mismatches = findMismatches(target.openingBalances, yield* target.balances(players), {
    moved: books.moved.slice(0, players),
    leastUnknown: books.leastUnknown,
    mostUnknown: books.mostUnknown
  })
  if (mismatches.length > 0) return yield* new BenchError({ message: describeMismatches(target.name, mismatches) })
})

/** What else must hold at the end. */
export const audit = Effect.fnUntraced(function*(targets: ReadonlyArray<Target>) {
  for (const target of targets) {
    showProgress(`proving the ledger of ${target.name}`)
    const violations = yield* target.audit
    if (violations.length > 0) return yield* new BenchError({ message: violations.join("\n") })
  }
  endProgress()
})

/** One finished round in a line. */
export const renderRound = (result: RoundResult): string => {
  const { p50_ms, p99_ms } = summarize(result.latency)
  return [
    `${formatValue("/s", result.perSecond).padStart(7)}/s`,
    `p50 ${formatValue("ms", p50_ms)} ms`,
    `p99 ${formatValue("ms", p99_ms)} ms`,
    `errors ${formatErrors(result.errors) || "0"}`,
    `foreign load ${Math.round(result.foreignShare * 100)}%`
  ].join("  ")
}

const profileRound = Effect.fnUntraced(function*(
  profiler: Profiler,
  kind: TrafficKind,
  mix: MixName,
  run: (hooks: {
    readonly measuring: Effect.Effect<void>
    readonly measured: Effect.Effect<void>
  }) => Effect.Effect<RoundResult, BenchError>
) {
  let profile: Effect.Success<Profiler["end"]> | undefined
  const result = yield* run({
    measuring: Effect.ignore(profiler.begin),
    measured: profiler.end.pipe(
      Effect.tap((taken) => Effect.sync(() => (profile = taken))),
      Effect.ignore
    )
  })
  if (profile === undefined) return yield* new BenchError({ message: "the profiler gave no profile" })
  const path = yield* writeReport(new Date().toISOString(), `${kind}-${mix}.cpuprofile`, JSON.stringify(profile))
  endProgress()
  yield* Console.log(`\n${renderProfile(summarizeProfile(profile), result.processed)}\n\nwritten to ${path}\n`)
  return result
})

const runRounds = Effect.fnUntraced(function*(
  kind: TrafficKind,
  started: ReadonlyArray<Started>,
  postgres: Postgres,
  generator: Generator,
  options: TrafficOptions
) {
  const load: LoadOptions = {
    ...loadDefaults,
    kind,
    connections: options.connections,
    phases: steadily(options.ratePerSecond, options),
    warmUpSeconds: options.warmUpSeconds,
    measuredSeconds: options.seconds,
    currency,
    maxForeignShare: options.maxForeignLoad / 100
  }
  const books = new Map(started.map(({ target }) => [target.name, new Books(options.players)]))
  const rounds: Array<TrafficRound> = []
  // The targets alternate, so that whatever changes on the machine meanwhile meets all of them.
  for (let round = 1; round <= options.rounds; round++) {
    for (const mix of options.mixes) {
      for (const { profiler, target } of started) {
        const label = `round ${round}/${options.rounds}  ${mix.padEnd(4)}  ${target.name.padEnd(8)}`
        const players = mixSize(mix, options.players)
        showProgress(label)
        const run = (hooks: { readonly measuring?: Effect.Effect<void>; readonly measured?: Effect.Effect<void> }) =>
          runRound(
            { target, postgres, generator, ...hooks },
            { players, idPrefix: `${round}${mix}`, seed: round },
            load,
            (text) => showProgress(`${label}  ${text}`)
          )
        const result = yield* profiler === undefined ? run({}) : profileRound(profiler, kind, mix, run)
        const own = books.get(target.name)
        if (own !== undefined) {
          own.add(result)
          yield* checkBalances(target, players, own)
        }
        rounds.push({ round, group: groupName(mix, options.players), target: target.name, result })
        endProgress()
        yield* Console.log(`${label}  ${renderRound(result)}`)
      }
    }
  }
  return rounds
})

const headlinesOf = (measurements: ReadonlyArray<Measurement>, noun: string): ReadonlyArray<Headline> =>
  measurements.filter(({ name }) => name === "pitboss").flatMap(({ figures, group }) => {
    const of = (wanted: string) => figures.find(({ name }) => name === wanted)
    return [
      ...headlineOf(of(noun), `${noun}, ${group}`),
      ...headlineOf(of("× baseline"), `the throughput of one transaction per bet, ${group}`)
    ]
  })

/**
 * One kind of traffic against the service and who else can serve it, in alternating rounds. Prints the comparison and writes it
 * down. Fails when a balance or a ledger is not what the acknowledged requests make it.
 */
export const runTraffic = Effect.fn("runTraffic")(
  function*(kind: TrafficKind, options: TrafficOptions) {
    const startedAt = new Date()
    const { needs, noun, scenario, title } = traffics[kind]
    const rounds = options.rounds * options.mixes.length * options.targets.length
    yield* announce(
      `${scenario}: ${rounds} rounds of ${options.warmUpSeconds} + ${options.seconds} s`,
      10 + options.targets.length * options.players / 200 + rounds * (options.warmUpSeconds + options.seconds + 0.7)
    )
    const postgres = yield* startPostgres()
    const machine = describeMachine(postgres.folder)
    const settings = yield* readSettings(postgres)
    const started = yield* Effect.forEach(options.targets, (name) => {
      showProgress(`starting ${name} with ${options.players} players`)
      return startTarget(name, postgres, needs, options)
    })
    const generator = yield* startGenerator(options.generators)
    const results = yield* runRounds(kind, started, postgres, generator, options)
    yield* audit(started.map(({ target }) => target))
    const measurements = measureTraffic(results, noun)
    const loop = options.ratePerSecond === null
      ? `Closed loop: each of ${options.connections} connections sends when it is answered.`
      : `Open loop at ${options.ratePerSecond} per second over ${options.connections} connections, latency from the moment a request ` +
        "was due."
    return yield* publish({
      scenario,
      title,
      method: [
        loop,
        `${options.rounds} rounds of ${options.seconds} s after ${options.warmUpSeconds} s of warm-up, targets in turn; every ` +
        "balance checked after every round, the ledgers proved at the end.",
        ...(options.targets.includes("baseline")
          ? [
            `The baseline is Fastify with node-postgres, one transaction per bet (${options.baseline.style}, pool of ${options.baseline.poolSize}).`
          ]
          : []),
        ...(options.targets.includes("ceiling") ? ["The ceiling is bare node:http that stores nothing."] : []),
        ...(options.cpuProfile ? ["The service was profiled meanwhile, which slows it down."] : [])
      ],
      startedAt,
      machine,
      postgres: settings,
      options: { ...options, baseline: { ...options.baseline } },
      headlines: headlinesOf(measurements, noun),
      measurements
    })
  },
  Effect.scoped,
  Effect.ensuring(Effect.sync(endProgress))
)
