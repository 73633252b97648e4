import { Console, Effect, Scope } from "effect"
import { Flag } from "effect/cli"
import { BenchError } from "../BenchError.ts"
import * as Flags from "../Flags.ts"
import { BurstConnections } from "../load/Burst.ts"
import { startGenerator } from "../load/Generator.ts"
import type { Phase } from "../load/Job.ts"
import { summarize } from "../load/Latency.ts"
import { loadDefaults, makeJob, type RoundContext, type RoundResult } from "../load/Round.ts"
import { Books } from "../report/Balances.ts"
import { headlineOf } from "../report/Format.ts"
import { showProgress } from "../report/Progress.ts"
import { figure, type Measurement } from "../report/Result.ts"
import { median } from "../report/Statistics.ts"
import { latencyFigures } from "../report/TrafficReport.ts"
import { type Pitboss, startPitboss } from "../targets/Pitboss.ts"
import { type Postgres, startPostgres } from "../targets/Postgres.ts"
import type { Profiler } from "../targets/Profiler.ts"
import { type Service, startService } from "../targets/Service.ts"
import { startSink } from "../targets/Sink.ts"
import { allowedBeside, caseNames, type NeighbourCase, neighbourCases, nothing, type World } from "./NeighbourCases.ts"
import { audit, checkedRound, profileRound, roundNumbers } from "./Rounds.ts"
import { describeServer, scenario } from "./Scenario.ts"

const warmUpSeconds = 1

/** A service that can be started again at its address, behind the same target. */
const restartable = Effect.fnUntraced(function*(
  prepared: Pitboss
): Effect.fn.Return<
  { readonly target: Pitboss; readonly restart: Effect.Effect<void, BenchError> },
  never,
  Scope.Scope
> {
  const scope = yield* Effect.scope
  let current: Service = prepared.service
  const { backofficePort, port } = current
  const restart = Effect.gen(function*() {
    yield* current.child.kill
    current = yield* startService(prepared.environment, { ports: { port, backofficePort } })
  }).pipe(Effect.provideService(Scope.Scope, scope))
  return { target: { ...prepared, pid: () => current.child.pid }, restart }
})

/** p99 of the worst second, ms: the measured phases last a second each. */
const worstSecond = ({ phases }: RoundResult): number =>
  Math.max(...phases.filter(({ processed }) => processed > 0).map(({ latency }) => summarize(latency).p99_ms))

const inSeconds = (perSecond: number, seconds: number, warmUp: number): ReadonlyArray<Phase> => [
  ...(warmUp === 0 ? [] : [{ seconds: warmUp, perSecond }]),
  ...Array.from({ length: Math.ceil(seconds) }, (_, second) => ({ seconds: Math.min(1, seconds - second), perSecond }))
]

interface CaseRound {
  readonly calm: RoundResult
  readonly beside: RoundResult
}

const measureCase = (
  { allowed = allowedBeside, name, seconds }: NeighbourCase,
  rounds: ReadonlyArray<CaseRound>,
  noted: Readonly<Record<string, number>>
): Measurement => {
  const p99 = ({ latency }: RoundResult) => summarize(latency).p99_ms
  // where most of the time is calm as well, only the worst second can tell
  const held = seconds === undefined ? p99 : worstSecond
  const errors: Record<string, number> = { ...noted }
  for (const { beside } of rounds) {
    for (const [code, count] of Object.entries(beside.errors)) errors[code] = (errors[code] ?? 0) + count
  }
  return {
    group: "bets beside",
    name,
    figures: [
      figure("p99 ÷ allowed", "×", "lower", rounds.map(({ beside, calm }) => held(beside) / allowed(held(calm))), 1),
      figure("× p99 calm", "×", "lower", rounds.map(({ beside, calm }) => held(beside) / held(calm))),
      ...latencyFigures(rounds.map(({ beside }) => beside.latency)),
      figure("p99 calm", "ms", "lower", rounds.map(({ calm }) => p99(calm))),
      figure("p99 of the worst second", "ms", "lower", rounds.map(({ beside }) => worstSecond(beside))),
      figure("the same, calm", "ms", "lower", rounds.map(({ calm }) => worstSecond(calm))),
      figure("bets", "/s", "higher", rounds.map(({ beside }) => beside.perSecond)),
      figure("CPU service", "µs", "lower", rounds.map(({ beside }) => beside.serviceMicros)),
      figure("foreign load", "%", "neither", rounds.map(({ beside }) => beside.foreignShare * 100))
    ],
    errors
  }
}

const startWorld = Effect.fnUntraced(function*(
  postgres: Postgres,
  options: {
    readonly players: number
    readonly others: number
    readonly registered: number
    readonly cpuProfile: boolean
  },
  sizes: World["sizes"]
) {
  const prepared = yield* startPitboss(
    postgres,
    {
      players: options.players + options.others,
      registered: options.registered,
      currency: "EUR",
      openingBalance: 1_000_000_000
    },
    showProgress,
    { needs: { refs: true }, profiled: options.cpuProfile }
  )
  const { restart, target } = yield* restartable(prepared)
  const noted: Record<string, number> = {}
  let jobs = 0
  const world: World = {
    target,
    postgres,
    restart,
    sizes,
    connections: yield* Effect.acquireRelease(
      Effect.sync(() => new BurstConnections(target)),
      (connections) => Effect.sync(() => connections.close())
    ),
    sink: yield* startSink,
    note: (code, count) => {
      if (count > 0) noted[code] = (noted[code] ?? 0) + count
    },
    jobOf: (name) => {
      const job = makeJob(target, { players: target.players.length, idPrefix: `${name}.${++jobs}.`, seed: jobs }, {
        ...loadDefaults,
        connections: 1,
        warmUpSeconds: 0,
        measuredSeconds: 1
      })
      return { ...job, players: job.players.slice(options.players) }
    }
  }
  return { world, noted }
})

/** Latency of bets during long operations of other players, staff and programs, which must not delay them. */
export const neighbourScenario = scenario({
  name: "neighbours",
  title: "Neighbours: bets beside what takes long",
  about:
    "p99 of bets beside slow reads, a retry storm, a held row, a start, new combinations of commits, players going to rest",
  flags: {
    players: Flags.players(1000, 100_000, "players whose bets are measured"),
    others: Flags.count("others", "players of whom the cases make use", 100_000).pipe(Flag.withDefault(1000)),
    registered: Flags.registered,
    connections: Flags.connections(64, 4096, "connections of the open loop"),
    ratePerSecond: Flags.count("rate", "bets per second; half of the peak when left out", 1_000_000).pipe(
      Flag.map((rate): number | null => rate),
      Flag.withDefault(null)
    ),
    rounds: Flags.rounds(3),
    seconds: Flags.seconds("seconds", "measured seconds, calm and beside each case", 0.2).pipe(Flag.withDefault(5)),
    cases: Flags.choice("case", caseNames, "what goes on beside the bets"),
    readers: Flags.count("readers", "verifications, and as many reports, at once", 100).pipe(Flag.withDefault(10)),
    retries: Flags.count("retries", "bets that are retried at once", 10_000).pipe(Flag.withDefault(1000)),
    resting: Flags.count("resting", "players who go to rest", 5_000_000).pipe(Flag.withDefault(100_000)),
    restSeconds: Flags.seconds("rest-seconds", "measured seconds of `rest`, which takes two minutes", 0.2).pipe(
      Flag.withDefault(125)
    ),
    cpuProfile: Flags.cpuProfile
  },
  plan: ({ cases, others, players, restSeconds, resting, rounds, seconds }) => [
    `neighbours: ${cases.length} cases, ${rounds} rounds`,
    20 + (players + others) / 100 +
    rounds * (cases.length * 2 * (seconds + warmUpSeconds + 1) +
        (cases.includes("rest") ? restSeconds + resting / 3000 : 0))
  ],
  measure: Effect.fnUntraced(function*(options) {
    if (options.cpuProfile && options.cases.includes("start")) {
      return yield* new BenchError({
        message: "--cpu-prof does not follow the service into the start of `start`: choose other cases with --case"
      })
    }
    const postgres = yield* startPostgres()
    const server = yield* describeServer(postgres)
    const { connections, players, readers, restSeconds, resting, retries } = options
    const { noted, world } = yield* startWorld(postgres, options, { readers, retries, resting, restSeconds })
    const { target } = world
    const context = { target, postgres, generator: yield* startGenerator(1), books: new Books(players) }
    let rounds = 0
    const specification = () => ({ players, idPrefix: `b${++rounds}`, seed: rounds })
    const peak = options.ratePerSecond === null
      ? (yield* checkedRound(context, "peak", specification(), {
        connections: Math.max(connections, 256),
        warmUpSeconds,
        measuredSeconds: Math.min(5, options.seconds)
      })).perSecond
      : 2 * options.ratePerSecond
    const perSecond = Math.max(1, peak / 2)

    /** Bets at the rate, with something that goes on in the measured seconds. */
    const measure = Effect.fnUntraced(
      function*(
        label: string,
        seconds: number,
        warmUp: number,
        beside: Effect.Effect<unknown, BenchError>,
        profiler?: Profiler
      ) {
        const scope = yield* Effect.scope
        let failure: BenchError | undefined
        const begin = beside.pipe(
          Effect.catch((error) => Effect.sync(() => (failure = error))),
          Effect.forkIn(scope),
          Effect.asVoid
        )
        const run = ({ measured, measuring = Effect.void }: Pick<RoundContext, "measuring" | "measured"> = {}) =>
          checkedRound(
            {
              ...context,
              measuring: Effect.andThen(begin, measuring),
              ...(measured === undefined ? {} : { measured })
            },
            label,
            specification(),
            {
              connections,
              warmUpSeconds: warmUp,
              measuredSeconds: seconds,
              phases: inSeconds(perSecond, seconds, warmUp)
            }
          )
        const result = yield* profiler === undefined
          ? run()
          : profileRound(profiler, `neighbours-${label.replaceAll(/\W+/g, "-")}`, run)
        return failure === undefined ? result : yield* failure
      },
      Effect.scoped
    )

    const cases = neighbourCases.filter(({ name }) => options.cases.includes(name))
    const measured = new Map<string, Array<CaseRound>>()
    const notes = new Map<string, Record<string, number>>()
    for (const round of roundNumbers(options.rounds)) {
      for (const each of cases) {
        const label = `round ${round}/${options.rounds}  ${each.name.padEnd(8)}`
        const seconds = each.fromStart === true
          ? Math.min(1, options.seconds)
          : each.seconds?.(world.sizes) ?? options.seconds
        showProgress(`${label}  preparing`)
        const prepared = yield* each.prepare?.(world, round) ?? Effect.succeed(nothing)
        yield* target.judged
        const calm = yield* measure(`${label}  calm  `, options.seconds, warmUpSeconds, Effect.never)
        if (each.fromStart === true) yield* world.restart
        const beside = yield* measure(
          `${label}  beside`,
          seconds,
          each.fromStart === true ? 0 : warmUpSeconds,
          each.beside(world, round, prepared),
          target.profiler
        )
        measured.set(each.name, [...measured.get(each.name) ?? [], { calm, beside }])
        const sum = notes.get(each.name) ?? {}
        for (const [code, count] of Object.entries(noted)) {
          sum[code] = (sum[code] ?? 0) + count
          delete noted[code]
        }
        notes.set(each.name, sum)
      }
    }
    yield* audit([target])
    const measurements = cases.map((each) =>
      measureCase(each, measured.get(each.name) ?? [], notes.get(each.name) ?? {})
    )
    const ratios = measurements.map(({ figures }) => median(figures[0]?.values ?? []))
    yield* Console.log(
      `${ratios.filter((ratio) => ratio <= 1).length} of ${ratios.length} cases within what is allowed`
    )
    return {
      ...server,
      method: [
        `Bets of ${players} players, an open loop at ${
          Math.round(perSecond)
        } per second (half of the peak unless given) over ` +
        `${connections} connections; ${options.seconds} s calm and then beside each case, latency from the moment a bet was due.`,
        "Allowed are twice the calm p99, of players who are not concerned themselves, or 25 ms; of `start` 60 ms; of `register-hangs` 1.2 times the calm. " +
        "Of `rest`, which is most of its time calm, the p99 of the worst second counts, against that of the calm. Generator, cases, PostgreSQL and service share the machine. Every balance is " +
        "checked after every round, the ledger proved at the end.",
        ...cases.map(({ about, name }) => `${name}: ${about}.`)
      ],
      headlines: headlineOf(figure("worst", "×", "lower", [Math.max(...ratios)]), "the allowed p99, in the worst case"),
      measurements
    }
  })
})
