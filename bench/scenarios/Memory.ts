import { Console, Effect } from "effect"
import { fileURLToPath } from "node:url"
import { BenchError } from "../BenchError.ts"
import { describeMachine } from "../report/Machine.ts"
import { endProgress, showProgress } from "../report/Progress.ts"
import { writeResult } from "../report/ResultFile.ts"
import { renderTable } from "../report/Table.ts"
import { startChild } from "../targets/Child.ts"
import { readSettings, startPostgres } from "../targets/Postgres.ts"
import { ResidentsMessage } from "../targets/ResidentsMessage.ts"

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
    const postgres = yield* startPostgres
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
      bytes_per_player: Math.round((weight.heap_bytes - weighed.empty.heap_bytes) / options.players),
      ...weight
    }))
    const mebibytes = (bytes: number) => (bytes / 2 ** 20).toFixed(0)
    yield* Console.log(renderTable(
      [`${options.players} players`, "heap bytes/player", "heap MiB", "resident set MiB"],
      [
        ["none loaded", "", mebibytes(weighed.empty.heap_bytes), mebibytes(weighed.empty.rss_bytes)],
        ...stages.map(({ bytes_per_player, heap_bytes, rss_bytes, stage }) => [
          stage,
          String(bytes_per_player),
          mebibytes(heap_bytes),
          mebibytes(rss_bytes)
        ])
      ]
    ))
    const path = yield* writeResult("memory", startedAt, {
      scenario: "memory",
      started_at: startedAt.toISOString(),
      options,
      machine: describeMachine(postgres.folder),
      postgres: yield* readSettings(postgres),
      empty: weighed.empty,
      stages
    })
    yield* Console.log(`\nwritten to ${path}`)
  },
  Effect.scoped,
  Effect.ensuring(Effect.sync(endProgress))
)
