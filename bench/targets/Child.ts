import { Effect, Queue, Schema, type Scope } from "effect"
import { type ChildProcess, spawn } from "node:child_process"
import { BenchError } from "../BenchError.ts"

/** A process that the bench started. It ends with the scope it was started in. */
export interface Child {
  readonly name: string
  readonly pid: number
  /** Sends a message to a child started with `messages`. */
  readonly send: (message: object) => Effect.Effect<void, BenchError>
  /** The next message, decoded. Fails when the child ends before it comes. */
  readonly receive: <A>(schema: Schema.Codec<A, unknown>) => Effect.Effect<A, BenchError>
  /** Fails when the child ends, never succeeds: to be raced against effects that need the child. */
  readonly ended: Effect.Effect<never, BenchError>
  /** The last lines it wrote, for messages about its end. */
  readonly output: () => string
  /** Ends it as a power cut would, and waits until it is gone. */
  readonly kill: Effect.Effect<void>
}

export interface ChildOptions {
  readonly name: string
  /** The program; default is this Node.js. */
  readonly command?: string
  readonly args: ReadonlyArray<string>
  readonly environment?: Readonly<Record<string, string>>
  readonly user?: { readonly uid: number; readonly gid: number } | undefined
  /** Open a channel for {@link Child.send} and {@link Child.receive}. */
  readonly messages?: boolean
  /** How it is asked to end; default SIGTERM. */
  readonly stopSignal?: NodeJS.Signals
}

/** After this long a child that was asked to end is killed. */
const stopTimeoutMs = 10_000
const outputTail = 4096

const running = (process: ChildProcess): boolean => process.exitCode === null && process.signalCode === null

const stop = (process: ChildProcess, signal: NodeJS.Signals): Effect.Effect<void> =>
  Effect.callback<void>((resume) => {
    if (!running(process)) return resume(Effect.void)
    const timer = setTimeout(() => process.kill("SIGKILL"), stopTimeoutMs)
    process.once("exit", () => {
      clearTimeout(timer)
      resume(Effect.void)
    })
    process.kill(signal)
  })

const open = (options: ChildOptions): Effect.Effect<Child & { readonly process: ChildProcess }, BenchError> =>
  Effect.callback((resume) => {
    const { name } = options
    const process_ = spawn(options.command ?? process.execPath, options.args, {
      env: { ...process.env, ...options.environment },
      stdio: options.messages === true ? ["ignore", "pipe", "pipe", "ipc"] : ["ignore", "pipe", "pipe"],
      ...options.user
    })
    let tail = ""
    const keep = (chunk: Buffer): void => {
      tail = (tail + chunk.toString("utf8")).slice(-outputTail)
    }
    process_.stdout?.on("data", keep)
    process_.stderr?.on("data", keep)
    const inbox = Effect.runSync(Queue.unbounded<unknown>())
    process_.on("message", (message) => Queue.offerUnsafe(inbox, message))
    const output = () => tail.trim()
    const ended = Effect.callback<never, BenchError>((resumeEnded) => {
      const report = (): void => {
        const how = process_.signalCode ?? `code ${process_.exitCode}`
        resumeEnded(Effect.fail(new BenchError({ message: `${name} ended early (${how})\n${output()}` })))
      }
      if (!running(process_)) return report()
      process_.once("exit", report)
      return Effect.sync(() => process_.off("exit", report))
    })
    process_.once("error", (error) => {
      resume(Effect.fail(new BenchError({ message: `${name} cannot be started: ${error.message}` })))
    })
    process_.once("spawn", () => {
      resume(Effect.succeed({
        name,
        pid: process_.pid ?? 0,
        process: process_,
        send: (message) =>
          Effect.callback((resumeSend) => {
            process_.send(message, (error) =>
              resumeSend(
                error === null
                  ? Effect.void
                  : Effect.fail(new BenchError({ message: `${name} takes no messages: ${error.message}` }))
              ))
          }),
        receive: (schema) =>
          Effect.raceFirst(Queue.take(inbox), ended).pipe(
            Effect.flatMap(Schema.decodeUnknownEffect(schema)),
            Effect.catchTag(
              "SchemaError",
              (error) => Effect.fail(new BenchError({ message: `${name} sent something unexpected: ${error.message}` }))
            )
          ),
        ended,
        output,
        kill: stop(process_, "SIGKILL")
      }))
    })
  })

/** Starts a process that ends with the scope: asked first, killed when it does not listen. */
export const startChild = (options: ChildOptions): Effect.Effect<Child, BenchError, Scope.Scope> =>
  Effect.acquireRelease(open(options), (child) => stop(child.process, options.stopSignal ?? "SIGTERM"))
