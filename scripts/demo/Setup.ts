/** Setup of a run: address, credentials stored by `npm start`, and players with launched games. */
import { Config, Effect, FileSystem, Option, Path, Schema } from "effect"
import { HttpClient } from "effect/http"
import { type Caller, makeCaller, type Nodes, type Reply } from "./Caller.ts"
import { DemoError } from "./DemoError.ts"
import { currency } from "../../test/kit/WalletMessages.ts"
import { makeTable, type Table } from "./Table.ts"
import type { Tally } from "./Tally.ts"

const Credentials = Schema.Struct({ key: Schema.NonEmptyString, secret: Schema.NonEmptyString })
const Demo = Schema.fromJsonString(Schema.Struct({
  operator: Credentials,
  provider: Credentials,
  games: Schema.NonEmptyArray(Schema.Struct({ id: Schema.Int, external_id: Schema.String, name: Schema.String }))
}))
type Demo = typeof Demo.Type

/** A setting of the service, undefined when it is not given. */
const setting = (name: string) =>
  Config.option(Config.String(name)).pipe(
    Effect.map((given) => Option.getOrElse(given, () => "").trim()),
    Effect.map((given) => given === "" ? undefined : given),
    Effect.mapError(() => new DemoError({ message: `${name} cannot be read` }))
  )

/** A wildcard is where the service listens, not where one connects. */
const reachable = (host: string): string => {
  const there = host === "0.0.0.0" ? "127.0.0.1" : host === "::" ? "::1" : host
  return there.includes(":") ? `[${there}]` : there
}

/** Where the public API is, by the settings of the service. */
const addressOfSettings = Effect.gen(function*() {
  return `http://${reachable((yield* setting("HOST")) ?? "127.0.0.1")}:${(yield* setting("PORT")) ?? "8080"}`
})

export interface Service {
  readonly url: string
  readonly nodes: Nodes
  readonly operator: Caller
  readonly provider: Caller
  readonly games: Demo["games"]
}

const isUp = Effect.fnUntraced(
  function*(url: string) {
    const client = yield* HttpClient.HttpClient
    const response = yield* client.get(new URL("/health/live", url))
    return response.status === 200
  },
  Effect.timeout("5 seconds"),
  Effect.orElseSucceed(() => false)
)

/** Finds the running service. Fails with instructions when there is none, or none with a demo operator. */
export const findService = Effect.fnUntraced(function*(given: Option.Option<string>) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const [url = "", ...others] = (Option.isSome(given) ? given.value : yield* addressOfSettings).split(",")
  for (const each of [url, ...others]) {
    if (!URL.canParse(each)) {
      return yield* new DemoError({ message: `${each} is no address like http://127.0.0.1:8080` })
    }
    if (!(yield* isUp(each))) {
      return yield* new DemoError({
        message:
          `nothing answers at ${each}. Run "npm start" in another terminal, with the same PORT and DATA_DIR as here`
      })
    }
  }
  const nodes: Nodes = { origins: [url, ...others], served: new Map() }
  const file = path.join((yield* setting("DATA_DIR")) ?? ".data", "demo.json")
  const demo = yield* fs.readFileString(file).pipe(
    Effect.flatMap(Schema.decodeUnknownEffect(Demo)),
    Effect.mapError(() =>
      new DemoError({
        message: `${file} holds no demo operator. Give the DATA_DIR of the service; it seeds one on an empty database`
      })
    )
  )
  const service: Service = {
    url,
    nodes,
    operator: yield* makeCaller(nodes, "operator", demo.operator),
    provider: yield* makeCaller(nodes, "provider", demo.provider),
    games: demo.games
  }
  const reply = yield* answered("GET /api/v1/operator/me", service.operator.get("/api/v1/operator/me"))
  if (reply.status !== 200) {
    return yield* new DemoError({
      message: `the service at ${url} refuses the key in ${file}: ${reply.text}. Is DATA_DIR that of this service?`
    })
  }
  return service
})

const answered = (name: string, call: ReturnType<Caller["get"]>): Effect.Effect<Reply, DemoError> =>
  Effect.mapError(call, ({ message }) => new DemoError({ message: `${name}: no answer (${message})` }))

/** The content of an answer that must have this status. */
export const expectData = Effect.fnUntraced(
  function*<A>(name: string, status: number, schema: Schema.Codec<A, unknown>, call: ReturnType<Caller["get"]>) {
    const reply = yield* answered(name, call)
    const wrong = new DemoError({ message: `${name} answers ${reply.status} ${reply.text.slice(0, 300)}` })
    if (reply.status !== status) return yield* wrong
    const decode = Schema.decodeUnknownEffect(Schema.fromJsonString(Schema.Struct({ data: schema })))
    const { data } = yield* Effect.mapError(decode(reply.text), () => wrong)
    return data
  }
)

const Registered = Schema.Struct({ id: Schema.Int, username: Schema.String, currency: Schema.Literal(currency) })
const Paid = Schema.Struct({ status: Schema.Literal("paid"), amount: Schema.Int })
const Launched = Schema.Struct({ session_token: Schema.String, launch_url: Schema.NullOr(Schema.String) })
const Session = Schema.Struct({ player_ref: Schema.String, currency: Schema.String, balance: Schema.Int })

/** Initial deposit of each player, in minor units. */
const openingDeposit = 10_000

export interface SeatOptions {
  readonly service: Service
  /** Unique to the run. */
  readonly run: string
  readonly number: number
  readonly tally: Tally
  readonly pace: Effect.Effect<void>
}

const players = "/api/v1/operator/players"

/** Registers a player and deposits. */
export const openAccount = Effect.fnUntraced(function*(
  { number, run, service: { operator } }: Pick<SeatOptions, "number" | "run" | "service">
) {
  const username = `demo_${run}_${number}`
  const prefix = `${run}-${number}`
  const player = yield* expectData(
    "the registration",
    201,
    Registered,
    operator.post(
      players,
      JSON.stringify({
        username,
        email: `${username}@players.example`,
        first_name: "Demo",
        last_name: `Player${number}`,
        birth_date: "1990-01-01",
        country: "MT",
        currency,
        terms_accepted: true
      })
    )
  )
  const deposit = { amount: openingDeposit, external_reference: `${prefix}-opening`, payment_method: "card" }
  yield* expectData(
    "the first deposit",
    201,
    Paid,
    operator.post(`${players}/${player.id}/deposits`, JSON.stringify(deposit))
  )
  return player
})

/** Launches a game. */
export const launchGame = ({ operator }: Service, playerId: number, gameId: number, mode: "real" | "demo") =>
  expectData(
    "the launch",
    200,
    Launched,
    operator.post(`${players}/${playerId}/games/${gameId}/launch`, JSON.stringify({ mode }))
  )

/** Registers a player, deposits, launches a game, and authenticates the session as the provider. */
export const seat = Effect.fnUntraced(function*(
  { number, pace, run, service, tally }: SeatOptions
): Effect.fn.Return<Table, DemoError> {
  const { games, operator, provider } = service
  const prefix = `${run}-${number}`
  const game = games[(number - 1) % games.length] ?? games[0]
  const player = yield* openAccount({ number, run, service })
  const { username } = player
  const launch = (mode: "real" | "demo") => launchGame(service, player.id, game.id, mode)
  const { session_token: token } = yield* launch("real")
  const { session_token: demoToken } = yield* launch("demo")
  const session = yield* expectData(
    "the authentication",
    200,
    Session,
    provider.post("/api/v1/provider/wallet/authenticate", JSON.stringify({ session_token: token }))
  )
  if (session.balance !== openingDeposit) {
    tally.violate(`${username}: the session opens with ${session.balance} instead of ${openingDeposit}`)
  }
  const names = { token, demoToken, playerRef: session.player_ref }
  const table = makeTable({ player, gameId: game.external_id, names, prefix, operator, provider, tally, pace })
  table.books.deposited(openingDeposit)
  return table
})
