import { Effect } from "effect"
import { Flag } from "effect/cli"
import { fileURLToPath } from "node:url"
import { BenchError } from "../BenchError.ts"
import * as Flags from "../Flags.ts"
import { endProgress, showProgress } from "../report/Progress.ts"
import { figure } from "../report/Result.ts"
import { startChild } from "../targets/Child.ts"
import { startPostgres } from "../targets/Postgres.ts"
import { ResidentsMessage } from "../targets/ResidentsMessage.ts"
import { describeServer, scenario } from "./Scenario.ts"

const database = "memory"

/**
 * Weight of an idle resident player: players are written to PostgreSQL, loaded through the real loader into the engine of a process of
 * its own, and the heap is measured after a garbage collection.
 */
export const memoryScenario = scenario({
  name: "memory",
  title: "Memory: what a resident player weighs while nobody asks",
  about: "Heap per resident idle player, loaded from PostgreSQL by the service's own loader",
  flags: {
    players: Flags.players(100_000, 250_000, "players to hold in memory"),
    bets: Flags.count("bets", "bets of each player before the last weighing", 100).pipe(Flag.withDefault(16))
  },
  plan: ({ bets, players }) => [`memory: ${players} players`, 150 + players * bets / 20_000],
  measure: Effect.fnUntraced(function*({ bets, players }) {
    const postgres = yield* startPostgres()
    const server = yield* describeServer(postgres)
    yield* postgres.query("postgres", `CREATE DATABASE ${database}`)
    showProgress(`loading ${players} players`)
    const child = yield* startChild({
      name: "resident players",
      args: ["--expose-gc", fileURLToPath(import.meta.resolve("../targets/servers/residents.ts"))],
      environment: { DATABASE_URL: postgres.url(database), PLAYERS: String(players), BETS: String(bets) },
      messages: true
    })
    const weighed = yield* child.receive(ResidentsMessage).pipe(
      Effect.timeoutOrElse({
        duration: "20 minutes",
        orElse: () => Effect.fail(new BenchError({ message: `players are not loaded in time\n${child.output()}` }))
      })
    )
    endProgress()
    if (weighed.resident !== players) {
      return yield* new BenchError({ message: `${weighed.resident} of ${players} players are in memory` })
    }
    const stages = [
      { stage: "loaded, never active", weight: weighed.loaded },
      { stage: "after 1 bet each", weight: weighed.played },
      { stage: `after ${bets} bets each`, weight: weighed.full },
      { stage: "two minutes later, nobody asked", weight: weighed.resting }
    ].map(({ stage, weight }) => ({
      stage,
      bytes: Math.round((weight.heap_bytes - weighed.empty.heap_bytes) / players),
      weight
    }))
    const group = `${players.toLocaleString("en-US")} players`
    return {
      ...server,
      method: [
        `${group} loaded by the service's own loader into a process of their own, the heap weighed after garbage collection.`
      ],
      headlines: stages.filter((_, index) => index === 0 || index === 3).map(({ bytes, stage }) => ({
        value: `${bytes.toLocaleString("en-US")} bytes`,
        label: `of heap per player, ${stage}`
      })),
      measurements: stages.map(({ bytes, stage, weight }) => ({
        group,
        name: stage,
        figures: [
          figure("heap per player", "bytes", "lower", [bytes]),
          figure("heap", "MiB", "lower", [weight.heap_bytes / 2 ** 20]),
          figure("resident set", "MiB", "lower", [weight.rss_bytes / 2 ** 20])
        ],
        errors: {}
      }))
    }
  })
})
