/** The commands of the bench suite and what they take. */
import { Console, Effect, Schema } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import type { TrafficKind } from "./load/Job.ts"
import { renderComparison } from "./report/Compare.ts"
import { renderHtml } from "./report/Html.ts"
import { readResult, writeReport } from "./report/Result.ts"
import { runBaselineTuning } from "./scenarios/BaselineTuning.ts"
import { runColdStart } from "./scenarios/ColdStart.ts"
import { runEngine, storeNames } from "./scenarios/Engine.ts"
import { runGrowth } from "./scenarios/Growth.ts"
import { runMemory } from "./scenarios/Memory.ts"
import { runAttacks } from "./scenarios/Attacks.ts"
import { runOverload } from "./scenarios/Overload.ts"
import { runRecovery } from "./scenarios/Recovery.ts"
import { type ReadsOptions, runReads, runReports } from "./scenarios/Reads.ts"
import { long, runSuite, short } from "./scenarios/Suite.ts"
import { mixNames, runTraffic, traffics } from "./scenarios/Traffic.ts"
import { runWebhooks } from "./scenarios/Webhooks.ts"
import { bestBaseline } from "./targets/Baseline.ts"
import { baselineStyles } from "./targets/servers/BaselineBets.ts"

const count = (name: string, description: string, maximum: number) =>
  Flag.Int(name).pipe(
    Flag.withSchema(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum }))),
    Flag.withDescription(description)
  )

const seconds = (name: string, description: string, minimum: number) =>
  Flag.Finite(name).pipe(
    Flag.withSchema(Schema.Finite.check(Schema.isBetween({ minimum, maximum: 3600 }))),
    Flag.withDescription(description)
  )

/** A comma-separated choice of words, each at most once and in the given order. */
const choice = <const Words extends ReadonlyArray<string>>(name: string, words: Words, description: string) =>
  Flag.String(name).pipe(
    Flag.withDescription(`${description}: ${words.join(",")}`),
    Flag.filter(
      (text) => text.split(",").every((word) => words.includes(word)),
      (text) => `${text}: expected some of ${words.join(",")}`
    ),
    Flag.map((text): ReadonlyArray<Words[number]> => words.filter((word) => text.split(",").includes(word))),
    Flag.withDefault(words)
  )

/** Comma-separated whole numbers from 1 to `maximum`. */
const counts = (name: string, description: string, defaults: ReadonlyArray<number>, maximum: number) =>
  Flag.String(name).pipe(
    Flag.withDescription(description),
    Flag.map((text) => text.split(",").map(Number)),
    Flag.filter(
      (values) => values.every((value) => Number.isInteger(value) && value >= 1 && value <= maximum),
      () => `expected whole numbers from 1 to ${maximum}, separated by commas`
    ),
    Flag.withDefault(defaults)
  )

const rounds = (standard: number) =>
  count("rounds", "rounds of each thing that is measured", 1000).pipe(Flag.withDefault(standard))

const maxForeignLoad = count(
  "max-foreign-load",
  "run a round again when other processes took more of the machine than this percentage; 100 accepts all",
  100
).pipe(Flag.withDefault(100))

const time = {
  rounds: rounds(5),
  seconds: seconds("seconds", "measured seconds of a round", 0.2).pipe(Flag.withDefault(5)),
  warmUpSeconds: seconds("warm-up", "seconds of load before a round is measured", 0).pipe(Flag.withDefault(2)),
  maxForeignLoad
}

const someLoad = {
  ...time,
  players: count("players", "players of the mix `many`", 1_000_000).pipe(Flag.withDefault(10_000)),
  generators: count("generators", "load generator processes", 16).pipe(Flag.withDefault(1))
}

const load = {
  ...someLoad,
  connections: count("connections", "connections of the load generator", 4096).pipe(Flag.withDefault(128))
}

const traffic = (kind: TrafficKind) => {
  const { scenario, targets, title } = traffics[kind]
  return Command.make(scenario, {
    ...load,
    targets: choice("targets", targets, "what to measure"),
    mixes: choice("mix", mixNames, "whose requests: many players, ten hot ones, one hot one"),
    ratePerSecond: Flag.Finite("rate").pipe(
      Flag.withSchema(Schema.Finite.check(Schema.isBetween({ minimum: 1, maximum: 1_000_000 }))),
      Flag.withDescription("requests per second of an open loop; without it, the closed loop"),
      Flag.map((rate): number | null => rate),
      Flag.withDefault(null)
    ),
    cpuProfile: Flag.Boolean("cpu-prof").pipe(
      Flag.withDescription("profile the service in the measured seconds and print where its time goes"),
      Flag.withDefault(false)
    ),
    style: Flag.Literals("baseline-style", baselineStyles).pipe(
      Flag.withDescription("how the baseline talks to PostgreSQL"),
      Flag.withDefault(bestBaseline.style)
    ),
    poolSize: count("baseline-pool", "the baseline's connections to PostgreSQL", 90).pipe(
      Flag.withDefault(bestBaseline.poolSize)
    )
  }, ({ poolSize, style, ...options }) => runTraffic(kind, { ...options, baseline: { style, poolSize } })).pipe(
    Command.withDescription(title)
  )
}

const baseline = Command.make("baseline", {
  ...someLoad,
  poolSizes: counts("pools", "sizes of the pool to PostgreSQL", [4, 8, 16, 24, 32, 48], 90),
  connectionCounts: counts("connections", "connections of the load generator", [16, 64, 128, 256], 4096),
  styles: choice("baseline-style", baselineStyles, "how the baseline talks to PostgreSQL")
}, runBaselineTuning).pipe(
  Command.withDescription("Which way of working, pool size and number of connections suit the baseline best")
)

const engine = Command.make("engine", {
  ...time,
  stores: choice("stores", storeNames, "where the journal writes"),
  callers: count("callers", "callers inside the process", 100_000).pipe(Flag.withDefault(256)),
  players: count("players", "players of the mix `many`", 1_000_000).pipe(Flag.withDefault(10_000))
}, runEngine).pipe(Command.withDescription("Actors and journal without HTTP, over PostgreSQL and over memory"))

const memory = Command.make("memory", {
  players: count("players", "players to hold in memory", 250_000).pipe(Flag.withDefault(100_000)),
  bets: count("bets", "bets of each player before the last weighing", 100).pipe(Flag.withDefault(16))
}, runMemory).pipe(
  Command.withDescription("Heap per resident idle player, loaded from PostgreSQL by the service's own loader")
)

const webhooks = Command.make("webhooks", {
  endpoints: count("endpoints", "endpoints, each of an operator of its own", 500).pipe(Flag.withDefault(50)),
  hanging: count("hanging", "endpoints among them that never answer", 100).pipe(Flag.withDefault(1)),
  events: count("events", "events of each operator in a round", 100_000).pipe(Flag.withDefault(200)),
  rounds: rounds(5),
  maxForeignLoad
}, runWebhooks).pipe(
  Command.withDescription("Events to endpoints: deliveries per second while some endpoints never answer")
)

/** The generated casino that some scenarios need. */
const data = (entries: number) => ({
  players: count("players", "players to generate", 5_000_000).pipe(Flag.withDefault(1_000_000)),
  entries: count("entries", "ledger entries to generate, about", 50_000_000).pipe(Flag.withDefault(entries)),
  folder: Flag.String("data").pipe(
    Flag.withDescription("keep the generated database in this folder, or use the one that is there, whatever its size"),
    Flag.map((folder): string | undefined => folder),
    Flag.withDefault(undefined)
  )
})

const reading = {
  ...data(10_000_000),
  connections: counts("connections", "connections of the closed loop, one measurement each", [1, 8], 256),
  rounds: rounds(3),
  repetitions: count("repetitions", "answers measured per read, number of connections and round", 100_000).pipe(
    Flag.withDefault(100)
  ),
  maxForeignLoad
}

const verify = Flag.Boolean("verify").pipe(Flag.withDescription("prove the ledger at the end"), Flag.withDefault(false))

const readings = (name: string, run: (options: ReadsOptions) => ReturnType<typeof runReads>, description: string) =>
  Command.make(name, { ...reading, verify }, run).pipe(Command.withDescription(description))

const growth = Command.make("growth", {
  ...data(20_000_000),
  ...time,
  bettors: count("bettors", "players who bet, in each database", 100_000).pipe(Flag.withDefault(2000)),
  connections: count("connections", "connections of the load generator", 4096).pipe(Flag.withDefault(128))
}, runGrowth).pipe(Command.withDescription("Bets against an empty ledger and against millions of entries"))

const coldstart = Command.make("coldstart", {
  ...data(10_000_000),
  bettors: count("bettors", "players who bet", 100_000).pipe(Flag.withDefault(400)),
  rounds: rounds(5),
  connections: count("connections", "connections that bet when the service is killed", 4096).pipe(Flag.withDefault(64)),
  seconds: seconds("seconds", "seconds of load before the kill", 0.5).pipe(Flag.withDefault(2)),
  secondsAfter: seconds("seconds-after", "seconds of load from the kill on", 1).pipe(Flag.withDefault(6))
}, runColdStart).pipe(Command.withDescription("From the start of the process to serving, also after kill -9"))

const overload = Command.make("overload", {
  players: count("players", "players who bet", 100_000).pipe(Flag.withDefault(1000)),
  connections: count("connections", "connections of the open loop", 8192).pipe(Flag.withDefault(2000)),
  rounds: rounds(3),
  seconds: seconds("seconds", "seconds of each phase", 0.5).pipe(Flag.withDefault(5)),
  factor: count("factor", "how many times the capacity is offered", 20).pipe(Flag.withDefault(3)),
  patienceMs: count("patience-ms", "callers give up what could not be sent for so long", 60_000).pipe(
    Flag.withDefault(1000)
  ),
  maxForeignLoad
}, runOverload).pipe(Command.withDescription("Several times what the service can do: latency, refusals, recovery"))

const attacks = Command.make("attacks", {
  players: count("players", "players who bet", 100_000).pipe(Flag.withDefault(200)),
  connections: count("connections", "connections of the open loop", 4096).pipe(Flag.withDefault(32)),
  perSecond: count("per-second", "bets per second", 100_000).pipe(Flag.withDefault(300)),
  seconds: seconds("seconds", "seconds of each measurement", 0.5).pipe(Flag.withDefault(4)),
  maxForeignLoad
}, runAttacks).pipe(
  Command.withDescription("Bets beside attacks of strangers, players and providers: how much later they are answered")
)

const recovery = Command.make("recovery", {
  players: count("players", "players who bet", 100_000).pipe(Flag.withDefault(10_000)),
  connections: count("connections", "connections that bet when both are killed", 4096).pipe(Flag.withDefault(128)),
  rounds: rounds(1),
  seconds: seconds("seconds", "seconds of load before the kill", 1).pipe(Flag.withDefault(120)),
  settings: Flag.String("settings").pipe(
    Flag.withDescription("settings of PostgreSQL that win over the service's own: name=value;name=value"),
    Flag.withDefault("")
  )
}, runRecovery).pipe(
  Command.withDescription("Until ready after service and PostgreSQL were killed together under full load")
)

const dataFolder = data(1).folder

const suite = Command.make("suite", {
  isLong: Flag.Boolean("long").pipe(
    Flag.withDescription("everything with a million players, about an hour; else the short one, about six minutes"),
    Flag.withDefault(false)
  ),
  folder: dataFolder
}, ({ folder, isLong }) => {
  const size = isLong ? long : short
  return runSuite({ ...size, dataset: { ...size.dataset, folder } })
}).pipe(Command.withDescription("All scenarios one after the other, and one page with all of them"))

const compare = Command.make(
  "compare",
  {
    before: Argument.String("before"),
    after: Argument.String("after")
  },
  Effect.fnUntraced(function*({ after, before }) {
    yield* Console.log(renderComparison(yield* readResult(before), yield* readResult(after)))
  })
).pipe(
  Command.withDescription("Two results of one scenario: ratios, and whether they are beyond the noise (also --compare)")
)

const page = Command.make(
  "page",
  {
    results: Argument.String("results").pipe(Argument.variadic({ min: 1 }))
  },
  Effect.fnUntraced(function*({ results }) {
    const read = yield* Effect.forEach(results, readResult)
    yield* Console.log(yield* writeReport(new Date().toISOString(), "page.html", renderHtml(read)))
  })
).pipe(Command.withDescription("One page with several results"))

export const all = [
  suite,
  traffic("bet"),
  traffic("bet-win"),
  traffic("session"),
  traffic("deposit"),
  traffic("play"),
  readings("reads", runReads, "How fast operators' reads are among millions of players and ledger entries"),
  readings("reports", runReports, "The GGR report over a day, a month and a year, of a generated casino"),
  engine,
  webhooks,
  overload,
  attacks,
  coldstart,
  recovery,
  growth,
  memory,
  baseline,
  compare,
  page
] as const
