import { Effect, Schedule, Schema, type Scope } from "effect"
import { randomBytes } from "node:crypto"
import { join } from "node:path"
import { BenchError, failedAt } from "../BenchError.ts"
import { request } from "undici"
import { type Child, startChild } from "./Child.ts"
import { freePort } from "./FreePort.ts"
import { Checkout, nodeFlags } from "./NodeFlags.ts"
import type { Postgres } from "./Postgres.ts"

const host = "127.0.0.1"
const startTimeoutMs = 120_000

/** Ignores the other fields of an answer. */
export const Created = Schema.Struct({ id: Schema.Int })
export const ApiKey = Schema.Struct({ key: Schema.String, secret: Schema.String })
const Verification = Schema.Struct({ entries: Schema.Int, violations: Schema.Array(Schema.Unknown) })

/** The service as a customer runs it, `npm start` without the bootstrap, and the staff API that the back-office command line calls. */
export interface Service {
  readonly child: Child
  readonly host: string
  readonly port: number
  readonly backofficePort: number
  /** Creates a resource through the staff API; returns it decoded. `path` is relative to the API's base. */
  readonly create: <A>(path: string, body: object, schema: Schema.Codec<A, unknown>) => Effect.Effect<A, BenchError>
  /** Proves the ledger, of one operator or of all: minutes where it is long. `new`: what was written since it was proved last. */
  readonly verify: (
    options?: { readonly operatorId?: number; readonly scope?: "all" | "new" }
  ) => Effect.Effect<typeof Verification.Type, BenchError>
  /** Requests of an open page *home*: the figures once, then the stream of events. */
  readonly watchHome: Effect.Effect<never, BenchError>
}

/** Environment of a service; the same environment continues with the same data. */
export type Environment = Readonly<Record<string, string>>

/** The environment of a service of its own on one database of the common server. */
export const environmentOn = (postgres: Postgres, database: string): Environment => ({
  HOST: host,
  DATABASE_URL: postgres.url(database),
  DATA_DIR: join(postgres.folder, "services", database),
  DEMO: "off",
  // vendors and registers are on this machine
  PROVIDER_ALLOW_INSECURE: "on",
  REGISTER_ALLOW_INSECURE: "on",
  MASTER_KEY: randomBytes(32).toString("base64"),
  BACKOFFICE_TOKEN: randomBytes(24).toString("hex")
})

const staffApi = (origin: string, token: string): Pick<Service, "create" | "verify" | "watchHome"> => {
  const call = <A>(method: "GET" | "POST", path: string, body: object | undefined, schema: Schema.Codec<A, unknown>) =>
    Effect.tryPromise({
      try: async (signal) => {
        const response = await request(`${origin}/backoffice/v1/${path}`, {
          method,
          signal,
          headersTimeout: 0,
          bodyTimeout: 0,
          headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
          body: body === undefined ? null : JSON.stringify(body)
        })
        const text = await response.body.text()
        if (response.statusCode >= 300) throw new Error(`${response.statusCode} ${text}`)
        return text
      },
      catch: failedAt(path)
    }).pipe(
      Effect.flatMap(Schema.decodeUnknownEffect(Schema.fromJsonString(Schema.Struct({ data: schema })))),
      Effect.map(({ data }) => data),
      Effect.catchTag("SchemaError", (error) => Effect.fail(new BenchError({ message: `${path}: ${error.message}` })))
    )
  return {
    create: (path, body, schema) => call("POST", path, body, schema),
    verify: ({ operatorId, scope = "all" } = {}) =>
      call(
        "GET",
        `ledger/verification?${
          new URLSearchParams({
            ...(operatorId === undefined ? {} : { operator: String(operatorId) }),
            ...(scope === "all" ? { all: "true" } : {})
          }).toString()
        }`,
        undefined,
        Verification
      ),
    watchHome: Effect.andThen(
      call("GET", "overview", undefined, Schema.Unknown),
      Effect.tryPromise({
        try: async (signal) => {
          const headers = { authorization: `Bearer ${token}` }
          const response = await request(`${origin}/backoffice/v1/live`, { signal, headers, bodyTimeout: 0 })
          if (response.statusCode !== 200) throw new Error(String(response.statusCode))
          for await (const _ of response.body) { /* as a page: what comes is shown */ }
          throw new Error("the stream ended")
        },
        catch: failedAt("live")
      })
    )
  }
}

/** The body of a page of the service. */
export const get = (url: string): Effect.Effect<string, BenchError> =>
  Effect.tryPromise({
    try: async (signal) => {
      const response = await fetch(url, { signal: AbortSignal.any([signal, AbortSignal.timeout(5000)]) })
      if (!response.ok) throw new Error(String(response.status))
      return response.text()
    },
    catch: failedAt(url)
  })

interface ServiceOptions {
  /** Free ones when left out. */
  readonly ports?: { readonly port: number; readonly backofficePort: number }
  /** Arguments for Node.js itself, beside those of `npm start`. */
  readonly nodeArguments?: ReadonlyArray<string>
  /** How often it is asked whether it is ready, ms. */
  readonly askEveryMs?: number
}

/** Starts the service and waits until it is ready; it ends with the scope. */
export const startService = Effect.fnUntraced(
  function*(
    environment: Environment,
    { askEveryMs = 100, nodeArguments = [], ports }: ServiceOptions = {}
  ): Effect.fn.Return<Service, BenchError, Scope.Scope> {
    const { backofficePort, port } = ports ?? { port: yield* freePort, backofficePort: yield* freePort }
    const complete = { ...environment, PORT: String(port), BACKOFFICE_PORT: String(backofficePort) }
    const checkout = yield* Checkout
    const flags = yield* nodeFlags(checkout)
    const child = yield* startChild({
      name: "pitboss",
      args: [...flags, ...nodeArguments, join(checkout, "src", "main.ts")],
      environment: complete
    })
    yield* get(`http://${host}:${port}/health/ready`).pipe(
      Effect.retry({ schedule: Schedule.spaced(askEveryMs), times: Math.ceil(startTimeoutMs / askEveryMs) }),
      Effect.raceFirst(child.ended)
    )
    return {
      child,
      host,
      port,
      backofficePort,
      ...staffApi(`http://${host}:${backofficePort}`, environment["BACKOFFICE_TOKEN"] ?? "")
    }
  }
)
