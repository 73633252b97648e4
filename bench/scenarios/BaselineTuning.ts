import { Console, Effect } from "effect"
import { startGenerator } from "../load/Generator.ts"
import { loadDefaults, runRound } from "../load/Round.ts"
import { describeMachine } from "../report/Machine.ts"
import { endProgress, showProgress } from "../report/Progress.ts"
import { median } from "../report/Statistics.ts"
import { measureTraffic, type TrafficRound } from "../report/TrafficReport.ts"
import { startBaseline } from "../targets/Baseline.ts"
import { readSettings, startPostgres } from "../targets/Postgres.ts"
import type { BaselineStyle } from "../targets/servers/BaselineBets.ts"
import { announce, publish } from "./Findings.ts"

export interface BaselineTuningOptions {
  readonly styles: ReadonlyArray<BaselineStyle>
  readonly poolSizes: ReadonlyArray<number>
  readonly connectionCounts: ReadonlyArray<number>
  readonly rounds: number
  readonly seconds: number
  readonly warmUpSeconds: number
  readonly players: number
  readonly generators: number
  /** Percent of the processors; a round that others disturbed more is run again. */
  readonly maxForeignLoad: number
}

/**
 * Measures the baseline over its ways of talking to PostgreSQL, pool sizes and connections, many players and one, so
 * that the comparison uses the setting that suits it best.
 */
export const runBaselineTuning = Effect.fn("runBaselineTuning")(
  function*(options: BaselineTuningOptions) {
    const startedAt = new Date()
    const settings = options.styles.length * options.poolSizes.length
    const roundSeconds = options.seconds + options.warmUpSeconds + 0.5
    yield* announce(
      `baseline: ${settings} settings`,
      10 + settings * (1 + options.connectionCounts.length * 2 * options.rounds * roundSeconds)
    )
    const postgres = yield* startPostgres()
    const machine = describeMachine(postgres.folder)
    const generator = yield* startGenerator(options.generators)
    const all: Array<TrafficRound> = []
    const measure = Effect.fnUntraced(function*(style: BaselineStyle, poolSize: number) {
      const provisioning = { players: options.players, currency: "EUR", openingBalance: 1_000_000_000 }
      const target = yield* startBaseline(postgres, provisioning, { style, poolSize })
      for (const connections of options.connectionCounts) {
        for (const players of [options.players, 1]) {
          const label = `${style}, pool ${poolSize}, ${connections} connections`
          showProgress(label)
          const results = yield* Effect.forEach(
            Array.from({ length: options.rounds }, (_, index) => index + 1),
            (round) =>
              runRound(
                { target, postgres, generator },
                { players, idPrefix: `${round}-${connections}-${players}-`, seed: round },
                {
                  ...loadDefaults,
                  connections,
                  warmUpSeconds: options.warmUpSeconds,
                  measuredSeconds: options.seconds,
                  maxForeignShare: options.maxForeignLoad / 100
                },
                (text) => showProgress(`${label}  ${text}`)
              )
          )
          const group = players === 1 ? "one player" : `${players} players`
          all.push(...results.map((result, index) => ({ round: index + 1, group, target: label, result })))
          endProgress()
          yield* Console.log(`${label}, ${group}: ${Math.round(median(results.map(({ perSecond }) => perSecond)))}/s`)
        }
      }
    }, Effect.scoped)
    for (const style of options.styles) {
      for (const poolSize of options.poolSizes) yield* measure(style, poolSize)
    }
    return yield* publish({
      scenario: "baseline",
      title: "The baseline's best setting",
      method: [
        `Closed loop, ${options.rounds} rounds of ${options.seconds} s after ${options.warmUpSeconds} s of warm-up.`
      ],
      startedAt,
      machine,
      postgres: yield* readSettings(postgres),
      options: { ...options },
      headlines: [],
      measurements: measureTraffic(all, "bets")
    })
  },
  Effect.scoped,
  Effect.ensuring(Effect.sync(endProgress))
)
