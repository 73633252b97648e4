import { Console, Deferred, Effect, Exit, Schema, Scope } from "effect"
import { Flag } from "effect/cli"
import type { BenchError } from "../BenchError.ts"
import { openDataset, playersToBet } from "../data/Dataset.ts"
import * as Flags from "../Flags.ts"
import { startGenerator } from "../load/Generator.ts"
import type { Timeline } from "../load/Job.ts"
import { Books } from "../report/Balances.ts"
import { headlineOf } from "../report/Format.ts"
import { familyMicros, processMicros } from "../report/ProcessorTime.ts"
import { endProgress, showProgress } from "../report/Progress.ts"
import { figure, type Measurement } from "../report/Result.ts"
import { median } from "../report/Statistics.ts"
import { freePort } from "../targets/FreePort.ts"
import { startPitboss } from "../targets/Pitboss.ts"
import type { Postgres } from "../targets/Postgres.ts"
import { type Service, startService } from "../targets/Service.ts"
import { makeSignedClient, walletBalances } from "../targets/SignedClient.ts"
import type { Target } from "../targets/Target.ts"
import { checkBalances, checkedRound, roundNumbers } from "./Rounds.ts"
import { describeServer, scenario } from "./Scenario.ts"

/** Promised time from process start to readiness, with a million players, in ms. */
const readyLimitMs = 3000
const askEveryMs = 5
const slotMs = 20
const stake = 10

const Settled = Schema.Struct({ status: Schema.Literal("processed") })

interface Start {
  readonly readyMs: number
  readonly firstBetMs: number
  /** Processor time until the first bet was answered: it says more than the clock where others use the machine too. */
  readonly serviceMs: number
  readonly postgresMs: number
}

/** Time until the service is ready, and until it has answered one bet of a player not in memory. */
const timeStart = Effect.fnUntraced(function*(
  target: Target,
  postgres: Postgres,
  start: Effect.Effect<Service, BenchError, Scope.Scope>,
  player: number,
  id: string
) {
  const begun = performance.now()
  const postgresBefore = familyMicros(postgres.pid)
  const service = yield* start
  const readyMs = performance.now() - begun
  const client = yield* makeSignedClient(`http://${service.host}:${service.port}`, "x-provider-key", target.provider)
  yield* client.call("POST", "/api/v1/provider/wallet/bet", {
    request_id: id,
    transaction_id: id,
    round_id: id,
    session_token: target.players[player]?.sessionToken,
    game_id: target.gameId,
    amount: stake,
    currency: "EUR"
  }, Settled)
  const times: Start = {
    readyMs,
    firstBetMs: performance.now() - begun,
    serviceMs: processMicros(service.child.pid) / 1000,
    postgresMs: (familyMicros(postgres.pid) - postgresBefore) / 1000
  }
  return { service, times }
})

/** The longest stretch from slot `first` on in which nothing was answered: its slots, and the slot after it. */
export const longestStretch = (
  { processed }: Timeline,
  first = 0
): { readonly slots: number; readonly end: number } => {
  let [longest, current] = [{ slots: 0, end: first }, 0]
  for (const [index, count] of processed.entries()) {
    current = count === 0 && index >= first ? current + 1 : 0
    if (current > longest.slots) longest = { slots: current, end: index + 1 }
  }
  return longest
}

/** How long that stretch was, ms. */
export const longestSilence = (timeline: Timeline): number => longestStretch(timeline).slots * timeline.slot_ms

/** From `from` ms on, how long it takes until as much is answered in a stretch of time as usual before. */
export const backAtRate = ({ processed, slot_ms }: Timeline, from: number): number | undefined => {
  const width = Math.max(1, Math.round(200 / slot_ms))
  const sums = processed.map((_, index) =>
    index + width <= processed.length
      ? processed.slice(index, index + width).reduce((sum, count) => sum + count, 0)
      : -1
  )
  const kill = Math.floor(from / slot_ms)
  const usual = median(sums.slice(0, Math.max(1, kill - width)))
  const silent = processed.indexOf(0, kill)
  const back = sums.findIndex((sum, index) => index > Math.max(kill, silent) && sum >= 0.8 * usual)
  return back < 0 ? undefined : back * slot_ms - from
}

const single = (group: string, name: string, starts: ReadonlyArray<Start>): Measurement => ({
  group,
  name,
  figures: [
    figure("ready after", "ms", "lower", starts.map(({ readyMs }) => readyMs), readyLimitMs),
    figure("first bet after", "ms", "lower", starts.map(({ firstBetMs }) => firstBetMs), readyLimitMs),
    figure("CPU service", "ms", "lower", starts.map(({ serviceMs }) => serviceMs)),
    figure("CPU PostgreSQL", "ms", "lower", starts.map(({ postgresMs }) => postgresMs))
  ],
  errors: {}
})

const renderStart = ({ firstBetMs, readyMs }: Start): string =>
  `ready after ${readyMs.toFixed(0)} ms, first bet after ${firstBetMs.toFixed(0)} ms`

/**
 * How soon the service serves: started anew with a casino's year in the database, and again after `kill -9` while bets come in.
 * After each kill every acknowledged bet must be in the balances, and no bet that was refused.
 */
export const coldStartScenario = scenario({
  name: "coldstart",
  title: "Cold start: from the start of the process to serving",
  about: "From the start of the process to serving, also after kill -9",
  flags: {
    ...Flags.dataset(10_000_000),
    bettors: Flags.bettors(400, "players who bet"),
    rounds: Flags.rounds(5),
    connections: Flags.connections(64, 4096, "connections that bet when the service is killed"),
    seconds: Flags.seconds("seconds", "seconds of load before the kill", 0.5).pipe(Flag.withDefault(2)),
    secondsAfter: Flags.seconds("seconds-after", "seconds of load from the kill on", 1).pipe(Flag.withDefault(6))
  },
  plan: ({ bettors, entries, folder, rounds, seconds, secondsAfter }) => [
    "coldstart: starts and kills, the data first where there are none",
    15 + (folder === undefined ? entries / 30_000 : 0) + bettors / 150 + rounds * (seconds + secondsAfter + 4)
  ],
  measure: Effect.fnUntraced(function*(options, startedAt) {
    const dataset = yield* openDataset(options)
    const { made, postgres } = dataset
    const server = yield* describeServer(postgres)
    const ports = { port: yield* freePort, backofficePort: yield* freePort }
    const run = startedAt.getTime().toString(36)

    // a service of its own makes the bettors ready, and ends before the first start is timed
    const playerIds = yield* playersToBet(dataset, options.bettors)
    const prepared = yield* Effect.scoped(startPitboss(
      postgres,
      { players: options.bettors, currency: "EUR", openingBalance: 100_000_000 },
      showProgress,
      { dataset: { ...dataset, playerIds } }
    ))
    endProgress()

    const start = (scope: Scope.Scope) =>
      startService(prepared.environment, { ports, askEveryMs }).pipe(Scope.provide(scope))
    const books = new Books(options.bettors)
    const firstBet = (player: number) => {
      books.moved[player] = (books.moved[player] ?? 0) - stake
    }

    const cold: Array<Start> = []
    for (const round of roundNumbers(options.rounds)) {
      const player = round % options.bettors
      const { times } = yield* Effect.scoped(
        Effect.flatMap(Effect.scope, (scope) => timeStart(prepared, postgres, start(scope), player, `${run}-s${round}`))
      )
      firstBet(player)
      cold.push(times)
      yield* Console.log(`start ${round}/${options.rounds}  ${renderStart(times)}`)
    }

    // one scope per process, so that a killed one is let go
    const generator = yield* startGenerator(1)
    let scope = yield* Scope.make()
    yield* Effect.addFinalizer(() => Scope.close(scope, Exit.void))
    let current = yield* start(scope)
    const target: Target = {
      ...prepared,
      port: ports.port,
      pid: () => current.child.pid,
      balances: (count) =>
        Effect.scoped(Effect.flatMap(
          makeSignedClient(`http://${current.host}:${ports.port}`, "x-api-key", dataset.key),
          (client) => walletBalances(client, prepared.players.slice(0, count))
        )),
      work: Effect.undefined
    }
    const kills: Array<Start> = []
    const timelines: Array<Timeline> = []
    for (const round of roundNumbers(options.rounds)) {
      const label = `kill ${round}/${options.rounds}`
      const measuring = yield* Deferred.make<void>()
      const player = round % options.bettors
      const crash = Effect.gen(function*() {
        yield* Deferred.await(measuring)
        yield* Effect.sleep(options.seconds * 1000)
        const dying = scope
        yield* current.child.kill
        scope = yield* Scope.make()
        const again = yield* timeStart(target, postgres, start(scope), player, `${run}-k${round}`).pipe(
          Scope.provide(scope)
        )
        current = again.service
        yield* Scope.close(dying, Exit.void)
        return again.times
      })
      const [result, times] = yield* Effect.all([
        checkedRound(
          { target, postgres, generator, measuring: Effect.asVoid(Deferred.succeed(measuring, undefined)) },
          label,
          { players: prepared.players.length, idPrefix: `${run}-${round}`, seed: round },
          {
            connections: options.connections,
            warmUpSeconds: Math.min(1, options.seconds),
            measuredSeconds: options.seconds + options.secondsAfter,
            slotMs,
            reconnects: 1000
          }
        ),
        crash
      ], { concurrency: "unbounded" })
      firstBet(player)
      books.add(result)
      yield* checkBalances(target, prepared.players.length, books)
      kills.push(times)
      timelines.push(result.timeline)
      yield* Console.log(
        `${label}  ${renderStart(times)}, nothing answered for ${longestSilence(result.timeline)} ms, balances right`
      )
    }

    const back = timelines.flatMap((timeline) => backAtRate(timeline, options.seconds * 1000) ?? [])
    const group = `${made.players.toLocaleString("en-US")} players, ${made.entries.toLocaleString("en-US")} entries`
    const killed = single(group, "started after kill -9, under load", kills)
    const [timeline] = timelines
    const measurements: ReadonlyArray<Measurement> = [single(group, "started anew", cold), {
      ...killed,
      ...(timeline === undefined ? {} : { timeline }),
      figures: [
        ...killed.figures,
        figure("nothing answered for", "ms", "lower", timelines.map(longestSilence)),
        ...(back.length === 0 ? [] : [figure("at its rate again after", "ms", "lower", back)])
      ],
      errors: back.length < timelines.length ? { NOT_BACK_AT_ITS_RATE: timelines.length - back.length } : {}
    }]
    return {
      ...server,
      method: [
        `PostgreSQL runs; the service starts on ${group}. It is ready when /health/ready answers 200, asked every ${askEveryMs} ms.`,
        `kill -9 comes while ${options.connections} connections bet as fast as they can; another process is started at once at the same ` +
        "address. Afterwards every acknowledged bet is in the balances and no refused one."
      ],
      headlines: measurements.flatMap(({ figures: [first], name }) => headlineOf(first, `until ready, ${name}`)),
      measurements
    }
  })
})
