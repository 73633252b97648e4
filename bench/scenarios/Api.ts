import { Effect } from "effect"
import { Flag } from "effect/cli"
import * as Flags from "../Flags.ts"
import { startGenerator } from "../load/Generator.ts"
import { operatorOperations } from "../load/Job.ts"
import type { RoundContext } from "../load/Round.ts"
import { Books } from "../report/Balances.ts"
import { headlineOf } from "../report/Format.ts"
import { showProgress } from "../report/Progress.ts"
import { figure, type Figure } from "../report/Result.ts"
import { median } from "../report/Statistics.ts"
import { measureTraffic, type TrafficRound } from "../report/TrafficReport.ts"
import { startCeiling } from "../targets/Ceiling.ts"
import { startPitboss } from "../targets/Pitboss.ts"
import { startPostgres } from "../targets/Postgres.ts"
import { audit, checkedRound, loadOf, profileRound, roundNumbers } from "./Rounds.ts"
import { describeServer, scenario } from "./Scenario.ts"

/** A bet of the express lane and a round of an original beside the operators' calls. */
export const endpoints = ["bet", "play", ...operatorOperations] as const

/** Processor time of the service, µs, where the ceiling takes {@link referenceCeiling}. */
const bars: Readonly<Record<string, number>> = { wallet: 60, deposit: 180 }
const referenceCeiling = 40

/** Cost of each endpoint, measured one after the other in a closed loop. */
export const apiScenario = scenario({
  name: "api",
  title: "The cost of each endpoint",
  about: "Processor time of the service and of PostgreSQL per call, one endpoint at a time",
  flags: {
    ...Flags.time,
    rounds: Flags.rounds(3),
    seconds: Flags.seconds("seconds", "measured seconds of an endpoint in a round", 0.2).pipe(Flag.withDefault(2)),
    // until the optimising compiler is done: after two seconds a deposit costs up to a fifth more than after six
    warmUpSeconds: Flags.seconds("warm-up", "seconds of load before", 0).pipe(Flag.withDefault(8)),
    players: Flags.players(2000, 100_000, "players the calls are about"),
    registered: Flags.registered,
    connections: Flags.connections(64),
    endpoints: Flags.choice("endpoints", endpoints, "what to measure"),
    cpuProfile: Flags.cpuProfile
  },
  plan: (options) => {
    const count = options.rounds * (options.endpoints.length + 1)
    return [
      `api: ${options.endpoints.length} endpoints, ${options.rounds} rounds`,
      15 + options.players / 100 + count * (options.warmUpSeconds + options.seconds + 1)
    ]
  },
  measure: Effect.fnUntraced(function*(options) {
    const postgres = yield* startPostgres()
    const server = yield* describeServer(postgres)
    const { players, registered } = options
    const provisioning = { players, registered, currency: "EUR", openingBalance: 1_000_000_000 }
    const target = yield* startPitboss(postgres, provisioning, showProgress, {
      needs: { bearers: true },
      profiled: options.cpuProfile
    })
    const ceiling = yield* startCeiling(provisioning)
    const generator = yield* startGenerator(1)
    const books = new Books(players)
    const measured: Array<TrafficRound> = []
    const ceilings: Array<TrafficRound> = []
    for (const round of roundNumbers(options.rounds)) {
      const load = { connections: options.connections, ...loadOf(options) }
      const specification = (name: string) => ({ players, idPrefix: `${round}${name}`, seed: round })
      // background work of the service after the last round must not affect the ceiling
      yield* target.judged
      const bare = yield* checkedRound(
        { target: ceiling, postgres, generator },
        `round ${round}/${options.rounds}  ceiling`,
        specification("ceiling"),
        load
      )
      ceilings.push({ round, group: "ceiling", target: "ceiling", result: bare })
      for (const kind of options.endpoints) {
        yield* target.judged
        const run = (hooks: Pick<RoundContext, "measuring" | "measured"> = {}) =>
          checkedRound(
            { target, postgres, generator, books, ...hooks },
            `round ${round}/${options.rounds}  ${kind.padEnd(19)}`,
            specification(kind.replaceAll("-", "")),
            { ...load, kind }
          )
        const { profiler } = target
        const result = yield* profiler === undefined ? run() : profileRound(profiler, `api-${kind}`, run)
        measured.push({ round, group: "endpoints", target: kind, result })
      }
    }
    yield* audit([target])
    const ceilingMicros = median(ceilings.map(({ result }) => result.serviceMicros))
    const scale = ceilingMicros / referenceCeiling
    const scaled = (name: string): Figure | undefined => {
      const bar = bars[name]
      const costs = measured.filter((round) => round.target === name).map(({ result }) => result.serviceMicros)
      return bar === undefined || costs.length === 0
        ? undefined
        : figure(`at a ceiling of ${referenceCeiling}`, "µs", "lower", costs.map((cost) => cost / scale), bar)
    }
    const rows = measureTraffic(measured, "calls", { references: [] }).map((row) => {
      const found = scaled(row.name)
      return found === undefined ? row : { ...row, figures: [...row.figures, found] }
    })
    return {
      ...server,
      method: [
        `Closed loop of ${options.connections} connections, one endpoint after the other, ${options.rounds} rounds of ` +
        `${options.seconds} s after ${options.warmUpSeconds} s of warm-up; calls are about ${players} players at random of ` +
        `${registered} registered. Every balance checked after every round.`,
        `The ceiling of this run takes ${
          ceilingMicros.toFixed(1)
        } µs; bars are of a machine where it takes ${referenceCeiling}.`
      ],
      headlines: Object.keys(bars).flatMap((name) =>
        headlineOf(scaled(name), `of the service for a ${name}, at a ceiling of 40 µs`)
      ),
      measurements: [...rows, ...measureTraffic(ceilings, "calls", { references: [] })]
    }
  })
})
