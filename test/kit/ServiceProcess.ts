/** The service as a separate process: started, killed and restarted. Other programs are run to their end. */
import { Effect, Redacted, Schedule, Schema, type Scope } from "effect"
import { spawn } from "node:child_process"
import { randomInt } from "node:crypto"
import * as Net from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { asService } from "./TestServer.ts"

const root = join(import.meta.dirname, "..", "..")
const main = join(root, "src", "main.ts")
const movableClock = join(import.meta.dirname, "movableClock.ts")
const detours = join(import.meta.dirname, "detours.ts")

/** Folder of Node.js's compile cache, which speeds up restarts. */
export const compileCache = join(tmpdir(), "node-compile-cache")

/** Time limit that only prevents endless waits. */
const longEnough = "60 seconds"

export interface CommandOutcome {
  readonly exitCode: number | null
  readonly stdout: string
  readonly stderr: string
}

/** Runs a program, mostly a Node.js, to its end. */
export const runProgram = (
  [program, ...args]: readonly [program: string, ...ReadonlyArray<string>],
  env: { readonly [name: string]: string | undefined }
) =>
  Effect.callback<CommandOutcome>((resume) => {
    const child = spawn(program, args, {
      cwd: root,
      // compiled once for all processes of all runs
      env: { PATH: process.env["PATH"], NODE_COMPILE_CACHE: compileCache, ...env },
      stdio: ["ignore", "pipe", "pipe"]
    })
    let stdout = ""
    let stderr = ""
    child.stdout.on("data", (chunk: Buffer) => (stdout += chunk.toString("utf8")))
    child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString("utf8")))
    child.on("close", (exitCode) => resume(Effect.succeed({ exitCode, stdout, stderr })))
    return Effect.sync(() => child.kill("SIGKILL"))
  })

export class ServiceExited extends Schema.TaggedError<ServiceExited>()("ServiceExited", {
  /** How it ended, or what it last answered. */
  reason: Schema.String,
  output: Schema.String
}) {
  override get message() {
    return `the service was not ready: ${this.reason}\n${this.output}`
  }
}

export interface Ending {
  readonly code: number | null
  readonly signal: string | null
}

export interface ServiceProcess {
  readonly pid: number
  readonly port: number
  readonly backofficePort: number
  /** Sets its clock this far ahead of everybody's, or behind, in milliseconds. Only with `hasMovableClock`. */
  readonly moveClock: (offsetMs: number) => void
  /** At once, and from anywhere. */
  readonly kill: (signal: "SIGTERM" | "SIGKILL" | "SIGSTOP" | "SIGCONT") => void
  readonly exited: Effect.Effect<Ending>
  readonly hasExited: () => boolean
  /** Output of the process. */
  readonly output: () => string
}

const listens = (port: number) =>
  Effect.callback<boolean>((resume) => {
    const server = Net.createServer()
    server.once("error", () => resume(Effect.succeed(false)))
    server.listen(port, "127.0.0.1", () => server.close(() => resume(Effect.succeed(true))))
  })

/** Ports of each process of the test runner: one that is told but does not listen yet looks unused to the others. */
const portsPerProcess = 1000
const firstPort = 15_000 + (Number(process.env["VITEST_POOL_ID"] ?? 0) % 17) * portsPerProcess
let toldPorts = randomInt(portsPerProcess)

/**
 * An unused port below the system's ephemeral ports: while a service is down, a caller that
 * retries could otherwise connect to itself. None is told twice in a thousand.
 */
export const freePort: Effect.Effect<number> = Effect.suspend(() => {
  const port = firstPort + toldPorts++ % portsPerProcess
  return Effect.flatMap(listens(port), (isFree) => isFree ? Effect.succeed(port) : freePort)
})

export interface ServiceOptions {
  readonly port: number
  /** The owner's. The service works as its own role, see `addServiceRole`. Empty: the embedded server. */
  readonly databaseUrl: string
  readonly environment?: { readonly [name: string]: string }
  readonly hasMovableClock?: boolean
  /** Where its clock begins, as by `moveClock`. */
  readonly clockOffsetMs?: number
  /** What the start waits for: that it takes requests, or only that it answers. */
  readonly awaits?: "ready" | "live"
  /** Ports that its connections go to instead of others. */
  readonly detours?: ReadonlyMap<number, number>
  /** Another `src/main.ts`. */
  readonly main?: string
  /** Called with all that it prints. */
  readonly onOutput?: (text: string) => void
}

/** Same key as in the settings of in-process services, so that each opens the other's secrets. */
const masterKey = Buffer.alloc(32).toString("base64")

/** What keeps it from being ready or live, undefined when nothing does. */
const whyNot = (port: number, state: "ready" | "live") =>
  Effect.tryPromise(async (signal) => {
    const response = await fetch(`http://127.0.0.1:${port}/health/${state}`, { signal })
    return response.status === 200 ? undefined : await response.text()
  }).pipe(
    Effect.timeout("5 seconds"),
    Effect.catch(({ cause, message }) => Effect.succeed(cause instanceof Error ? String(cause.cause) : message))
  )

/** Starts `node src/main.ts` and waits until it is ready. Killed when the scope closes. */
export const startService = Effect.fnUntraced(function*(
  options: ServiceOptions
): Effect.fn.Return<ServiceProcess, ServiceExited, Scope.Scope> {
  const backofficePort = yield* freePort
  const service = yield* Effect.acquireRelease(
    Effect.sync(() => {
      const preload = [
        ...options.hasMovableClock === true ? [movableClock] : [],
        ...options.detours === undefined ? [] : [detours]
      ].flatMap((file) => ["--import", pathToFileURL(file).href])
      const child = spawn(process.execPath, [...preload, options.main ?? main], {
        env: {
          PATH: process.env["PATH"],
          PORT: String(options.port),
          BACKOFFICE_PORT: String(backofficePort),
          ...options.databaseUrl === "" ? {} : {
            DATABASE_URL: Redacted.value(asService(Redacted.make(options.databaseUrl))),
            DATABASE_OWNER_URL: options.databaseUrl
          },
          MASTER_KEY: masterKey,
          DEMO: "off",
          ...options.detours === undefined
            ? {}
            : { DETOURS: [...options.detours].map((pair) => pair.join("=")).join(",") },
          NODE_COMPILE_CACHE: compileCache,
          CLOCK_OFFSET_MS: String(options.clockOffsetMs ?? 0),
          ...options.environment
        },
        stdio: options.hasMovableClock === true ? ["ignore", "pipe", "pipe", "ipc"] : ["ignore", "pipe", "pipe"]
      })
      let output = ""
      let ending: Ending | undefined
      const collect = (chunk: Buffer) => {
        const text = chunk.toString("utf8")
        output = (output + text).slice(-2_000_000)
        options.onOutput?.(text)
      }
      child.stdout?.on("data", collect)
      child.stderr?.on("data", collect)
      // A test run that is stopped halfway leaves no service behind.
      const killLate = () => child.kill("SIGKILL")
      process.once("exit", killLate)
      child.once("close", (code, signal) => {
        ending = { code, signal }
        process.off("exit", killLate)
      })
      return {
        pid: child.pid ?? 0,
        port: options.port,
        backofficePort,
        moveClock: (offsetMs) => void child.send({ clockOffsetMs: offsetMs }),
        kill: (signal) => void child.kill(signal),
        exited: Effect.callback<Ending>((resume) => {
          if (ending !== undefined) return resume(Effect.succeed(ending))
          child.once("close", (code, signal) => resume(Effect.succeed({ code, signal })))
        }),
        hasExited: () => ending !== undefined,
        output: () => output
      } satisfies ServiceProcess
    }),
    (service) =>
      Effect.suspend(() => {
        service.kill("SIGKILL")
        return service.exited
      })
  )
  let last: string | undefined
  const ready = whyNot(options.port, options.awaits ?? "ready").pipe(
    Effect.tap((answer) => Effect.sync(() => (last = answer))),
    Effect.repeat({ until: (answer) => answer === undefined, schedule: Schedule.spaced("20 millis") }),
    Effect.timeoutOrElse({ duration: longEnough, orElse: () => Effect.succeed(last ?? "no answer") })
  )
  const died = Effect.map(service.exited, ({ code, signal }) => `it ended with ${signal ?? `code ${code}`}`)
  const reason = yield* Effect.raceFirst(ready, died)
  return reason === undefined ? service : yield* new ServiceExited({ reason, output: service.output() })
})
