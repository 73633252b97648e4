/** The running service: its address, and the credentials that `npm start` stored. */
import { Effect, FileSystem, Option, Path, Redacted, Schema } from "effect"
import { HttpClient } from "effect/http"
import * as OperatorClient from "../../src/client/OperatorClient.ts"
import { invocation } from "../../src/platform/Invocation.ts"
import type { StartupError } from "../../src/platform/StartupError.ts"
import { publicAddress, setting } from "../ServiceSettings.ts"
import type { RunStats } from "../simulators/RunStats.ts"
import { SimulatorError } from "../simulators/SimulatorError.ts"
import { clientOver, type Nodes } from "./Nodes.ts"

const Credentials = Schema.Struct({ key: Schema.NonEmptyString, secret: Schema.NonEmptyString })
const Demo = Schema.fromJsonString(Schema.Struct({
  operator: Credentials,
  provider: Credentials,
  games: Schema.NonEmptyArray(Schema.Struct({ id: Schema.Int, external_id: Schema.String, name: Schema.String }))
}))
type Demo = typeof Demo.Type

const unreadable = Effect.mapError(({ message }: StartupError) => new SimulatorError({ message }))

/** File of `DATA_DIR`. */
export const dataFile = Effect.fnUntraced(function*(name: string) {
  return (yield* Path.Path).join((yield* setting("DATA_DIR")) ?? ".data", name)
}, unreadable)

/** What a registration has beside what tells one player from another. */
export interface Resident {
  readonly birth_date: string
  readonly country: string
  readonly currency: string
  readonly personal_id?: string
  readonly limits?: { readonly [name: string]: number }
}

export interface Service {
  readonly url: string
  readonly nodes: Nodes
  /** Calls the nodes in turn. */
  readonly http: HttpClient.HttpClient
  readonly operator: OperatorClient.OperatorClient
  /** Of the game provider. */
  readonly provider: Demo["provider"]
  readonly games: Demo["games"]
  /** A new player, by number. */
  readonly resident: (number: number) => Resident
}

const maltese: Resident = { birth_date: "1990-01-01", country: "MT", currency: "EUR" }

const isUp = Effect.fnUntraced(
  function*(url: string) {
    const client = yield* HttpClient.HttpClient
    const response = yield* client.get(new URL("/health/live", url))
    return response.status === 200
  },
  Effect.timeout("5 seconds"),
  Effect.orElseSucceed(() => false)
)

/** Longer than a restart takes. */
const patience = { maxAttempts: 60, firstPause: "50 millis", longestPause: "1 second" } as const

/** A call that must be answered: the name of what it is for tells which one was not. */
export const told = <A>(name: string, call: Effect.Effect<A, { readonly message: string }>) =>
  Effect.mapError(call, ({ message }) => new SimulatorError({ message: `${name}: ${message}` }))

/** The operator of a key, at the address of the service. */
export const operatorWith = (
  { key, secret }: typeof Credentials.Type,
  { http, url }: Pick<Service, "http" | "url">
) =>
  OperatorClient.make({ baseUrl: url, key, secret: Redacted.make(secret), ...patience }).pipe(
    Effect.provideService(HttpClient.HttpClient, http),
    Effect.mapError(({ message }) => new SimulatorError({ message }))
  )

/** Finds the running service. Fails with instructions when there is none, or none with a demo operator. */
export const findService = Effect.fnUntraced(function*(given: Option.Option<string>, stats: RunStats) {
  const fs = yield* FileSystem.FileSystem
  const addresses = Option.isSome(given) ? given.value : yield* unreadable(publicAddress)
  const [url = "", ...others] = addresses.split(",").map((address) => address.replace(/\/+$/, ""))
  for (const each of [url, ...others]) {
    if (!URL.canParse(each)) {
      return yield* new SimulatorError({ message: `${each} is no address like http://127.0.0.1:8080` })
    }
    if (!(yield* isUp(each))) {
      return yield* new SimulatorError({
        message:
          `nothing answers at ${each}. Run "${invocation.start}" in another terminal, with the same PORT and DATA_DIR as here`
      })
    }
  }
  const nodes: Nodes = { origins: [url, ...others], served: new Map() }
  const file = yield* dataFile("demo.json")
  const demo = yield* fs.readFileString(file).pipe(
    Effect.flatMap(Schema.decodeUnknownEffect(Demo)),
    Effect.mapError(() =>
      new SimulatorError({
        message: `${file} holds no demo operator. Give the DATA_DIR of the service; it seeds one on an empty database`
      })
    )
  )
  const http = clientOver(yield* HttpClient.HttpClient, nodes, stats)
  const operator = yield* operatorWith(demo.operator, { http, url })
  yield* Effect.mapError(operator.account.me(), ({ message }) =>
    new SimulatorError({
      message: `the service at ${url} refuses the key in ${file}: ${message}. Is DATA_DIR that of this service?`
    }))
  const { games, provider } = demo
  return { url, nodes, http, operator, provider, games, resident: () => maltese } satisfies Service
})
