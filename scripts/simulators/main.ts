// A game provider, its server and its players, against any wallet that speaks its protocol: npm run simulate-provider -- --help
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Console, Effect, FileSystem, Layer, Option, Queue, Schema } from "effect"
import { Command, Flag } from "effect/cli"
import { FetchHttpClient, HttpClient } from "effect/http"
import { randomInt } from "node:crypto"
import type { Session } from "./Dialect.ts"
import { standardOutput } from "../../src/platform/Output.ts"
import { runTyped } from "../../src/platform/Usage.ts"
import { makeDialect, protocolNames } from "./Dialects.ts"
import { layerProviderServer, makeProviderServer } from "./ProviderServer.ts"
import { play } from "./Play.ts"
import { printJson, printPlayed, printVerdict, say } from "./Report.ts"
import { SimulatorError } from "./SimulatorError.ts"

const number = (flag: Flag.Flag<number>, minimum: number, maximum: number, description: string) =>
  flag.pipe(
    Flag.withSchema(Schema.Finite.check(Schema.isBetween({ minimum, maximum }))),
    Flag.withDescription(description)
  )

const text = (name: string, description: string) => Flag.String(name).pipe(Flag.withDescription(description))

const flags = {
  protocol: text("protocol", `One of ${protocolNames.join(", ")}`),
  url: text("url", "The wallet: http://HOST:PORT/api/v1/integrations/SLUG, of pitboss …/api/v1/provider/wallet"),
  settings: text("settings", "The provider's settings file; of pitboss its key and secret"),
  vendorKey: text("vendor-key", "PEM file with the vendor's private key, where the protocol signs with one").pipe(
    Flag.optional
  ),
  port: number(Flag.Int("port"), 0, 65_535, "Port of the provider's server, its games_url (9900)").pipe(
    Flag.withDefault(9900)
  ),
  callsPerSecond: number(Flag.Finite("calls-per-second"), 0.1, 100_000, "Calls per second (500)").pipe(
    Flag.withDefault(500)
  ),
  seconds: number(Flag.Finite("seconds"), 0.1, 86_400, "How long to play (60)").pipe(Flag.withDefault(60)),
  players: number(Flag.Int("players"), 1, 10_000, "Launches to wait for before play begins (1)").pipe(
    Flag.withDefault(1)
  ),
  seed: number(Flag.Int("seed"), 0, 2 ** 31 - 1, "What is played follows from it (a new one)").pipe(Flag.optional),
  json: Flag.Boolean("json").pipe(Flag.withDescription("Print the result as JSON"), Flag.withDefault(false)),
  sessions: text(
    "sessions",
    "JSON file with [{token, playerRef, currency, gameId}], to be played without launches"
  ).pipe(Flag.optional),
  token: text("token", "A session's token, to be played without a launch").pipe(Flag.optional),
  player: text("player", "Its player at the wallet").pipe(Flag.withDefault("")),
  currency: text("currency", "Its currency (EUR)").pipe(Flag.withDefault("EUR")),
  game: text("game", "Its game").pipe(Flag.withDefault(""))
}

const Sessions = Schema.Array(Schema.Struct({
  token: Schema.String,
  playerRef: Schema.String,
  currency: Schema.String,
  gameId: Schema.String
}))

const readFile = Effect.fnUntraced(function*(file: string) {
  const fs = yield* FileSystem.FileSystem
  return yield* Effect.mapError(
    fs.readFileString(file),
    ({ message }) => new SimulatorError({ message: `${file} cannot be read: ${message}` })
  )
})

const readJson = <T>(file: string, schema: Schema.Codec<T, unknown>) =>
  Effect.flatMap(readFile(file), (content) =>
    Effect.mapError(
      Schema.decodeUnknownEffect(Schema.fromJsonString(schema))(content),
      ({ message }) => new SimulatorError({ message: `${file}: ${message}` })
    ))

const simulator = Command.make("simulate-provider", flags, (input) =>
  Effect.gen(function*() {
    const { callsPerSecond, json, players, port, protocol, seconds } = input
    const file = yield* readJson(input.settings, Schema.Record(Schema.String, Schema.Unknown))
    const key = Option.isSome(input.vendorKey) ? { vendor_private_key: yield* readFile(input.vendorKey.value) } : {}
    const dialect = yield* makeDialect(protocol, { ...file, ...key })
    const given: ReadonlyArray<Session> = [
      ...Option.isSome(input.sessions) ? yield* readJson(input.sessions.value, Sessions) : [],
      ...Option.isSome(input.token)
        ? [{ token: input.token.value, playerRef: input.player, currency: input.currency, gameId: input.game }]
        : []
    ]
    const { providerServer, notePlayed, opened } = yield* makeProviderServer(`http://127.0.0.1:${port}`)
    for (const session of given) Queue.offerUnsafe(opened, { session })
    yield* Layer.launch(layerProviderServer(dialect, providerServer, port)).pipe(
      Effect.mapError(() => new SimulatorError({ message: `port ${port} is taken: say another --port` })),
      Effect.forkScoped
    )
    if (given.length === 0) yield* say(`${protocol} at ${providerServer.url}: waiting for ${players} launches`)
    const total = Math.max(players, given.length)
    const seed = Option.getOrElse(input.seed, () => randomInt(2 ** 31))
    yield* say(`${total} players, ${callsPerSecond} calls a second for ${seconds} s, seed ${seed}`)
    const result = yield* play({
      url: input.url.replace(/\/+$/, ""),
      dialect,
      opened,
      grants: providerServer.grants,
      notePlayed,
      players: total,
      callsPerSecond,
      seconds,
      seed
    })
    if (json || !standardOutput.isTerminal) yield* printJson({ protocol, ...result })
    else {
      yield* printPlayed(result.stats)
      yield* printVerdict(result.stats, "every answer and every balance agree")
    }
    if (result.stats.differenceCount > 0) {
      return yield* new SimulatorError({ message: "the wallet and the protocol disagree" })
    }
  }).pipe(Effect.scoped)).pipe(
    Command.withDescription(
      "Plays a game provider: its server for launches, games, free rounds and feed, and players who do everything that goes wrong. " +
        "Checks every answer by the provider's description and by the state that it expects; exit 1 on a difference"
    )
  )

simulator.pipe(
  runTyped,
  Effect.tapErrorTag("SimulatorError", (error) => Console.error(`simulate-provider: ${error.message}`)),
  Effect.provide(Layer.mergeAll(FetchHttpClient.layer, NodeServices.layer)),
  Effect.provideService(HttpClient.TracerPropagationEnabled, false),
  NodeRuntime.runMain
)
