import { Effect, type Scope } from "effect"
import { fileURLToPath } from "node:url"
import { BenchError } from "../BenchError.ts"
import { type Child, startChild } from "../targets/Child.ts"
import { GeneratorMessage, type Job, type JobResult } from "./Job.ts"

/** Callbacks of the parent while a job runs. */
interface JobHooks {
  /** At the begin and at the end of the measured seconds. */
  readonly measuring: Effect.Effect<void>
  readonly measured: Effect.Effect<void>
  readonly progress: (processed: number, errors: number) => Effect.Effect<void>
}

/** Load from processes of their own, so that the generator's work never delays the target's, nor hides in it. */
export interface Generator {
  readonly pids: ReadonlyArray<number>
  /** Runs one job to its end, divided among the processes; one result per process. */
  readonly run: (job: Job, hooks: JobHooks) => Effect.Effect<ReadonlyArray<JobResult>, BenchError>
}

/** Time allowed beyond a job's duration: opening connections, waiting for the last answers, encoding. */
const graceSeconds = 30

const share = (total: number, parts: number, index: number): number =>
  Math.floor(total / parts) + (index < total % parts ? 1 : 0)

const part = (job: Job, parts: number, index: number): Job => ({
  ...job,
  connections: share(job.connections, parts, index),
  phases: job.phases === null
    ? null
    : job.phases.map(({ perSecond, seconds }) => ({ seconds, perSecond: perSecond / parts })),
  vendor: job.vendor === null ? null : { ...job.vendor, ahead: share(job.vendor.ahead, parts, index) },
  idPrefix: `${job.idPrefix}${index}`,
  seed: job.seed + index
})

const runOne = Effect.fnUntraced(function*(child: Child, job: Job, hooks: JobHooks | undefined) {
  yield* child.send(job)
  while (true) {
    const message = yield* child.receive(GeneratorMessage)
    if (message.type === "result") return message.result
    if (message.type === "failed") return yield* new BenchError({ message: message.message })
    if (hooks === undefined) continue
    if (message.type === "measuring") yield* hooks.measuring
    else if (message.type === "measured") yield* hooks.measured
    else yield* hooks.progress(message.processed, message.errors)
  }
})

/** Starts `count` generator processes; they end with the scope. */
export const startGenerator = (count: number): Effect.Effect<Generator, BenchError, Scope.Scope> =>
  Effect.gen(function*() {
    const children = yield* Effect.forEach(
      Array.from({ length: count }, (_, index) => index),
      (index) =>
        startChild({
          name: `load generator ${index + 1}`,
          args: [fileURLToPath(import.meta.resolve("./worker.ts"))],
          messages: true
        })
    )
    return {
      pids: children.map((child) => child.pid),
      run: (job, hooks) =>
        Effect.forEach(
          children,
          // The first process marks the measured seconds for all; they start within a few milliseconds.
          (child, index) => runOne(child, part(job, children.length, index), index === 0 ? hooks : undefined),
          { concurrency: "unbounded" }
        ).pipe(Effect.timeoutOrElse({
          duration: `${job.warmUpSeconds + job.measuredSeconds + 2 * job.timeoutMs / 1000 + graceSeconds} seconds`,
          orElse: () => Effect.fail(new BenchError({ message: "the load generator does not come back" }))
        }))
    }
  })
