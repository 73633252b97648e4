import { Effect, Schedule, Schema, type Scope } from "effect"
import { randomBytes } from "node:crypto"
import { join } from "node:path"
import { BenchError } from "../BenchError.ts"
import { type Child, runToEnd, startChild } from "./Child.ts"
import { freePort } from "./FreePort.ts"
import type { Postgres } from "./Postgres.ts"

const source = join(import.meta.dirname, "..", "..", "src")
const host = "127.0.0.1"

/** What an answer of the command line holds besides what is asked for does not matter. */
export const Created = Schema.Struct({ id: Schema.Int })
export const ApiKey = Schema.Struct({ key: Schema.String, secret: Schema.String })
export const Verification = Schema.Struct({ entries: Schema.Int, violations: Schema.Array(Schema.Unknown) })

/** The service as a customer runs it, `node src/main.ts`, and its back-office command line. */
export interface Service {
  readonly child: Child
  readonly host: string
  readonly port: number
  readonly backofficePort: number
  /** Runs a command as staff do and decodes what it prints. */
  readonly backoffice: <A>(
    schema: Schema.Codec<A, unknown>,
    words: ReadonlyArray<string>
  ) => Effect.Effect<A, BenchError>
}

/** What a service is started with: the same again continues with the same data. */
export type Environment = Readonly<Record<string, string>>

/** The environment of a service of its own on one database of the common server. */
export const environmentOn = (postgres: Postgres, database: string): Environment => ({
  HOST: host,
  DATABASE_URL: postgres.url(database),
  DATA_DIR: join(postgres.folder, database),
  DEMO: "off",
  MASTER_KEY: randomBytes(32).toString("base64"),
  BACKOFFICE_TOKEN: randomBytes(24).toString("hex")
})

/** The words of a command that creates something. */
export const create = (noun: string, flags: Readonly<Record<string, string>>): ReadonlyArray<string> => [
  noun,
  "create",
  ...Object.entries(flags).flatMap(([name, value]) => [`--${name}`, value])
]

const makeBackoffice = (environment: Environment): Service["backoffice"] => (schema, words) =>
  runToEnd({
    name: `backoffice ${words.slice(0, 2).join(" ")}`,
    args: [join(source, "cli.ts"), ...words, "--json"],
    environment
  }).pipe(
    Effect.flatMap(Schema.decodeUnknownEffect(Schema.fromJsonString(schema))),
    Effect.timeoutOrElse({
      duration: "30 minutes",
      orElse: () => Effect.fail(new BenchError({ message: `backoffice ${words.join(" ")} does not end` }))
    }),
    Effect.catchTag(
      "SchemaError",
      (error) => Effect.fail(new BenchError({ message: `backoffice ${words.join(" ")}: ${error.message}` }))
    )
  )

/** The body of a page of the service. */
export const get = (url: string): Effect.Effect<string, BenchError> =>
  Effect.tryPromise({
    try: async (signal) => {
      const response = await fetch(url, { signal: AbortSignal.any([signal, AbortSignal.timeout(5000)]) })
      if (!response.ok) throw new Error(String(response.status))
      return response.text()
    },
    catch: (error) => new BenchError({ message: `${url}: ${error instanceof Error ? error.message : String(error)}` })
  })

/** Starts the service and waits until it is ready; it ends with the scope. */
export const startService = Effect.fnUntraced(
  function*(environment: Environment): Effect.fn.Return<Service, BenchError, Scope.Scope> {
    const [port, backofficePort] = [yield* freePort, yield* freePort]
    const complete = { ...environment, PORT: String(port), BACKOFFICE_PORT: String(backofficePort) }
    const child = yield* startChild({ name: "pitboss", args: [join(source, "main.ts")], environment: complete })
    yield* get(`http://${host}:${port}/health/ready`).pipe(
      Effect.retry({ schedule: Schedule.spaced("200 millis"), times: 600 }),
      Effect.raceFirst(child.ended)
    )
    return { child, host, port, backofficePort, backoffice: makeBackoffice(complete) }
  }
)
