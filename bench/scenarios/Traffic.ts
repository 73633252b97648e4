import { Effect, type Scope } from "effect"
import { Flag } from "effect/cli"
import type { Histogram } from "hdr-histogram-js"
import type { BenchError } from "../BenchError.ts"
import * as Flags from "../Flags.ts"
import { startGenerator } from "../load/Generator.ts"
import { measureCommits } from "../load/Commits.ts"
import type { TrafficKind } from "../load/Job.ts"
import { summarize } from "../load/Latency.ts"
import { type RoundContext, steadily } from "../load/Round.ts"
import { Books } from "../report/Balances.ts"
import { measureBeforeAndAfter } from "../report/BeforeAndAfter.ts"
import { headlineOf } from "../report/Format.ts"
import { showProgress } from "../report/Progress.ts"
import { curveOf, type Headline, type Measurement } from "../report/Result.ts"
import { addHistograms, type Bars, latencyFigures, measureTraffic, type TrafficRound } from "../report/TrafficReport.ts"
import { bestBaselines, startBaseline } from "../targets/Baseline.ts"
import { startCeiling } from "../targets/Ceiling.ts"
import type { PlayerNeeds } from "../targets/Pitboss.ts"
import { type Postgres, startPostgres } from "../targets/Postgres.ts"
import type { Profiler } from "../targets/Profiler.ts"
import type { Provisioning, Target, TargetName } from "../targets/Target.ts"
import { describeBefore, startCheckout } from "./Checkouts.ts"
import { audit, checkedRound, describeLoop, inTurn, loadOf, profileRound, roundNumbers } from "./Rounds.ts"
import { describeServer, scenario } from "./Scenario.ts"

/** Commits that are timed before each round. */
const commitsPerRound = 300

export const mixNames = ["many", "ten", "one"] as const
type MixName = (typeof mixNames)[number]

/** Name of a kind of traffic, its requirements, and its other targets. */
interface TrafficDefinition {
  readonly name: string
  readonly title: string
  /** Noun of the counted unit. */
  readonly noun: string
  readonly needs: PlayerNeeds
  readonly targets: ReadonlyArray<TargetName>
  /** At which hundredths of its own peak each target is measured in an open loop besides. */
  readonly shares: ReadonlyArray<number>
}

/** The kinds of traffic that are measured alike. */
const measuredAlike = ["bet", "bet-win", "session", "deposit", "play"] as const satisfies ReadonlyArray<TrafficKind>
export type MeasuredAlike = (typeof measuredAlike)[number]

export const traffics: Readonly<Record<MeasuredAlike, TrafficDefinition>> = {
  bet: {
    name: "bets",
    title: "Bets: signed, durable stakes over REST",
    noun: "bets",
    needs: {},
    targets: ["pitboss", "baseline", "one-statement", "ceiling"],
    shares: [50, 10]
  },
  "bet-win": {
    name: "bet-win",
    title: "Bet and win: a stake and its win in one call and one commit",
    noun: "rounds",
    needs: {},
    targets: ["pitboss", "ceiling"],
    shares: []
  },
  session: {
    name: "session",
    title: "Sessions: authenticate, three bets with wins and rollbacks, balance",
    noun: "calls",
    needs: { refs: true },
    targets: ["pitboss", "ceiling"],
    shares: []
  },
  deposit: {
    name: "deposits",
    title: "Deposits: payments recorded by operators, each with its webhook event",
    noun: "deposits",
    needs: {},
    targets: ["pitboss"],
    shares: []
  },
  play: {
    name: "originals",
    title: "Originals: rounds of the platform's own games, bet and outcome in one commit",
    noun: "plays",
    needs: { bearers: true },
    targets: ["pitboss"],
    shares: []
  }
}

const openGroup = (group: string, share: number): string =>
  `${group}, open loop at ${share === 50 ? "half" : share === 10 ? "a tenth" : `${share} %`} of its own peak`

/** Service and baseline at one rate, which both carry. */
const sameRateGroup = (group: string): string => `${group}, open loop at half of the baseline's peak`

const sameRateTargets: ReadonlyArray<string> = ["pitboss", "before", "baseline"]

const hasSameRate = (
  { shares, targets }: { readonly shares: ReadonlyArray<number>; readonly targets: ReadonlyArray<TargetName> }
): boolean => shares.length > 0 && targets.includes("baseline")

/** Required figures of bets of many players, relative to the same run: docs/benchmarks.md. */
const barsOfBets = (many: string): Bars => (group, target, name) => {
  if (target !== "pitboss") return undefined
  if (group === many) return { "× baseline": 5, "× one-statement": 2.2, "× ceiling": 0.42 }[name]
  if (group === openGroup(many, 50)) return name === "p99 ÷ baseline" ? 1.2 : undefined
  if (group === openGroup(many, 10)) return name === "p50 ÷ one commit" ? 1.3 : undefined
  if (group === sameRateGroup(many)) return { "p50 ÷ baseline": 1, "p99 ÷ baseline": 0.6 }[name]
  return name === `× ${many}` ? group === groupName("ten", 10) ? 0.9 : 1 : undefined
}

/** Enough for a hundred million stakes of one player. */
const openingBalance = 1_000_000_000

/** How many of the players take part in a mix. */
const mixSize = (mix: MixName, players: number): number =>
  mix === "many" ? players : Math.min(players, mix === "ten" ? 10 : 1)

const groupName = (mix: MixName, players: number): string =>
  mix === "many" ? `${players.toLocaleString("en-US")} players` : mix === "ten" ? "ten hot players" : "one hot player"

const targetsOf = (
  { before, targets }: { readonly before: string | undefined; readonly targets: ReadonlyArray<TargetName> }
): ReadonlyArray<TargetName | "before"> => before === undefined ? targets : [...targets, "before"]

interface Started {
  readonly target: Target
  readonly profiler: Profiler | undefined
}

const startTarget = (
  name: TargetName | "before",
  postgres: Postgres,
  needs: PlayerNeeds,
  options: {
    readonly players: number
    readonly registered: number
    readonly pools: Readonly<Record<keyof typeof bestBaselines, number>>
    readonly cpuProfile: boolean
    readonly before: string | undefined
  }
): Effect.Effect<Started, BenchError, Scope.Scope> => {
  const provisioning: Provisioning = {
    players: options.players,
    registered: options.registered,
    currency: "EUR",
    openingBalance
  }
  if (name === "pitboss" || name === "before") {
    return Effect.map(
      startCheckout(name, postgres, provisioning, options.before, { needs, profiled: options.cpuProfile }),
      (target) => ({ target, profiler: target.profiler })
    )
  }
  const started = name === "ceiling"
    ? startCeiling(provisioning)
    : startBaseline(postgres, provisioning, { ...bestBaselines[name], poolSize: options.pools[name] })
  return Effect.map(started, (target) => ({ target, profiler: undefined }))
}

const headlinesOf = (measurements: ReadonlyArray<Measurement>, noun: string): ReadonlyArray<Headline> =>
  measurements.filter(({ name }) => name === "pitboss").flatMap(({ figures, group }) => {
    const of = (wanted: string) => figures.find(({ name }) => name === wanted)
    const p50 = of("p50 ÷ one commit")
    if (p50 !== undefined) return headlineOf(of("p99 ÷ baseline"), `the baseline's p99, ${group}`)
    return [
      ...headlineOf(of(noun), `${noun}, ${group}`),
      ...headlineOf(of("× baseline"), `the throughput of one transaction per bet, ${group}`),
      ...headlineOf(of("× one-statement"), `the throughput of one statement per bet, ${group}`)
    ]
  })

/**
 * One kind of traffic against the service and its other targets, in alternating rounds. Fails when a balance or a ledger disagrees with
 * the acknowledged requests.
 */
const trafficScenario = (kind: MeasuredAlike) => {
  const { name, needs, noun, shares: standardShares, targets: servedBy, title } = traffics[kind]
  return scenario({
    name,
    title,
    about: title,
    flags: {
      ...Flags.someLoad,
      registered: Flags.registered,
      connections: Flags.connections(256),
      targets: Flags.choice("targets", servedBy, "what to measure"),
      mixes: Flags.choice("mix", mixNames, "whose requests: many players, ten hot ones, one hot one"),
      ratePerSecond: Flags.ratePerSecond,
      cpuProfile: Flags.cpuProfile,
      before: Flags.before,
      shares: Flags.shares(
        "open-loop",
        "the mix `many` besides in an open loop at so many hundredths of each target's own peak; `none`: not",
        standardShares
      ),
      pools: {
        baseline: Flags.count("baseline-pool", "the baseline's connections to PostgreSQL", 90).pipe(
          Flag.withDefault(bestBaselines.baseline.poolSize)
        ),
        "one-statement": Flags.count("one-statement-pool", "the same in one statement per bet", 90).pipe(
          Flag.withDefault(bestBaselines["one-statement"].poolSize)
        )
      }
    },
    plan: ({ before, mixes, players, rounds, seconds, shares, targets, warmUpSeconds }) => {
      const count = rounds * targetsOf({ before, targets }).length *
          (mixes.length + (mixes.includes("many") ? shares.length : 0)) +
        (mixes.includes("many") && hasSameRate({ shares, targets }) ? 2 * rounds : 0)
      return [
        `${name}: ${count} rounds of ${warmUpSeconds} + ${seconds} s`,
        10 + targetsOf({ before, targets }).length * players / 200 + count * (warmUpSeconds + seconds + 0.7)
      ]
    },
    measure: Effect.fnUntraced(function*(options) {
      const postgres = yield* startPostgres()
      const server = yield* describeServer(postgres)
      const started = yield* Effect.forEach(targetsOf(options), (target) => {
        showProgress(`starting ${target} with ${options.players} players`)
        return startTarget(target, postgres, needs, options)
      })
      const generator = yield* startGenerator(options.generators)
      const contexts = started.map(({ profiler, target }) => ({
        profiler,
        context: { target, postgres, generator, books: new Books(options.players) }
      }))
      const rounds: Array<TrafficRound> = []
      const commits: Array<Histogram> = []
      const many = groupName("many", options.players)
      // The targets alternate, so that changes on the machine affect all of them.
      for (const round of roundNumbers(options.rounds)) {
        const commit = yield* measureCommits(postgres, commitsPerRound)
        commits.push(commit)
        const commit_ms = summarize(commit).p50_ms
        for (const mix of options.mixes) {
          const group = groupName(mix, options.players)
          const run = (
            context: RoundContext & { readonly books: Books },
            perSecond: number | null,
            label: string,
            hooks: Pick<RoundContext, "measuring" | "measured"> = {}
          ) =>
            checkedRound(
              { ...context, ...hooks },
              `round ${round}/${options.rounds}  ${label.padEnd(9)}  ${context.target.name.padEnd(13)}`,
              {
                players: mixSize(mix, options.players),
                idPrefix: `${round}${label.replace(/\W/g, "")}`,
                seed: round
              },
              {
                kind,
                connections: options.connections,
                phases: steadily(perSecond, options),
                ...loadOf(options)
              }
            )
          let baselinePeak: number | undefined
          for (const { context, profiler } of inTurn(round, contexts)) {
            const target = context.target.name
            const result = yield* profiler === undefined
              ? run(context, options.ratePerSecond, mix)
              : profileRound(profiler, `${kind}-${mix}`, (hooks) => run(context, options.ratePerSecond, mix, hooks))
            rounds.push({ round, group, target, result })
            if (mix !== "many" || options.ratePerSecond !== null) continue
            if (target === "baseline") baselinePeak = result.perSecond
            for (const share of options.shares) {
              const open = yield* run(context, Math.max(1, result.perSecond * share / 100), `${mix} ${share}%`)
              rounds.push({ round, group: openGroup(group, share), target, result: open, commit_ms })
            }
          }
          if (baselinePeak === undefined || !hasSameRate(options)) continue
          for (const { context } of inTurn(round, contexts)) {
            const target = context.target.name
            if (!sameRateTargets.includes(target)) continue
            const result = yield* run(context, Math.max(1, baselinePeak / 2), `${mix} same`)
            rounds.push({ round, group: sameRateGroup(group), target, result, commit_ms })
          }
        }
      }
      yield* audit(started.map(({ target }) => target))
      const compared = measureBeforeAndAfter(rounds)
      const measurements: ReadonlyArray<Measurement> = [
        ...measureTraffic(rounds, noun, kind === "bet" ? { bars: barsOfBets(many) } : {}),
        ...compared.measurements,
        {
          group: "one commit, there and back",
          name: "a row updated",
          figures: latencyFigures(commits),
          curve: curveOf(addHistograms(commits)),
          errors: {}
        }
      ]
      const { pools, ratePerSecond } = options
      return {
        ...server,
        method: [
          describeLoop(options),
          `${options.rounds} rounds of ${options.seconds} s after ${options.warmUpSeconds} s of warm-up, targets in turn; every ` +
          "balance checked after every round, the ledgers proved at the end.",
          `${options.players} players with money of ${options.registered} registered.`,
          ...(options.targets.includes("baseline")
            ? [
              `The baseline is Fastify with node-postgres, one transaction per bet (statements, pool of ${pools.baseline}); ` +
              `one-statement is the same with one stored function per bet (pool of ${pools["one-statement"]}).`
            ]
            : []),
          ...(options.shares.length > 0 && ratePerSecond === null
            ? [
              "Open loops: latency from the moment a request was due, and from sending; one commit is a single row updated over one " +
              "idle connection before each round; at half of the baseline's peak both are offered the same rate. A bar is held against the median."
            ]
            : []),
          ...describeBefore(options.before),
          ...(options.targets.includes("ceiling") ? ["The ceiling is bare node:http that stores nothing."] : []),
          ...(options.cpuProfile ? ["The service was profiled meanwhile, which slows it down."] : [])
        ],
        headlines: [...headlinesOf(measurements, noun), ...compared.headlines],
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
} satisfies Readonly<Record<MeasuredAlike, unknown>>
