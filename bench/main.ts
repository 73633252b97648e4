// The bench suite: npm run bench -- --help
import { NodeRuntime, NodeServices } from "@effect/platform-node"
import { Console, Effect, Schema } from "effect"
import { Command, Flag } from "effect/cli"
import { runBaselineTuning } from "./scenarios/BaselineTuning.ts"
import { mixNames, runBets } from "./scenarios/Bets.ts"
import { runMemory } from "./scenarios/Memory.ts"
import { runReads } from "./scenarios/Reads.ts"
import { runWebhooks } from "./scenarios/Webhooks.ts"
import { bestBaseline } from "./targets/Baseline.ts"
import { baselineStyles } from "./targets/servers/BaselineBets.ts"
import { targetNames } from "./targets/Target.ts"

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

const load = {
  rounds: count("rounds", "rounds per target and mix", 1000).pipe(Flag.withDefault(5)),
  seconds: seconds("seconds", "measured seconds of a round", 0.5).pipe(Flag.withDefault(5)),
  warmUpSeconds: seconds("warm-up", "seconds of load before a round is measured", 0).pipe(Flag.withDefault(2)),
  players: count("players", "players of the mix `many`", 1_000_000).pipe(Flag.withDefault(10_000)),
  generators: count("generators", "load generator processes", 16).pipe(Flag.withDefault(1)),
  maxForeignLoad: count(
    "max-foreign-load",
    "run a round again when other processes took more of the machine than this percentage; 100 accepts all",
    100
  ).pipe(Flag.withDefault(100))
}

const bets = Command.make("bets", {
  ...load,
  targets: choice("targets", targetNames, "what to measure"),
  mixes: choice("mix", mixNames, "whose bets: many players, ten hot ones, one hot one"),
  connections: count("connections", "connections of the load generator", 4096).pipe(Flag.withDefault(64)),
  ratePerSecond: Flag.Finite("rate").pipe(
    Flag.withSchema(Schema.Finite.check(Schema.isBetween({ minimum: 1, maximum: 1_000_000 }))),
    Flag.withDescription("bets per second of an open loop; without it, the closed loop"),
    Flag.map((rate): number | null => rate),
    Flag.withDefault(null)
  ),
  style: Flag.Literals("baseline-style", baselineStyles).pipe(
    Flag.withDescription("how the baseline talks to PostgreSQL"),
    Flag.withDefault(bestBaseline.style)
  ),
  poolSize: count("baseline-pool", "the baseline's connections to PostgreSQL", 90).pipe(
    Flag.withDefault(bestBaseline.poolSize)
  )
}, ({ poolSize, style, ...options }) => runBets({ ...options, baseline: { style, poolSize } })).pipe(
  Command.withDescription("Signed, durable bets over REST: the service against a baseline and a ceiling")
)

const baseline = Command.make("baseline", {
  ...load,
  poolSizes: counts("pools", "sizes of the pool to PostgreSQL", [4, 8, 16, 24, 32, 48], 90),
  connectionCounts: counts("connections", "connections of the load generator", [16, 64, 128, 256], 4096),
  styles: choice("baseline-style", baselineStyles, "how the baseline talks to PostgreSQL")
}, runBaselineTuning).pipe(
  Command.withDescription("Which way of working, pool size and number of connections suit the baseline best")
)

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
  rounds: count("rounds", "rounds", 1000).pipe(Flag.withDefault(5))
}, runWebhooks).pipe(
  Command.withDescription("Events to endpoints: deliveries per second while some endpoints never answer")
)

const reads = Command.make("reads", {
  players: count("players", "players to generate", 5_000_000).pipe(Flag.withDefault(1_000_000)),
  entries: count("entries", "ledger entries to generate, about", 50_000_000).pipe(Flag.withDefault(10_000_000)),
  connections: counts("connections", "connections of the closed loop, one measurement each", [1, 8], 256),
  repetitions: count("repetitions", "answers that are measured per case and number of connections", 100_000).pipe(
    Flag.withDefault(300)
  ),
  verify: Flag.Boolean("verify").pipe(
    Flag.withDescription("prove the generated ledger at the end"),
    Flag.withDefault(true)
  )
}, runReads).pipe(
  Command.withDescription("How fast operators' reads are among millions of players and ledger entries")
)

Command.make("bench").pipe(
  Command.withDescription("Measures the service. Figures are comparable within one run only: see docs/benchmarks.md"),
  Command.withSubcommands([bets, reads, baseline, memory, webhooks]),
  Command.run({ version: "1.0.0" }),
  Effect.tapErrorTag("BenchError", (error) => Console.error(`bench: ${error.message}`)),
  Effect.provide(NodeServices.layer),
  NodeRuntime.runMain
)
