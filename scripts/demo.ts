// Plays against the running service and checks every answer: npm run demo -- --help
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Clock, Console, Effect, Layer, Queue, Schema } from "effect"
import { Command, Flag } from "effect/cli"
import { HttpClient } from "effect/http"
import { randomInt } from "node:crypto"
import * as Services from "../src/client/Services.ts"
import { standardOutput } from "../src/platform/Output.ts"
import { runTyped } from "../src/platform/Usage.ts"
import { openCasino } from "./casino/Setup.ts"
import { enter } from "./demo/Accounts.ts"
import { connect, vendorNames } from "./demo/Connection.ts"
import { enterJurisdiction, jurisdictionNames } from "./demo/Jurisdiction.ts"
import { printBalances, printVerification } from "./demo/Report.ts"
import { findService, type Service } from "./demo/Service.ts"
import { makeDialect } from "./simulators/Dialects.ts"
import { type Entrant, play } from "./simulators/Play.ts"
import { print, printCounts, printPlayed, printVerdict } from "./simulators/Report.ts"
import { makePace, RunStats } from "./simulators/RunStats.ts"
import { SimulatorError } from "./simulators/SimulatorError.ts"

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
  jurisdiction: Flag.String("jurisdiction").pipe(
    Flag.withDescription(`Play as an operator under the rules of a jurisdiction: ${jurisdictionNames.join(", ")}`),
    Flag.optional
  ),
  casino: Flag.Boolean("casino").pipe(
    Flag.withDescription("Serve a casino to play in, on 127.0.0.1:8090 (CASINO_PORT), instead of playing"),
    Flag.withDefault(false)
  ),
  url: Flag.String("url").pipe(
    Flag.withDescription(
      "The service (http://HOST:PORT of the service's settings), or several nodes of it in turn, comma-separated"
    ),
    Flag.optional
  )
}

interface Run {
  readonly service: Service
  readonly stats: RunStats
  readonly pace: Effect.Effect<void>
  /** Unique to the run. */
  readonly run: string
  readonly players: number
}

/** The players of a run at the demo provider, which speaks Pitboss's own protocol. */
const openOwn = Effect.fnUntraced(function*({ pace, players, run, service, stats }: Run) {
  const opened = yield* Queue.unbounded<Entrant>()
  const numbers = Array.from({ length: players }, (_, index) => index + 1)
  const entered = yield* Effect.forEach(numbers, (number) => enter({ number, pace, run, service, stats }), {
    concurrency: 8
  })
  for (const { entrant } of entered) Queue.offerUnsafe(opened, entrant)
  const connection = {
    url: `${service.url}/api/v1/provider/wallet`,
    dialect: yield* makeDialect("pitboss", service.provider),
    opened,
    grants: new Map(),
    notePlayed: () => {}
  }
  return { connection, accounts: entered.map(({ account }) => account) }
})

const demo = Command.make("demo", flags, (input) =>
  Effect.gen(function*() {
    const { players, ratePerSecond, seconds } = input
    const stats = new RunStats()
    const found = yield* findService(input.url, stats)
    if (input.casino) return yield* openCasino(found.url)
    const seed = input.seed._tag === "Some" ? input.seed.value : randomInt(2 ** 31)
    yield* print(
      `Pitboss at ${found.url}: ${players} players, ${ratePerSecond} requests a second for ${seconds} s, seed ${seed}\n`
    )
    const run = (yield* Clock.currentTimeMillis).toString(36) + randomInt(36 ** 2).toString(36)
    const pace = makePace(ratePerSecond)
    const { excludeOne, service } = input.jurisdiction._tag === "Some"
      ? yield* enterJurisdiction({ code: input.jurisdiction.value, run, service: found, stats })
      : { excludeOne: undefined, service: found }
    const { accounts, connection } = input.protocol._tag === "Some"
      ? { accounts: [], connection: yield* connect({ name: input.protocol.value, service, run, players }) }
      : yield* openOwn({ service, stats, pace, run, players })
    yield* print(`${players} players registered, each with a deposit and a game open.\n`)
    const played = yield* play({
      ...connection,
      players,
      callsPerSecond: ratePerSecond,
      seconds,
      seed,
      progress: standardOutput,
      stats,
      pace
    }).pipe(Effect.provideService(HttpClient.HttpClient, service.http))
    const { served } = service.nodes
    if (served.size > 0) yield* printCounts("Served by the node that owns the player", ["calls", "node"], served)
    yield* printPlayed(stats)
    const playing = accounts.flatMap((account) => {
      const player = played.sessions.find(({ name }) => name === account.username)
      return player === undefined ? [] : [{ account, player }]
    })
    if (playing.length > 0) yield* printBalances(service, playing, stats)
    const [account] = accounts
    if (account !== undefined && excludeOne !== undefined) yield* excludeOne(account, 1)
    yield* printVerification(stats)
    yield* printVerdict(stats, "every answer, every balance and the ledger agree")
    if (stats.differenceCount > 0) {
      return yield* new SimulatorError({ message: "the service and the contract disagree" })
    }
  }).pipe(Effect.scoped)).pipe(
    Command.withDescription("Registers players, plays rounds with everything that goes wrong, checks every answer")
  )

demo.pipe(
  runTyped,
  Effect.tapErrorTag("SimulatorError", (error) => Console.error(`demo: ${error.message}`)),
  Effect.provide(Layer.mergeAll(Services.layer, NodeServices.layer)),
  Effect.provideService(HttpClient.TracerPropagationEnabled, false),
  NodeRuntime.runMain
)
