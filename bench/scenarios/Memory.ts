import { Effect } from "effect"
import { fileURLToPath } from "node:url"
import { BenchError } from "../BenchError.ts"
import { describeMachine } from "../report/Machine.ts"
import { endProgress, showProgress } from "../report/Progress.ts"
import { figure } from "../report/Result.ts"
import { startChild } from "../targets/Child.ts"
import { readSettings, startPostgres } from "../targets/Postgres.ts"
import { ResidentsMessage } from "../targets/ResidentsMessage.ts"
import { announce, publish } from "./Findings.ts"

export interface MemoryOptions {
  readonly players: number
  /** Bets of each player in the last stage. */
  readonly bets: number
}

const database = "memory"

/**
 * What a resident player weighs while nobody asks for it: players are written to PostgreSQL, loaded through the real
 * loader into the engine of a process of its own, and the heap is weighed after a garbage collection.
 */
export const runMemory = Effect.fn("runMemory")(
  function*(options: MemoryOptions) {
    const startedAt = new Date()
    yield* announce(`memory: ${options.players} players`, 150 + options.players * options.bets / 20_000)
    const postgres = yield* startPostgres()
    const machine = describeMachine(postgres.folder)
    yield* postgres.query("postgres", `CREATE DATABASE ${database}`)
    showProgress(`loading ${options.players} players`)
    const child = yield* startChild({
      name: "resident players",
      args: ["--expose-gc", fileURLToPath(import.meta.resolve("../targets/servers/residents.ts"))],
      environment: {
        DATABASE_URL: postgres.url(database),
        PLAYERS: String(options.players),
        BETS: String(options.bets)
      },
      messages: true
    })
    const weighed = yield* child.receive(ResidentsMessage).pipe(
      Effect.timeoutOrElse({
        duration: "20 minutes",
        orElse: () => Effect.fail(new BenchError({ message: `players are not loaded in time\n${child.output()}` }))
      })
    )
    endProgress()
    if (weighed.resident !== options.players) {
      return yield* new BenchError({ message: `${weighed.resident} of ${options.players} players are in memory` })
    }
    const stages = [
      { stage: "loaded, never active", weight: weighed.loaded },
      { stage: "after 1 bet each", weight: weighed.played },
      { stage: `after ${options.bets} bets each`, weight: weighed.full },
      { stage: "two minutes later, nobody asked", weight: weighed.resting }
    ].map(({ stage, weight }) => ({
      stage,
      bytes: Math.round((weight.heap_bytes - weighed.empty.heap_bytes) / options.players),
      weight
    }))
    return yield* publish({
      scenario: "memory",
      title: "Memory: what a resident player weighs while nobody asks",
      method: [
        `${
          options.players.toLocaleString("en-US")
        } players loaded by the service's own loader into a process of their own, the heap ` +
        "weighed after garbage collection."
      ],
      startedAt,
      machine,
      postgres: yield* readSettings(postgres),
      options: { ...options },
      headlines: stages.filter((_, index) => index === 0 || index === 3).map(({ bytes, stage }) => ({
        value: `${bytes.toLocaleString("en-US")} bytes`,
        label: `of heap per player, ${stage}`
      })),
      measurements: stages.map(({ bytes, stage, weight }) => ({
        group: `${options.players.toLocaleString("en-US")} players`,
        name: stage,
        figures: [
          figure("heap per player", "bytes", "lower", [bytes]),
          figure("heap", "MiB", "lower", [weight.heap_bytes / 2 ** 20]),
          figure("resident set", "MiB", "lower", [weight.rss_bytes / 2 ** 20])
        ],
        errors: {}
      }))
    })
  },
  Effect.scoped,
  Effect.ensuring(Effect.sync(endProgress))
)
