import { Console, Effect } from "effect"
import { startGenerator } from "../load/Generator.ts"
import { type RoundResult, runRound } from "../load/Round.ts"
import { describeMachine } from "../report/Machine.ts"
import { endProgress, showProgress } from "../report/Progress.ts"
import { writeResult } from "../report/ResultFile.ts"
import { median, spread } from "../report/Statistics.ts"
import { renderTable } from "../report/Table.ts"
import { startBaseline } from "../targets/Baseline.ts"
import { readSettings, startPostgres } from "../targets/Postgres.ts"
import type { BaselineStyle } from "../targets/servers/BaselineBets.ts"

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

const header = [
  "style",
  "pool",
  "connections",
  "players",
  "bets/s",
  "min",
  "max",
  "p50 ms",
  "p99 ms",
  "service µs",
  "PostgreSQL µs",
  "foreign load"
]

/**
 * Measures the baseline over its ways of talking to PostgreSQL, pool sizes and connections, many players and one, so
 * that the comparison uses the setting that suits it best.
 */
export const runBaselineTuning = Effect.fn("runBaselineTuning")(
  function*(options: BaselineTuningOptions) {
    const startedAt = new Date()
    const postgres = yield* startPostgres
    const generator = yield* startGenerator(options.generators)
    const rows: Array<ReadonlyArray<string>> = []
    const results: Array<object> = []
    const measure = Effect.fnUntraced(function*(style: BaselineStyle, poolSize: number) {
      const provisioning = { players: options.players, currency: "EUR", openingBalance: 1_000_000_000 }
      const target = yield* startBaseline(postgres, provisioning, { style, poolSize })
      for (const connections of options.connectionCounts) {
        for (const players of [options.players, 1]) {
          const label = `${style}, pool ${poolSize}, ${connections} connections, ${players} players`
          showProgress(label)
          const load = {
            connections,
            ratePerSecond: null,
            warmUpSeconds: options.warmUpSeconds,
            measuredSeconds: options.seconds,
            stake: 10,
            currency: "EUR",
            maxForeignShare: options.maxForeignLoad / 100
          }
          const rounds = yield* Effect.forEach(
            Array.from({ length: options.rounds }, (_, index) => index + 1),
            (round) =>
              runRound(
                { target, postgres, generator },
                { players, idPrefix: `${round}-${connections}-${players}-`, seed: round },
                load,
                (text) => showProgress(`${label}  ${text}`)
              )
          )
          const perSecond = spread(rounds.map((round) => round.perSecond))
          const middle = (pick: (round: RoundResult) => number) => median(rounds.map(pick))
          rows.push([
            style,
            ...[poolSize, connections, players].map(String),
            ...[perSecond.median, perSecond.min, perSecond.max].map((value) => value.toFixed(0)),
            middle((round) => round.latency.p50_ms).toFixed(2),
            middle((round) => round.latency.p99_ms).toFixed(2),
            middle((round) => round.serviceMicros).toFixed(0),
            middle((round) => round.postgresMicros).toFixed(0),
            `${Math.round(middle((round) => round.foreignShare) * 100)}%`
          ])
          results.push({
            style,
            poolSize,
            connections,
            players,
            rounds: rounds.map(({ acknowledged: _acknowledged, unknown: _unknown, ...round }) => round)
          })
          endProgress()
          yield* Console.log(`${label}: ${Math.round(perSecond.median)}/s`)
        }
      }
    }, Effect.scoped)
    for (const style of options.styles) {
      for (const poolSize of options.poolSizes) yield* measure(style, poolSize)
    }
    yield* Console.log(`\n${renderTable(header, rows)}`)
    const path = yield* writeResult("baseline", startedAt, {
      scenario: "baseline",
      started_at: startedAt.toISOString(),
      options,
      machine: describeMachine(postgres.folder),
      postgres: yield* readSettings(postgres),
      results
    })
    yield* Console.log(`\nwritten to ${path}`)
  },
  Effect.scoped,
  Effect.ensuring(Effect.sync(endProgress))
)
