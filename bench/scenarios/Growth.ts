import { Console, Effect } from "effect"
import { type DatasetOptions, openDataset, playersToBet } from "../data/Dataset.ts"
import { startGenerator } from "../load/Generator.ts"
import { loadDefaults, runRound } from "../load/Round.ts"
import { Books } from "../report/Balances.ts"
import { headlineOf } from "../report/Format.ts"
import { describeMachine } from "../report/Machine.ts"
import { endProgress, showProgress } from "../report/Progress.ts"
import { measureTraffic, type TrafficRound } from "../report/TrafficReport.ts"
import { startPitboss } from "../targets/Pitboss.ts"
import { readSettings } from "../targets/Postgres.ts"
import { announce, publish } from "./Findings.ts"
import { audit, checkBalances, renderRound } from "./Traffic.ts"

export interface GrowthOptions extends DatasetOptions {
  /** Players who bet, of each database. */
  readonly bettors: number
  readonly rounds: number
  readonly seconds: number
  readonly warmUpSeconds: number
  readonly connections: number
  /** Percent of the processors. */
  readonly maxForeignLoad: number
}

const empty = "empty ledger"

/** Whether bets get slower as the ledger grows: the same bets against an empty database and against a casino's year. */
export const runGrowth = Effect.fn("runGrowth")(
  function*(options: GrowthOptions) {
    const startedAt = new Date()
    yield* announce(
      "growth: bets against an empty ledger and a full one, the data first where there are none",
      20 + (options.folder === undefined ? options.entries / 30_000 : 0) + options.bettors / 150 +
        2 * options.rounds * (options.seconds + options.warmUpSeconds + 0.7)
    )
    const dataset = yield* openDataset(options)
    const { made, postgres } = dataset
    const machine = describeMachine(postgres.folder)
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
    const books = targets.map(() => new Books(options.bettors))
    const rounds: Array<TrafficRound> = []
    const group = `${options.bettors.toLocaleString("en-US")} players bet`
    for (let round = 1; round <= options.rounds; round++) {
      for (const [index, target] of targets.entries()) {
        const label = `round ${round}/${options.rounds}  ${target.name}`
        showProgress(label)
        const result = yield* runRound(
          { target, postgres, generator },
          // ids of a run are its own: the full ledger may hold those of an earlier one
          { players: target.players.length, idPrefix: `${startedAt.getTime().toString(36)}-${round}`, seed: round },
          {
            ...loadDefaults,
            connections: options.connections,
            warmUpSeconds: options.warmUpSeconds,
            measuredSeconds: options.seconds,
            maxForeignShare: options.maxForeignLoad / 100
          },
          (text) => showProgress(`${label}  ${text}`)
        )
        const own = books[index]
        if (own !== undefined) {
          own.add(result)
          yield* checkBalances(target, target.players.length, own)
        }
        rounds.push({ round, group, target: target.name, result })
        endProgress()
        yield* Console.log(`${label}  ${renderRound(result)}`)
      }
    }
    yield* audit(targets)
    const measurements = measureTraffic(rounds, "bets", [empty])
    const ratio = measurements.flatMap(({ figures }) => figures.filter(({ name }) => name === `× ${empty}`))[0]
    return yield* publish({
      scenario: "growth",
      title: "Growth: bets against an empty ledger and a casino's year",
      method: [
        `${full} of ${made.players.toLocaleString("en-US")} players, ${
          Math.round(made.bytes / 2 ** 20).toLocaleString("en-US")
        } MiB, ` +
        `made in ${dataset.seconds} s; the players who bet are spread over all of it.`,
        `Closed loop, ${options.connections} connections; ${options.rounds} rounds of ${options.seconds} s after ` +
        `${options.warmUpSeconds} s of warm-up in turn, every balance checked after every round.`
      ],
      startedAt,
      machine,
      postgres: yield* readSettings(postgres),
      options: { ...options, folder: options.folder === undefined ? "temporary" : "kept" },
      headlines: headlineOf(ratio, `the throughput of an empty ledger, with ${full}`),
      measurements
    })
  },
  Effect.scoped,
  Effect.ensuring(Effect.sync(endProgress))
)
