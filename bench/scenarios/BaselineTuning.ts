import { Effect } from "effect"
import * as Flags from "../Flags.ts"
import { startGenerator } from "../load/Generator.ts"
import { measureTraffic, type TrafficRound } from "../report/TrafficReport.ts"
import { startBaseline } from "../targets/Baseline.ts"
import { startPostgres } from "../targets/Postgres.ts"
import { baselineStyles } from "../targets/servers/BaselineBets.ts"
import { checkedRound, loadOf, roundNumbers } from "./Rounds.ts"
import { describeServer, scenario } from "./Scenario.ts"

/**
 * Measures the baseline over its ways of talking to PostgreSQL, pool sizes and connections, many players and one, so
 * that the comparison uses the setting that suits it best.
 */
export const baselineScenario = scenario({
  name: "baseline",
  title: "The baseline's best setting",
  about: "Which way of working, pool size and number of connections suit the baseline best",
  flags: {
    ...Flags.someLoad,
    poolSizes: Flags.counts("pools", "sizes of the pool to PostgreSQL", [4, 8, 16, 24, 32, 48], 90),
    connectionCounts: Flags.counts("connections", "connections of the load generator", [16, 64, 128, 256], 4096),
    styles: Flags.choice("baseline-style", baselineStyles, "how the baseline talks to PostgreSQL")
  },
  plan: ({ connectionCounts, poolSizes, rounds, seconds, styles, warmUpSeconds }) => {
    const settings = styles.length * poolSizes.length
    const perSetting = connectionCounts.length * 2 * rounds * (seconds + warmUpSeconds + 0.5)
    return [`baseline: ${settings} settings`, 10 + settings * (1 + perSetting)]
  },
  measure: Effect.fnUntraced(function*(options) {
    const postgres = yield* startPostgres()
    const server = yield* describeServer(postgres)
    const generator = yield* startGenerator(options.generators)
    const measured: Array<TrafficRound> = []
    const settings = options.styles.flatMap((style) => options.poolSizes.map((poolSize) => ({ style, poolSize })))
    for (const setting of settings) {
      yield* Effect.scoped(Effect.gen(function*() {
        const provisioning = { players: options.players, currency: "EUR", openingBalance: 1_000_000_000 }
        const target = yield* startBaseline(postgres, provisioning, setting)
        for (const connections of options.connectionCounts) {
          for (const players of [options.players, 1]) {
            const label = `${setting.style}, pool ${setting.poolSize}, ${connections} connections`
            const group = players === 1 ? "one player" : `${players} players`
            for (const round of roundNumbers(options.rounds)) {
              const result = yield* checkedRound({ target, postgres, generator }, `${label}, ${group}`, {
                players,
                idPrefix: `${round}-${connections}-${players}-`,
                seed: round
              }, { connections, ...loadOf(options) })
              measured.push({ round, group, target: label, result })
            }
          }
        }
      }))
    }
    return {
      ...server,
      method: [
        `Closed loop, ${options.rounds} rounds of ${options.seconds} s after ${options.warmUpSeconds} s of warm-up.`
      ],
      headlines: [],
      measurements: measureTraffic(measured, "bets")
    }
  })
})
