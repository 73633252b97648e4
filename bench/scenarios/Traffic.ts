import { Console, Effect, Schema, type Scope } from "effect"
import { Flag } from "effect/cli"
import { BenchError } from "../BenchError.ts"
import * as Flags from "../Flags.ts"
import { startGenerator } from "../load/Generator.ts"
import type { TrafficKind } from "../load/Job.ts"
import { type RoundContext, type RoundResult, steadily } from "../load/Round.ts"
import { Books } from "../report/Balances.ts"
import { headlineOf } from "../report/Format.ts"
import { renderProfile, summarizeProfile } from "../report/Profile.ts"
import { endProgress, showProgress } from "../report/Progress.ts"
import { type Headline, type Measurement, writeReport } from "../report/Result.ts"
import { measureTraffic, type TrafficRound } from "../report/TrafficReport.ts"
import { type BaselineOptions, bestBaseline, startBaseline } from "../targets/Baseline.ts"
import { startCeiling } from "../targets/Ceiling.ts"
import { type PlayerNeeds, startPitboss } from "../targets/Pitboss.ts"
import { type Postgres, startPostgres } from "../targets/Postgres.ts"
import type { Profiler } from "../targets/Profiler.ts"
import { baselineStyles } from "../targets/servers/BaselineBets.ts"
import type { Provisioning, Target, TargetName } from "../targets/Target.ts"
import { audit, checkedRound, loadOf, roundNumbers } from "./Rounds.ts"
import { describeServer, scenario } from "./Scenario.ts"

export const mixNames = ["many", "ten", "one"] as const
type MixName = (typeof mixNames)[number]

/** What a kind of traffic is called, what it needs, and who else can serve it. */
interface TrafficDefinition {
  readonly name: string
  readonly title: string
  /** What is counted. */
  readonly noun: string
  readonly needs: PlayerNeeds
  readonly targets: ReadonlyArray<TargetName>
}

/** Every kind of traffic that is measured alike. */
export const traffics: Readonly<Record<TrafficKind, TrafficDefinition>> = {
  bet: {
    name: "bets",
    title: "Bets: signed, durable stakes over REST",
    noun: "bets",
    needs: {},
    targets: ["pitboss", "baseline", "ceiling"]
  },
  "bet-win": {
    name: "bet-win",
    title: "Bet and win: a stake and its win in one call and one commit",
    noun: "rounds",
    needs: {},
    targets: ["pitboss", "ceiling"]
  },
  session: {
    name: "session",
    title: "Sessions: authenticate, three bets with wins and rollbacks, balance",
    noun: "calls",
    needs: { refs: true },
    targets: ["pitboss", "ceiling"]
  },
  deposit: {
    name: "deposits",
    title: "Deposits: payments recorded by operators, each with its webhook event",
    noun: "deposits",
    needs: {},
    targets: ["pitboss"]
  },
  play: {
    name: "originals",
    title: "Originals: rounds of the platform's own games, bet and outcome in one commit",
    noun: "plays",
    needs: { bearers: true },
    targets: ["pitboss"]
  }
}

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
  options: {
    readonly players: number
    readonly baseline: BaselineOptions
    readonly cpuProfile: boolean
  }
): Effect.Effect<Started, BenchError, Scope.Scope> => {
  const provisioning: Provisioning = { players: options.players, currency: "EUR", openingBalance }
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

const profileRound = Effect.fnUntraced(function*(
  profiler: Profiler,
  kind: TrafficKind,
  mix: MixName,
  run: (hooks: Pick<RoundContext, "measuring" | "measured">) => Effect.Effect<RoundResult, BenchError>
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

const headlinesOf = (measurements: ReadonlyArray<Measurement>, noun: string): ReadonlyArray<Headline> =>
  measurements.filter(({ name }) => name === "pitboss").flatMap(({ figures, group }) => {
    const of = (wanted: string) => figures.find(({ name }) => name === wanted)
    return [
      ...headlineOf(of(noun), `${noun}, ${group}`),
      ...headlineOf(of("× baseline"), `the throughput of one transaction per bet, ${group}`)
    ]
  })

/**
 * One kind of traffic against the service and who else can serve it, in alternating rounds. Fails when a balance or a ledger is not
 * what the acknowledged requests make it.
 */
const trafficScenario = (kind: TrafficKind) => {
  const { name, needs, noun, targets: servedBy, title } = traffics[kind]
  return scenario({
    name,
    title,
    about: title,
    flags: {
      ...Flags.someLoad,
      connections: Flags.connections(128),
      targets: Flags.choice("targets", servedBy, "what to measure"),
      mixes: Flags.choice("mix", mixNames, "whose requests: many players, ten hot ones, one hot one"),
      ratePerSecond: Flag.Finite("rate").pipe(
        Flag.withSchema(Schema.Finite.check(Schema.isBetween({ minimum: 1, maximum: 1_000_000 }))),
        Flag.withDescription("requests per second of an open loop; without it, the closed loop"),
        Flag.map((rate): number | null => rate),
        Flag.withDefault(null)
      ),
      cpuProfile: Flags.switchOf(
        "cpu-prof",
        "profile the service in the measured seconds and print where its time goes"
      ),
      baseline: {
        style: Flag.Literals("baseline-style", baselineStyles).pipe(
          Flag.withDescription("how the baseline talks to PostgreSQL"),
          Flag.withDefault(bestBaseline.style)
        ),
        poolSize: Flags.count("baseline-pool", "the baseline's connections to PostgreSQL", 90).pipe(
          Flag.withDefault(bestBaseline.poolSize)
        )
      }
    },
    plan: ({ mixes, players, rounds, seconds, targets, warmUpSeconds }) => {
      const count = rounds * mixes.length * targets.length
      return [
        `${name}: ${count} rounds of ${warmUpSeconds} + ${seconds} s`,
        10 + targets.length * players / 200 + count * (warmUpSeconds + seconds + 0.7)
      ]
    },
    measure: Effect.fnUntraced(function*(options) {
      const postgres = yield* startPostgres()
      const server = yield* describeServer(postgres)
      const started = yield* Effect.forEach(options.targets, (target) => {
        showProgress(`starting ${target} with ${options.players} players`)
        return startTarget(target, postgres, needs, options)
      })
      const generator = yield* startGenerator(options.generators)
      const contexts = started.map(({ profiler, target }) => ({
        profiler,
        context: { target, postgres, generator, books: new Books(options.players) }
      }))
      const rounds: Array<TrafficRound> = []
      // The targets alternate, so that whatever changes on the machine meanwhile meets all of them.
      for (const round of roundNumbers(options.rounds)) {
        for (const mix of options.mixes) {
          for (const { context, profiler } of contexts) {
            const target = context.target.name
            const players = mixSize(mix, options.players)
            const run = (hooks: Pick<RoundContext, "measuring" | "measured">) =>
              checkedRound(
                { ...context, ...hooks },
                `round ${round}/${options.rounds}  ${mix.padEnd(4)}  ${target.padEnd(8)}`,
                { players, idPrefix: `${round}${mix}`, seed: round },
                {
                  kind,
                  connections: options.connections,
                  phases: steadily(options.ratePerSecond, options),
                  ...loadOf(options)
                }
              )
            const result = yield* profiler === undefined ? run({}) : profileRound(profiler, kind, mix, run)
            rounds.push({ round, group: groupName(mix, options.players), target, result })
          }
        }
      }
      yield* audit(started.map(({ target }) => target))
      const measurements = measureTraffic(rounds, noun)
      const { baseline, connections, ratePerSecond } = options
      return {
        ...server,
        method: [
          ratePerSecond === null
            ? `Closed loop: each of ${connections} connections sends when it is answered.`
            : `Open loop at ${ratePerSecond} per second over ${connections} connections, latency from the moment a request was due.`,
          `${options.rounds} rounds of ${options.seconds} s after ${options.warmUpSeconds} s of warm-up, targets in turn; every ` +
          "balance checked after every round, the ledgers proved at the end.",
          ...(options.targets.includes("baseline")
            ? [
              `The baseline is Fastify with node-postgres, one transaction per bet (${baseline.style}, pool of ${baseline.poolSize}).`
            ]
            : []),
          ...(options.targets.includes("ceiling") ? ["The ceiling is bare node:http that stores nothing."] : []),
          ...(options.cpuProfile ? ["The service was profiled meanwhile, which slows it down."] : [])
        ],
        headlines: headlinesOf(measurements, noun),
        measurements
      }
    })
  })
}

export const trafficScenarios = {
  bet: trafficScenario("bet"),
  "bet-win": trafficScenario("bet-win"),
  session: trafficScenario("session"),
  deposit: trafficScenario("deposit"),
  play: trafficScenario("play")
} satisfies Readonly<Record<TrafficKind, unknown>>
