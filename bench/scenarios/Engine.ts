import { Console, Effect } from "effect"
import { Flag } from "effect/cli"
import { fileURLToPath } from "node:url"
import { BenchError } from "../BenchError.ts"
import * as Flags from "../Flags.ts"
import { mergeHistograms } from "../load/Latency.ts"
import { addCounts } from "../load/Round.ts"
import { readProcessors, undisturbed, usageBetween } from "../load/Quiet.ts"
import { headlineOf } from "../report/Format.ts"
import { endProgress, showProgress } from "../report/Progress.ts"
import { curveOf, figure, type Measurement } from "../report/Result.ts"
import { addHistograms, latencyFigures, middleRound } from "../report/TrafficReport.ts"
import { type Child, startChild } from "../targets/Child.ts"
import { type EngineJob, EngineMessage } from "../targets/EngineMessage.ts"
import { type Postgres, startPostgres } from "../targets/Postgres.ts"
import { renderRound, roundNumbers } from "./Rounds.ts"
import { describeServer, scenario } from "./Scenario.ts"

export const storeNames = ["postgres", "memory"] as const
type StoreName = (typeof storeNames)[number]

const slotMs = 100

const attempt = Effect.fnUntraced(function*(child: Child, postgres: Postgres, job: EngineJob) {
  const parties = { service: [child.pid], postgres: postgres.pid, generators: [] }
  let before = readProcessors(parties)
  let after = before
  yield* child.send(job)
  while (true) {
    const message = yield* child.receive(EngineMessage)
    if (message.type === "measuring") before = readProcessors(parties)
    else if (message.type === "measured") after = readProcessors(parties)
    else if (message.type === "ran") {
      if (message.wrong.length > 0) {
        return yield* new BenchError({ message: `${child.name}: wrong balances of ${message.wrong.join(", ")}` })
      }
      const usage = usageBetween(before, after)
      const bets = Math.max(1, message.processed * usage.seconds / job.measuredSeconds)
      return {
        perSecond: message.processed / job.measuredSeconds,
        latency: mergeHistograms([message.latency]),
        timeline: message.timeline,
        errors: message.failed === 0 ? {} : { REFUSED: message.failed },
        serviceMicros: usage.service / bets,
        postgresMicros: usage.postgres / bets,
        unitsPerCommit: message.commits > 0 ? message.units / message.commits : 0,
        foreignShare: usage.foreignShare
      }
    }
  }
})

type EngineRound = Effect.Success<ReturnType<typeof attempt>>

const names: Readonly<Record<StoreName, string>> = {
  postgres: "journal on PostgreSQL",
  memory: "store in memory"
}

const measure = (group: string, store: StoreName, rounds: ReadonlyArray<EngineRound>): Measurement => {
  const values = (pick: (round: EngineRound) => number) => rounds.map(pick)
  const middle = middleRound(rounds)
  return {
    group,
    name: names[store],
    figures: [
      figure("bets", "/s", "higher", values(({ perSecond }) => perSecond)),
      ...latencyFigures(rounds.map(({ latency }) => latency)),
      figure("CPU engine", "µs", "lower", values(({ serviceMicros }) => serviceMicros)),
      ...(store === "postgres"
        ? [figure("CPU PostgreSQL", "µs", "lower", values(({ postgresMicros }) => postgresMicros))]
        : []),
      figure("units per commit", "", "neither", values(({ unitsPerCommit }) => unitsPerCommit)),
      figure("foreign load", "%", "neither", values(({ foreignShare }) => foreignShare * 100))
    ],
    curve: curveOf(addHistograms(rounds.map(({ latency }) => latency))),
    ...(middle === undefined ? {} : { timeline: middle.timeline }),
    errors: addCounts(rounds)
  }
}

/**
 * Bets sent to the actors by in-process callers: cost of the engine and the rules without HTTP, with the journal on
 * PostgreSQL and with a store in memory. Every balance is checked after every round.
 */
export const engineScenario = scenario({
  name: "engine",
  title: "Engine: actors and journal without HTTP",
  about: "Actors and journal without HTTP, over PostgreSQL and over memory",
  flags: {
    ...Flags.time,
    stores: Flags.choice("stores", storeNames, "where the journal writes"),
    callers: Flags.count("callers", "callers inside the process", 100_000).pipe(Flag.withDefault(256)),
    players: Flags.players(10_000, 1_000_000, "players of the mix `many`")
  },
  plan: ({ players, rounds, seconds, stores, warmUpSeconds }) => {
    const count = rounds * stores.length * (players === 1 ? 1 : 2)
    return [`engine: ${count} rounds of ${warmUpSeconds} + ${seconds} s`, 8 + count * (seconds + warmUpSeconds + 0.5)]
  },
  measure: Effect.fnUntraced(function*(options) {
    const mixes = [...new Set([options.players, 1])]
    const postgres = yield* startPostgres()
    const server = yield* describeServer(postgres)
    yield* postgres.query("postgres", "CREATE DATABASE engine")
    const start = Effect.fnUntraced(function*(store: StoreName) {
      showProgress(`starting the engine with its ${names[store]}`)
      const child = yield* startChild({
        name: `engine, ${names[store]}`,
        args: ["--max-old-space-size=8192", fileURLToPath(import.meta.resolve("../targets/servers/engine.ts"))],
        environment: { STORE: store, DATABASE_URL: postgres.url("engine"), PLAYERS: String(options.players) },
        messages: true
      })
      yield* child.receive(EngineMessage)
      return child
    })
    const lasting = options.stores.includes("postgres") ? yield* start("postgres") : undefined
    const runRound = Effect.fnUntraced(function*(store: StoreName, players: number, round: number) {
      // the store in memory forgets nothing: every round has a process of its own
      const child = store === "postgres" && lasting !== undefined ? lasting : yield* start(store)
      const { last } = yield* undisturbed(options.maxForeignLoad / 100, (number) =>
        attempt(child, postgres, {
          players,
          callers: options.callers,
          warmUpSeconds: options.warmUpSeconds,
          measuredSeconds: options.seconds,
          slotMs,
          idPrefix: `${round}-${players}-${number}`,
          seed: round
        }))
      return last
    }, Effect.scoped)
    const all: Array<EngineRound & { readonly players: number; readonly store: StoreName }> = []
    for (const round of roundNumbers(options.rounds)) {
      for (const players of mixes) {
        for (const store of options.stores) {
          const label = `round ${round}/${options.rounds}  ${players === 1 ? "one" : "many"}  ${names[store]}`
          showProgress(label)
          const last = yield* runRound(store, players, round)
          all.push({ ...last, players, store })
          endProgress()
          yield* Console.log(`${label}  ${renderRound(last)}`)
        }
      }
    }
    const measurements = mixes.flatMap((players) =>
      options.stores.map((store) =>
        measure(
          players === 1 ? "one hot player" : `${players.toLocaleString("en-US")} players`,
          store,
          all.filter((round) => round.players === players && round.store === store)
        )
      )
    )
    return {
      ...server,
      method: [
        `${options.callers} callers inside the process, each betting again when it is answered; ${options.rounds} rounds of ` +
        `${options.seconds} s after ${options.warmUpSeconds} s of warm-up, stores in turn; every balance checked after every round.`
      ],
      headlines: measurements.flatMap(({ figures: [first], group, name }) =>
        headlineOf(first, `bets, ${name}, ${group}`)
      ),
      measurements
    }
  })
})
