/**
 * Background jobs, each leased to one process at a time (`docs/decisions/0016-scheduler.md`).
 *
 * A job's row holds its due time and its lease. The lease of a process that dies expires, and another one takes the job: a job may be cut
 * off and begun again, so every job is safe to run twice.
 */
import { Cause, Clock, Context, Effect, Exit, Layer, Metric, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { DatabaseTime } from "./DatabaseTime.ts"
import { Entropy } from "./Entropy.ts"
import { monotonicMs } from "./MonotonicClock.ts"
import { toDate } from "./Time.ts"

/** Result of one run. */
export interface JobResult {
  /** Items processed. */
  readonly done: number
  /** Stopped at its bound with more to do; run again at once. */
  readonly hasMore: boolean
}

/** Runs each item of a job's page, and returns how many succeeded: one that cannot be served now is found by a later run. */
export const countDone = <Item, E, R>(
  page: ReadonlyArray<Item>,
  run: (item: Item) => Effect.Effect<unknown, E, R>,
  { concurrency }: { readonly concurrency: number }
): Effect.Effect<number, never, R> =>
  Effect.map(
    Effect.forEach(page, (item) => Effect.isSuccess(run(item)), { concurrency }),
    (outcomes) => outcomes.filter((isDone) => isDone).length
  )

export interface Job {
  /** Unique and permanent: key of the job's row. */
  readonly name: string
  /** Pause from the end of a run to the next one. */
  readonly everySeconds: number
  /** Does by time what cannot be undone: waits while the process's clock and PostgreSQL's differ, and until the time is settled. */
  readonly needsSettledTime?: boolean
  /** One run: bounded, safe to interrupt at any point and to repeat. A failure is logged and retried. */
  readonly run: Effect.Effect<JobResult, { readonly message: string }>
}

/** Status of a job. Instants are epoch milliseconds. */
export interface JobStatus {
  readonly name: string
  readonly nextRunAt: number
  readonly isRunning: boolean
  readonly lastStartedAt: number | null
  readonly lastEndedAt: number | null
  /** Items of the last successful run. */
  readonly lastDone: number | null
  /** Failed runs since the last successful one. */
  readonly failures: number
  readonly lastError: string | null
}

const leaseMs = 60_000

/** A run is interrupted before its lease expires, with a margin for clock differences. */
const longestRunMs = 45_000

/** Tolerance for a time in a job's row: one further in the future was written by a clock that has been set back since. */
const clocksDifferMs = 60_000

const pollMs = 5_000

/** Backoff after a failed run, doubled with every further failure up to the bound. */
const retryMs = 10_000
const longestRetryMs = 600_000

const runs = Metric.counter("scheduler_runs_total", {
  description: "Runs of background jobs, by result",
  incremental: true
})
const jobDone = Metric.counter("scheduler_done_total", {
  description: "Items processed by background jobs",
  incremental: true
})
const lastSuccess = Metric.gauge("scheduler_last_success_timestamp_seconds", {
  description: "Last successful end of the job in this process, Unix time"
})
const runSeconds = Metric.histogram("scheduler_run_seconds", {
  description: "Time of one run of a background job",
  boundaries: Metric.exponentialBoundaries({ start: 0.004, factor: 2, count: 14 })
})
const failing = Metric.gauge("scheduler_failures", { description: "Failed runs since the last successful one" })

const JobRow = Schema.Struct({
  name: Schema.String,
  nextRunAt: Schema.Date,
  leaseUntil: Schema.NullOr(Schema.Date),
  lastStartedAt: Schema.NullOr(Schema.Date),
  lastEndedAt: Schema.NullOr(Schema.Date),
  lastDone: Schema.NullOr(Schema.Number),
  failures: Schema.Number,
  lastError: Schema.NullOr(Schema.String)
})
const decodeJobs = Schema.decodeUnknownEffect(Schema.Array(JobRow))

const ClaimedRow = Schema.Array(Schema.Struct({ failures: Schema.Number }))
const decodeClaimed = Schema.decodeUnknownEffect(ClaimedRow)

export class Scheduler extends Context.Service<Scheduler, {
  /** Status of all jobs by name, from their rows. */
  readonly list: Effect.Effect<ReadonlyArray<JobStatus>, { readonly message: string }>
  /** Runs every job that is due and not leased until it has no more to do; returns their names. The service does this periodically. */
  readonly runDue: Effect.Effect<ReadonlyArray<string>>
}>()("pitboss/platform/Scheduler") {
  /** Scheduler that runs jobs only by {@link runDue}. */
  static readonly layerIdle = (jobs: ReadonlyArray<Job>) => Layer.effect(Scheduler, Effect.map(make(jobs), serviceOf))

  /** Scheduler of these jobs, active until its scope closes. */
  static readonly layer = (jobs: ReadonlyArray<Job>) =>
    Layer.effect(
      Scheduler,
      Effect.gen(function*() {
        const made = yield* make(jobs)
        yield* Effect.forEach(
          jobs,
          (job) => Effect.forkScoped(Effect.forever(Effect.andThen(Effect.sleep(pollMs), made.runOne(job)))),
          { discard: true }
        )
        return serviceOf(made)
      })
    )
}

const make = (jobs: ReadonlyArray<Job>) =>
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const runner = (yield* Entropy).token("", 22)
    const { isAgreed, isSettled } = yield* DatabaseTime

    /** Leases a due job. Returns its consecutive failures; undefined when it is not due or is leased by another process. */
    const claim = Effect.fnUntraced(function*({ everySeconds, name }: Job) {
      const now = yield* Clock.currentTimeMillis
      const latestDue = now + Math.max(everySeconds * 1000, longestRetryMs) + clocksDifferMs
      const latestLease = now + leaseMs + clocksDifferMs
      const taken = yield* decodeClaimed(
        yield* sql`INSERT INTO jobs (name, next_run_at, runner, lease_until, last_started_at)
            VALUES (${name}, ${toDate(now)}, ${runner}, ${toDate(now + leaseMs)}, ${toDate(now)})
            ON CONFLICT (name) DO UPDATE
              SET runner = excluded.runner, lease_until = excluded.lease_until, last_started_at = excluded.last_started_at
              WHERE (jobs.next_run_at <= ${toDate(now)} OR jobs.next_run_at > ${toDate(latestDue)})
                AND (jobs.lease_until IS NULL OR jobs.lease_until <= ${toDate(now)}
                  OR jobs.lease_until > ${toDate(latestLease)})
            RETURNING failures`
      )
      return taken[0]?.failures
    })

    /** Releases a job unless another process has leased it meanwhile. */
    const release = Effect.fnUntraced(function*(
      job: Job,
      failures: number,
      tookMs: number,
      exit: Exit.Exit<JobResult, unknown>
    ) {
      const now = yield* Clock.currentTimeMillis
      const isSuccess = Exit.isSuccess(exit)
      const waitMs = isSuccess
        ? exit.value.hasMore ? 0 : job.everySeconds * 1000
        : Math.min(retryMs * 2 ** Math.min(failures, 10), longestRetryMs)
      const failed = isSuccess ? 0 : failures + 1
      yield* Metric.update(Metric.withAttributes(runs, { job: job.name, result: isSuccess ? "ok" : "failed" }), 1)
      yield* Metric.update(Metric.withAttributes(failing, { job: job.name }), failed)
      yield* Metric.update(Metric.withAttributes(runSeconds, { job: job.name }), tookMs / 1000)
      if (isSuccess) yield* Metric.update(Metric.withAttributes(lastSuccess, { job: job.name }), now / 1000)
      if (isSuccess) yield* Metric.update(Metric.withAttributes(jobDone, { job: job.name }), exit.value.done)
      const error = isSuccess ? null : messageOf(exit.cause)
      const done = isSuccess ? exit.value.done : null
      yield* sql`UPDATE jobs SET lease_until = NULL, runner = NULL, next_run_at = ${toDate(now + waitMs)},
              last_ended_at = ${toDate(now)}, last_done = coalesce(${done}, last_done), failures = ${failed},
              last_error = ${error}
            WHERE name = ${job.name} AND runner = ${runner}`
    })

    /** Runs a job once; returns whether it ran, and whether it has more to do. */
    const attempt = Effect.fnUntraced(function*(job: Job) {
      if (job.needsSettledTime === true && !(isAgreed() && isSettled())) return { ran: false, again: false }
      const failures = yield* claim(job)
      if (failures === undefined) return { ran: false, again: false }
      const startedAt = yield* monotonicMs
      const exit = yield* Effect.exit(
        job.run.pipe(
          Effect.timeoutOrElse({
            duration: longestRunMs,
            orElse: () => Effect.fail({ message: "the run took too long and was interrupted" })
          }),
          Effect.withSpan(`job ${job.name}`, { root: true })
        )
      )
      if (Exit.isFailure(exit)) {
        yield* Effect.annotateLogs(Effect.logWarning("job failed", exit.cause), { job: job.name })
      }
      yield* release(job, failures, (yield* monotonicMs) - startedAt, exit)
      return { ran: true, again: Exit.isSuccess(exit) && exit.value.hasMore }
    })

    /** Runs a due job until it has no more to do. Waits out an unreachable database. */
    const runOne = (job: Job): Effect.Effect<boolean> =>
      attempt(job).pipe(
        Effect.flatMap(({ again, ran }) => again ? Effect.as(runOne(job), true) : Effect.succeed(ran)),
        Effect.catchCause((cause) =>
          Effect.as(Effect.annotateLogs(Effect.logWarning("job lease update failed", cause), { job: job.name }), false)
        )
      )

    const runDue = Effect.map(
      Effect.forEach(jobs, (job) => Effect.map(runOne(job), (ran) => ran ? [job.name] : []), {
        concurrency: "unbounded"
      }),
      (ran) => ran.flat()
    )

    const list = sql`SELECT name, next_run_at AS "nextRunAt", lease_until AS "leaseUntil",
            last_started_at AS "lastStartedAt", last_ended_at AS "lastEndedAt", last_done AS "lastDone",
            failures, last_error AS "lastError"
          FROM jobs ORDER BY name`.pipe(
      Effect.flatMap(decodeJobs),
      Effect.flatMap((rows) =>
        Effect.map(Clock.currentTimeMillis, (now) =>
          rows.map((row): JobStatus => ({
            name: row.name,
            nextRunAt: row.nextRunAt.getTime(),
            isRunning: row.leaseUntil !== null && row.leaseUntil.getTime() > now,
            lastStartedAt: row.lastStartedAt?.getTime() ?? null,
            lastEndedAt: row.lastEndedAt?.getTime() ?? null,
            lastDone: row.lastDone,
            failures: row.failures,
            lastError: row.lastError
          })))
      )
    )

    return { list, runDue, runOne }
  })

const serviceOf = ({ list, runDue }: Effect.Success<ReturnType<typeof make>>): Scheduler["Service"] => ({
  list,
  runDue
})

/** One line for the job's row; the whole cause is in the log. */
const messageOf = (cause: Cause.Cause<unknown>): string => {
  const error = Cause.squash(cause)
  const message = typeof error === "object" && error !== null && "message" in error
    ? String(error.message)
    : String(error)
  return message.replaceAll(/\s+/g, " ").slice(0, 500)
}
