import { Console, Effect } from "effect"
import { fileURLToPath } from "node:url"
import { BenchError } from "../BenchError.ts"
import { mergeHistograms, summarize } from "../load/Latency.ts"
import { readProcessors, undisturbed, usageBetween } from "../load/Quiet.ts"
import { formatValue, headlineOf } from "../report/Format.ts"
import { describeMachine } from "../report/Machine.ts"
import { endProgress, showProgress } from "../report/Progress.ts"
import { curveOf, figure, type Measurement } from "../report/Result.ts"
import { addHistograms, latencyFigures, middleRound } from "../report/TrafficReport.ts"
import { type Child, startChild } from "../targets/Child.ts"
import { type EngineJob, EngineMessage } from "../targets/EngineMessage.ts"
import { type Postgres, readSettings, startPostgres } from "../targets/Postgres.ts"
import { announce, publish } from "./Findings.ts"

export const storeNames = ["postgres", "memory"] as const
export type StoreName = (typeof storeNames)[number]

export interface EngineOptions {
  readonly stores: ReadonlyArray<StoreName>
  readonly callers: number
  readonly players: number
  readonly rounds: number
  readonly seconds: number
  readonly warmUpSeconds: number
  /** Percent of the processors. */
  readonly maxForeignLoad: number
}

const slotMs = 100

const attempt = Effect.fnUntraced(function*(child: Child, postgres: Postgres, job: EngineJob) {
  const parties = { service: child.pid, postgres: postgres.pid, generators: [] }
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
        failed: message.failed,
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
  const failed = values((round) => round.failed).reduce((sum, count) => sum + count, 0)
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
    errors: failed === 0 ? {} : { REFUSED: failed }
  }
}

/**
 * Bets asked of the actors by callers in their own process: what the engine and the rules cost without HTTP, with the journal on
 * PostgreSQL and with a store in memory. Every balance is checked after every round.
 */
export const runEngine = Effect.fn("runEngine")(
  function*(options: EngineOptions) {
    const startedAt = new Date()
    const mixes = [...new Set([options.players, 1])]
    const count = options.rounds * options.stores.length * mixes.length
    yield* announce(
      `engine: ${count} rounds of ${options.warmUpSeconds} + ${options.seconds} s`,
      8 + count * (options.seconds + options.warmUpSeconds + 0.5)
    )
    const postgres = yield* startPostgres()
    const machine = describeMachine(postgres.folder)
    yield* postgres.query("postgres", "CREATE DATABASE engine")
    const start = (store: StoreName) =>
      Effect.gen(function*() {
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
    const all = new Map<string, Array<EngineRound>>()
    for (let round = 1; round <= options.rounds; round++) {
      for (const players of mixes) {
        for (const store of options.stores) {
          const label = `round ${round}/${options.rounds}  ${players === 1 ? "one" : "many"}  ${names[store]}`
          showProgress(label)
          const last = yield* runRound(store, players, round)
          const key = `${players} ${store}`
          all.set(key, [...all.get(key) ?? [], last])
          endProgress()
          const { p50_ms, p99_ms } = summarize(last.latency)
          yield* Console.log(
            `${label}  ${formatValue("/s", last.perSecond).padStart(8)}/s  p50 ${formatValue("ms", p50_ms)} ms  ` +
              `p99 ${formatValue("ms", p99_ms)} ms  foreign load ${Math.round(last.foreignShare * 100)}%`
          )
        }
      }
    }
    const measurements = mixes.flatMap((players) =>
      options.stores.map((store) =>
        measure(
          players === 1 ? "one hot player" : `${players.toLocaleString("en-US")} players`,
          store,
          all.get(`${players} ${store}`) ?? []
        )
      )
    )
    return yield* publish({
      scenario: "engine",
      title: "Engine: actors and journal without HTTP",
      method: [
        `${options.callers} callers inside the process, each betting again when it is answered; ${options.rounds} rounds of ` +
        `${options.seconds} s after ${options.warmUpSeconds} s of warm-up, stores in turn; every balance checked after every round.`
      ],
      startedAt,
      machine,
      postgres: yield* readSettings(postgres),
      options: { ...options },
      headlines: measurements.flatMap(({ figures: [first], group, name }) =>
        headlineOf(first, `bets, ${name}, ${group}`)
      ),
      measurements
    })
  },
  Effect.scoped,
  Effect.ensuring(Effect.sync(endProgress))
)
