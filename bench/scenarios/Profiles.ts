import { Effect } from "effect"
import { Flag } from "effect/cli"
import { BenchError } from "../BenchError.ts"
import * as Flags from "../Flags.ts"
import { startGenerator } from "../load/Generator.ts"
import { type RoundResult, steadily } from "../load/Round.ts"
import { both, notSlower } from "../report/BeforeAndAfter.ts"
import { headlineOf } from "../report/Format.ts"
import { showProgress } from "../report/Progress.ts"
import { figure } from "../report/Result.ts"
import { quantile } from "../report/Statistics.ts"
import { startPitboss } from "../targets/Pitboss.ts"
import { startPostgres } from "../targets/Postgres.ts"
import { audit, checkedRound, describeLoop, inTurn, loadOf, roundNumbers } from "./Rounds.ts"
import { describeServer, scenario } from "./Scenario.ts"

const compared = ["none", "gb"] as const
type Jurisdiction = (typeof compared)[number]

/**
 * What the rules of a jurisdiction cost a bet. Two starts of one service differ by more than the rules cost, so both kinds of players are of one operator of
 * one service, a sandbox, whose registers are simulated.
 */
export const profileScenario = scenario({
  name: "profiles",
  title: "Bets under a jurisdiction and under none",
  about: "Processor time of a bet of players under `gb` beside those under `none`, in one service",
  flags: {
    ...Flags.time,
    rounds: Flags.rounds(9),
    players: Flags.players(10_000, 100_000, "players, one half under each profile"),
    connections: Flags.connections(64),
    ratePerSecond: Flags.count("rate", "bets per second", 1_000_000).pipe(Flag.withDefault(1000))
  },
  plan: ({ players, rounds, seconds, warmUpSeconds }) => [
    `profiles: ${rounds} pairs of rounds`,
    20 + players / 150 + rounds * compared.length * (warmUpSeconds + seconds + 1)
  ],
  measure: Effect.fnUntraced(function*(options) {
    const postgres = yield* startPostgres()
    const server = yield* describeServer(postgres)
    const { connections, ratePerSecond } = options
    const players = Math.ceil(options.players / compared.length)
    const prepared = yield* startPitboss(postgres, {
      players: players * compared.length,
      currency: "GBP",
      openingBalance: 1_000_000_000,
      jurisdictions: compared
    }, showProgress)
    const generator = yield* startGenerator(1)
    const targetOf = (jurisdiction: Jurisdiction) => ({
      ...prepared,
      name: jurisdiction,
      players: prepared.players.filter((_, index) => compared[index % compared.length] === jurisdiction)
    })
    const targets = compared.map(targetOf)
    const measured: Record<Jurisdiction, Array<RoundResult>> = { none: [], gb: [] }
    for (const round of roundNumbers(options.rounds)) {
      for (const [index, target] of inTurn(round, [...targets.entries()])) {
        const jurisdiction = compared[index] ?? "none"
        const result = yield* checkedRound(
          { target, postgres, generator },
          `round ${round}/${options.rounds}  ${jurisdiction.padEnd(4)}`,
          { players, idPrefix: `${round}${jurisdiction}`, seed: round },
          { connections, currency: "GBP", phases: steadily(ratePerSecond, options), ...loadOf(options) }
        )
        if (Object.keys(result.errors).length > 0) {
          return yield* new BenchError({ message: `bets were refused: ${JSON.stringify(result.errors)}` })
        }
        measured[jurisdiction].push(result)
      }
    }
    yield* audit([prepared])
    const ratios = (cost: (result: RoundResult) => number) =>
      measured.gb.map((result, index) => cost(result) / cost(measured.none[index] ?? result))
    const together = ratios(both)
    const ratio = figure("× none", "×", "lower", together, notSlower)
    return {
      ...server,
      method: [
        describeLoop({ connections, ratePerSecond }),
        `${options.rounds} pairs of rounds of ${options.seconds} s after ${options.warmUpSeconds} s of warm-up, in turns; ${players} players ` +
        "under each profile. Processor time of the service and of PostgreSQL, per bet. The ledger is proved at the end."
      ],
      headlines: headlineOf(ratio, "the processor time of a bet under `none`, under `gb`"),
      measurements: [
        {
          group: "bets",
          name: "gb",
          figures: [
            ratio,
            figure("lower quartile", "×", "neither", [quantile(together, 0.25)]),
            figure("upper quartile", "×", "neither", [quantile(together, 0.75)]),
            figure("× none, service", "×", "lower", ratios(({ serviceMicros }) => serviceMicros)),
            figure("CPU gb", "µs", "lower", measured.gb.map(both)),
            figure("CPU none", "µs", "lower", measured.none.map(both)),
            figure("foreign load", "%", "neither", measured.gb.map(({ foreignShare }) => foreignShare * 100))
          ],
          errors: {}
        }
      ]
    }
  })
})
