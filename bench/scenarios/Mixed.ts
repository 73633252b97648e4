import { Effect } from "effect"
import * as Flags from "../Flags.ts"
import { startGenerator } from "../load/Generator.ts"
import { mixedOperations, mixedShares } from "../load/MixedTraffic.ts"
import type { RoundContext } from "../load/Round.ts"
import { Books } from "../report/Balances.ts"
import { headlineOf } from "../report/Format.ts"
import { showProgress } from "../report/Progress.ts"
import { measureTraffic, type TrafficRound } from "../report/TrafficReport.ts"
import { startPitboss } from "../targets/Pitboss.ts"
import { startPostgres } from "../targets/Postgres.ts"
import { audit, checkedRound, loadOf, profileRound, roundNumbers } from "./Rounds.ts"
import { describeServer, scenario } from "./Scenario.ts"

/** Required throughput of mixed traffic, as a share of that of pure bets. */
const leastShare = 0.75

/** Enough for all stakes, and below what compliance takes for suspicious: otherwise every payment would raise an alert. */
const openingBalance = 40_000

/** Of a hundred players so many have a limit on a stake. */
const limitedPercent = 2

const betGroup = "pure bets"
const mixedGroup = "mixed traffic"

/** A casino's day against pure bets, in turn in one run. Fails when a balance or the ledger disagrees with the acknowledged requests. */
export const mixedScenario = scenario({
  name: "mixed",
  title: "Mixed traffic: everything a casino's day holds, against pure bets",
  about: "Bets, wins, batches, payments, launches, reads, refusals, late wins and forgotten retries, against pure bets",
  flags: {
    ...Flags.someLoad,
    operations: Flags.choice("operations", mixedOperations, "operations, the others replaced by bets"),
    registered: Flags.registered,
    connections: Flags.connections(256),
    cpuProfile: Flags.cpuProfile
  },
  plan: ({ players, rounds, seconds, warmUpSeconds }) => [
    `mixed: ${rounds} rounds of pure bets and of mixed traffic`,
    15 + players / 100 + rounds * 2 * (warmUpSeconds + seconds + 2)
  ],
  measure: Effect.fnUntraced(function*(options) {
    const postgres = yield* startPostgres()
    const server = yield* describeServer(postgres)
    const { players, registered } = options
    const target = yield* startPitboss(
      postgres,
      { players, registered, currency: "EUR", openingBalance },
      showProgress,
      { needs: { refs: true, limited: Math.ceil(players * limitedPercent / 100) }, profiled: options.cpuProfile }
    )
    const generator = yield* startGenerator(options.generators)
    const context = { target, postgres, generator, books: new Books(players) }
    const rounds: Array<TrafficRound> = []
    for (const round of roundNumbers(options.rounds)) {
      for (const kind of ["bet", "mixed"] as const) {
        yield* target.judged
        const run = (hooks: Pick<RoundContext, "measuring" | "measured"> = {}) =>
          checkedRound(
            { ...context, ...hooks },
            `round ${round}/${options.rounds}  ${kind.padEnd(5)}`,
            { players, idPrefix: `${round}${kind}`, seed: round },
            { kind, operations: options.operations, connections: options.connections, ...loadOf(options) }
          )
        const result = yield* target.profiler === undefined
          ? run()
          : profileRound(target.profiler, `mixed-${kind}`, run)
        rounds.push({ round, group: kind === "bet" ? betGroup : mixedGroup, target: target.name, result })
      }
    }
    yield* audit([target])
    const measurements = measureTraffic(rounds, "requests", {
      bars: (group, _target, name) => group === mixedGroup && name === `× ${betGroup}` ? leastShare : undefined
    })
    const ratio = measurements.flatMap(({ figures }) => figures.filter(({ name }) => name === `× ${betGroup}`))[0]
    return {
      ...server,
      method: [
        `Closed loop of ${options.connections} connections, ${players} players of ${registered} registered; ${options.rounds} rounds of ` +
        `${options.seconds} s after ${options.warmUpSeconds} s of warm-up, pure bets and mixed traffic in turn; every balance checked ` +
        "after every round, the ledger proved at the end.",
        `Shares of a thousand: ${
          mixedShares.filter(([name]) => options.operations.includes(name)).map(([name, share]) => `${name} ${share}`)
            .join(", ")
        }${options.operations.length < mixedOperations.length ? "; the rest are bets" : ""}.`,
        "The warm-up places the bets that late wins and retries come for, and then more than a player carries.",
        ...(options.cpuProfile ? ["The service was profiled meanwhile, which slows it down."] : [])
      ],
      headlines: headlineOf(ratio, "the throughput of pure bets"),
      measurements
    }
  })
})
