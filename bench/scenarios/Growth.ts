import { Effect } from "effect"
import { openDataset, playersToBet } from "../data/Dataset.ts"
import * as Flags from "../Flags.ts"
import { startGenerator } from "../load/Generator.ts"
import { Books } from "../report/Balances.ts"
import { headlineOf } from "../report/Format.ts"
import { endProgress, showProgress } from "../report/Progress.ts"
import { measureTraffic, type TrafficRound } from "../report/TrafficReport.ts"
import { startPitboss } from "../targets/Pitboss.ts"
import { audit, checkedRound, loadOf, roundNumbers } from "./Rounds.ts"
import { describeServer, scenario } from "./Scenario.ts"

const empty = "empty ledger"

/** Whether bets get slower as the ledger grows: the same bets against an empty database and against a casino's year. */
export const growthScenario = scenario({
  name: "growth",
  title: "Growth: bets against an empty ledger and a casino's year",
  about: "Bets against an empty ledger and against millions of entries",
  flags: {
    ...Flags.dataset(20_000_000),
    ...Flags.time,
    bettors: Flags.bettors(2000, "players who bet, in each database"),
    connections: Flags.connections(128)
  },
  plan: ({ bettors, entries, folder, rounds, seconds, warmUpSeconds }) => [
    "growth: bets against an empty ledger and a full one, the data first where there are none",
    20 + (folder === undefined ? entries / 30_000 : 0) + bettors / 150 + 2 * rounds * (seconds + warmUpSeconds + 0.7)
  ],
  measure: Effect.fnUntraced(function*(options, startedAt) {
    const dataset = yield* openDataset(options)
    const { made, postgres } = dataset
    const server = yield* describeServer(postgres)
    const provisioning = { players: options.bettors, currency: "EUR", openingBalance: 100_000_000 }
    const full = `${made.entries.toLocaleString("en-US")} entries`
    const targets = [
      yield* startPitboss(postgres, provisioning, showProgress, { name: empty, database: "growth_empty" }),
      yield* startPitboss(postgres, provisioning, showProgress, {
        name: full,
        dataset: { ...dataset, playerIds: yield* playersToBet(dataset, options.bettors) }
      })
    ]
    endProgress()
    const generator = yield* startGenerator(1)
    const contexts = targets.map((target) => ({ target, postgres, generator, books: new Books(options.bettors) }))
    const rounds: Array<TrafficRound> = []
    const group = `${options.bettors.toLocaleString("en-US")} players bet`
    for (const round of roundNumbers(options.rounds)) {
      for (const context of contexts) {
        const { name, players } = context.target
        const result = yield* checkedRound(context, `round ${round}/${options.rounds}  ${name}`, {
          players: players.length,
          // ids of a run are its own: the full ledger may hold those of an earlier one
          idPrefix: `${startedAt.getTime().toString(36)}-${round}`,
          seed: round
        }, { connections: options.connections, ...loadOf(options) })
        rounds.push({ round, group, target: name, result })
      }
    }
    yield* audit(targets)
    const measurements = measureTraffic(rounds, "bets", { references: [empty] })
    const ratio = measurements.flatMap(({ figures }) => figures.filter(({ name }) => name === `× ${empty}`))[0]
    return {
      ...server,
      method: [
        `${full} of ${made.players.toLocaleString("en-US")} players, ${
          Math.round(made.bytes / 2 ** 20).toLocaleString("en-US")
        } MiB, ` +
        `made in ${dataset.seconds} s; the players who bet are spread over all of it.`,
        `Closed loop, ${options.connections} connections; ${options.rounds} rounds of ${options.seconds} s after ` +
        `${options.warmUpSeconds} s of warm-up in turn, every balance checked after every round.`
      ],
      headlines: headlineOf(ratio, `the throughput of an empty ledger, with ${full}`),
      measurements
    }
  })
})
