/** Ways in which a customer runs the service, on one data folder that outlasts its processes. */
import { Effect, Schedule, Scope } from "effect"
import type { BenchError } from "../BenchError.ts"
import { familyOf } from "../report/ProcessorTime.ts"
import { startChild } from "./Child.ts"
import { freePort } from "./FreePort.ts"
import { Checkout } from "./NodeFlags.ts"
import { type Postgres, startPostgres } from "./Postgres.ts"
import { type Environment, get, startService } from "./Service.ts"

/** `service`: `node src/main.ts` on a PostgreSQL of its own; `npm` and `nodes`: `npm start` and `npm run cluster`, which run one themselves. */
export const formNames = ["service", "npm", "nodes"] as const
export type FormName = (typeof formNames)[number]

/** A service that runs, and what it consists of. */
export interface Running {
  /** Of the process that a customer started. */
  readonly pid: number
  /** Kills every process of it, PostgreSQL's among them, at once. */
  readonly killAll: Effect.Effect<void>
}

export interface Form {
  readonly host: string
  readonly port: number
  /** Starts it; completes when it is ready to take requests. Ends with the scope. */
  readonly start: Effect.Effect<Running, BenchError, Scope.Scope>
  /** Starts PostgreSQL again after it was killed; undefined where the service has to do it. */
  readonly startPostgres: Effect.Effect<void, BenchError> | undefined
}

export interface FormOptions {
  readonly folder: string
  readonly environment: Environment
  readonly nodes: number
  /** Settings of PostgreSQL that win over the service's own; for `service` only. */
  readonly settings: Readonly<Record<string, string>>
}

const host = "127.0.0.1"
const askEveryMs = 10
const startTimeoutMs = 120_000

const killFamilies = (pids: ReadonlyArray<number>) =>
  Effect.sync(() => {
    for (const pid of pids.flatMap(familyOf)) {
      try {
        process.kill(pid, "SIGKILL")
      } catch {
        // it has just ended
      }
    }
  })

/** On a PostgreSQL of the bench, at the same port each time. */
const makeService = Effect.fnUntraced(function*({ environment, folder, settings }: FormOptions) {
  const ports = { port: yield* freePort, backofficePort: yield* freePort }
  const postgresPort = yield* freePort
  let postgres: Postgres | undefined
  let scope = yield* Scope.make()
  yield* Effect.addFinalizer((exit) => Effect.suspend(() => Scope.close(scope, exit)))
  const again = Effect.fnUntraced(function*() {
    yield* Scope.close(scope, yield* Effect.exit(Effect.void))
    scope = yield* Scope.make()
    postgres = yield* Scope.provide(startPostgres({ folder, settings, port: postgresPort }), scope)
    return postgres
  })
  const form: Form = {
    host,
    port: ports.port,
    start: Effect.gen(function*() {
      const { url } = yield* again()
      const { child } = yield* startService({ ...environment, DATABASE_URL: url("postgres") }, { ports, askEveryMs })
      return {
        pid: child.pid,
        killAll: Effect.suspend(() => killFamilies([child.pid, ...(postgres === undefined ? [] : [postgres.pid])]))
      }
    }),
    startPostgres: Effect.asVoid(Effect.suspend(again))
  }
  return form
})

/** By an npm script that also runs PostgreSQL. */
const makeScript = Effect.fnUntraced(function*(
  { environment: { DATABASE_URL: _, ...environment }, folder }: FormOptions,
  args: ReadonlyArray<string>
) {
  const port = yield* freePort
  const complete = {
    ...environment,
    DATA_DIR: folder,
    PORT: String(port),
    BACKOFFICE_PORT: String(yield* freePort)
  }
  const form: Form = {
    host,
    port,
    start: Effect.gen(function*() {
      const child = yield* startChild({
        name: `npm ${args.join(" ")}`,
        command: "npm",
        args: ["--prefix", yield* Checkout, ...args],
        environment: complete
      })
      yield* get(`http://${host}:${port}/health/ready`).pipe(
        Effect.retry({ schedule: Schedule.spaced(askEveryMs), times: Math.ceil(startTimeoutMs / askEveryMs) }),
        Effect.raceFirst(child.ended)
      )
      return { pid: child.pid, killAll: Effect.suspend(() => killFamilies([child.pid])) }
    }),
    startPostgres: undefined
  }
  return form
})

export const makeForm = (name: FormName, options: FormOptions): Effect.Effect<Form, BenchError, Scope.Scope> => {
  switch (name) {
    case "service":
      return makeService(options)
    case "npm":
      return makeScript(options, ["start"])
    case "nodes":
      return makeScript(options, ["run", "cluster", "--", "--nodes", String(options.nodes)])
  }
}
