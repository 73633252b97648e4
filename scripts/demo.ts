// Plays against the running service and checks every answer: npm run demo -- --help
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Clock, Console, Effect, Layer, Random, Schema } from "effect"
import { Command, Flag } from "effect/cli"
import { FetchHttpClient, HttpClient } from "effect/http"
import { randomInt } from "node:crypto"
import { DemoError } from "./demo/DemoError.ts"
import { print, printBalances, printPlayed, printVerdict, printVerification, withProgress } from "./demo/Report.ts"
import { findService, seat } from "./demo/Setup.ts"
import { playStory } from "./demo/Stories.ts"
import type { Table } from "./demo/Table.ts"
import { makePace, Tally } from "./demo/Tally.ts"
import { playVendor, vendorNames } from "./demo/Vendor.ts"

const number = (flag: Flag.Flag<number>, minimum: number, maximum: number, description: string) =>
  flag.pipe(
    Flag.withSchema(Schema.Finite.check(Schema.isBetween({ minimum, maximum }))),
    Flag.withDescription(description)
  )

const flags = {
  ratePerSecond: number(Flag.Finite("rate"), 0.1, 10_000, "Requests per second (50)").pipe(Flag.withDefault(50)),
  seconds: number(Flag.Finite("seconds"), 0.1, 86_400, "How long to play (15)").pipe(Flag.withDefault(15)),
  players: number(Flag.Int("players"), 1, 1000, "Players who play at the same time (5)").pipe(Flag.withDefault(5)),
  seed: number(Flag.Int("seed"), 0, 2 ** 31 - 1, "What is played follows from it (a new one)").pipe(Flag.optional),
  protocol: Flag.String("protocol").pipe(
    Flag.withDescription(`Play a vendor's protocol instead of Pitboss's own: ${vendorNames.join(", ")}`),
    Flag.optional
  ),
  url: Flag.String("url").pipe(
    Flag.withDescription(
      "The service (http://HOST:PORT of the service's settings), or several nodes of it in turn, comma-separated"
    ),
    Flag.optional
  )
}

/** Runs stories one after the other until the time is over. A started story is completed. */
const play = Effect.fnUntraced(function*(table: Table, tally: Tally, end_ms: number) {
  while ((yield* Clock.currentTimeMillis) < end_ms) tally.countStory(yield* playStory(table))
})

const demo = Command.make("demo", flags, (input) =>
  Effect.gen(function*() {
    const { players, ratePerSecond, seconds } = input
    const service = yield* findService(input.url)
    const seed = input.seed._tag === "Some" ? input.seed.value : randomInt(2 ** 31)
    yield* print(
      `Pitboss at ${service.url}: ${players} players, ${ratePerSecond} requests a second for ${seconds} s, seed ${seed}\n`
    )
    const run = (yield* Clock.currentTimeMillis).toString(36) + randomInt(36 ** 2).toString(36)
    if (input.protocol._tag === "Some") {
      const name = input.protocol.value
      const vendor = { name, service, run, players, callsPerSecond: ratePerSecond, seconds, seed }
      const differences = yield* playVendor(vendor)
      const tally = new Tally()
      yield* printVerification(tally)
      if (differences > 0) {
        tally.violate(`${differences} answers differ from what the vendor's description says, see above`)
      }
      yield* printVerdict(tally)
      if (tally.violations.length === 0) return
      return yield* new DemoError({ message: "the service and the protocol disagree" })
    }
    const tally = new Tally()
    const pace = makePace(ratePerSecond)
    const numbers = Array.from({ length: players }, (_, index) => index + 1)
    const tables = yield* Effect.forEach(numbers, (number) => seat({ number, pace, run, service, tally }), {
      concurrency: 8
    })
    yield* print(`${players} players registered, each with a deposit and a game open.\n`)
    const end_ms = (yield* Clock.currentTimeMillis) + seconds * 1000
    yield* withProgress(
      tally,
      Effect.forEach(
        tables,
        (table, index) => Random.withSeed(play(table, tally, end_ms), `${seed} ${index}`),
        { concurrency: "unbounded", discard: true }
      )
    )
    yield* printPlayed(tally, service)
    yield* printBalances(service, tables, tally)
    yield* printVerification(tally)
    yield* printVerdict(tally)
    if (tally.violations.length > 0) return yield* new DemoError({ message: "the service and the contract disagree" })
  }).pipe(Effect.scoped)).pipe(
    Command.withDescription("Registers players, plays rounds with everything that goes wrong, checks every answer")
  )

demo.pipe(
  Command.run({ version: "1" }),
  Effect.tapErrorTag("DemoError", (error) => Console.error(`demo: ${error.message}`)),
  Effect.provide(Layer.mergeAll(FetchHttpClient.layer, NodeServices.layer)),
  Effect.provideService(HttpClient.TracerPropagationEnabled, false),
  NodeRuntime.runMain
)
