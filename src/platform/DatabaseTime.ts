/**
 * Clock of the service: PostgreSQL's time, as long as the process's clock agrees with it (`AgreedTime.ts`). It is the `Clock` of everything above
 * this layer, so that no rule asks which clock is right. Irreversible actions first check that the two agree.
 */
import { Clock, Context, Effect, Layer, Metric, Schedule, Schema } from "effect"
import { SqlSchema } from "effect/sql"
import * as Os from "node:os"
import {
  type AgreedTime,
  beginTime,
  believeReading,
  followTime,
  type KnownTimes,
  type Reading,
  timeAt
} from "./AgreedTime.ts"
import { ServingClient } from "./Database.ts"
import { registerGauge } from "./Metrics.ts"
import { Settings } from "./Settings.ts"
import { StartupError } from "./StartupError.ts"

/** Difference in ms from which on the log warns. */
const warnedMs = 2000

const period = "2 seconds"

/** Interval of the warning while the clocks differ. */
const warnedEveryMs = 60_000

/** A reading that took longer says nothing. */
const maxReadingMs = 1000

/** Readings at the start, of which the first quick one counts. */
const firstReadings = 20

/** What the database answers: its time, and those that processes have written there. */
export interface DatabaseAnswer extends KnownTimes {
  readonly databaseMs: number
}

/** The clocks of this process; milliseconds. */
export interface ProcessClocks {
  /** Since the epoch. */
  readonly processMs: () => number
  /** Never set. */
  readonly monotonicMs: () => number
  /** Never set, and goes on while the machine sleeps; in steps of up to a second. */
  readonly uptimeMs: () => number
}

interface Taken extends Reading {
  readonly known: KnownTimes
}

const offset = Metric.gauge("clock_offset_seconds", {
  description: "The process's clock less PostgreSQL's"
})
const agreed = Metric.gauge("clock_agreed", {
  description:
    "Whether the process's clock and PostgreSQL's agree, on a settled time: 1, or 0 while nothing is done that cannot be undone"
})

export interface DatabaseTimeService {
  /**
   * Whether both clocks agree with the time in use. While they do not, or it is not settled, nothing is done by time that cannot be undone: no
   * deletion, no job that ends bonuses, no sum of a day.
   */
  readonly isAgreed: () => boolean
  /** Whether the time in use goes on from a time in the database, or both clocks have agreed on it for five minutes. */
  readonly isSettled: () => boolean
  /** Time in use, epoch milliseconds: that of the service's `Clock`. It goes back only where both clocks were set, or this process's is wrong. */
  readonly now: () => number
  /** Takes PostgreSQL's time, because other processes agree with it and this one does not. */
  readonly believeDatabase: () => void
}

/** The service, and its clock over another one, whose sleep and monotonic time it keeps. `read` asks the database. */
export const makeDatabaseTime = Effect.fnUntraced(function*<E extends { readonly message: string }>(
  options: {
    readonly toleranceMs: number
    readonly clocks: ProcessClocks
    readonly read: Effect.Effect<DatabaseAnswer, E>
  }
) {
  const { clocks, read, toleranceMs } = options
  const base = yield* Clock.Clock

  // Kept: time, last, sleptMs, warnedAt. Time of the service, and the last reading of clocks. Several nodes: PostgreSQL's in all of them; one whose
  // clock differs gives its players away.
  /** Time that the machine slept, which its monotonic clock does not count. */
  let sleptMs = 0
  const measureSleep = (): void => {
    const missing = clocks.uptimeMs() - clocks.monotonicMs() - firstDifference
    if (missing - sleptMs > 2000) sleptMs = missing
  }
  const firstDifference = clocks.uptimeMs() - clocks.monotonicMs()
  const monotonicMs = (): number => clocks.monotonicMs() + sleptMs

  /** Reads all clocks. The database's is taken for the middle of the question, so that a slow answer is no difference. */
  const take = Effect.gen(function*() {
    const [begunAt, processAt] = [clocks.monotonicMs(), clocks.processMs()]
    const { databaseMs, ...known } = yield* read
    const tookMs = clocks.monotonicMs() - begunAt
    measureSleep()
    const taken: Taken = {
      databaseMs,
      known,
      tookMs,
      processMs: processAt + tookMs / 2,
      monotonicMs: begunAt + tookMs / 2 + sleptMs
    }
    return taken
  })

  const first = yield* Effect.repeat(take, { until: ({ tookMs }) => tookMs <= maxReadingMs, times: firstReadings })
  let time: AgreedTime = beginTime(first, first.known, toleranceMs)
  let last: Reading = first
  let warnedAt = Number.NEGATIVE_INFINITY

  const now = (): number => Math.floor(timeAt(time, monotonicMs()))
  // the process's clock may have been set since the last reading
  const isAgreed = (): boolean => time.isAgreed && Math.abs(clocks.processMs() - now()) <= toleranceMs
  // by a reading, not by the passing of time: a database that does not answer confirms nothing
  const isSettled = (): boolean => last.monotonicMs >= time.settledFromMs

  /** Says once a minute that the clocks differ, and once that they agree again. */
  const tell = Effect.suspend(() => {
    const isTold = warnedAt !== Number.NEGATIVE_INFINITY
    const differs = !isAgreed() || Math.abs(time.offsetMs) > warnedMs
    if (!differs && !isTold) return Effect.void
    const values = { offset_seconds: time.offsetMs / 1000, agreed: isAgreed() }
    if (!differs) {
      warnedAt = Number.NEGATIVE_INFINITY
      return Effect.annotateLogs(Effect.logInfo("clocks of process and database agree"), values)
    }
    if (isTold && clocks.monotonicMs() - warnedAt < warnedEveryMs) return Effect.void
    warnedAt = clocks.monotonicMs()
    return Effect.annotateLogs(Effect.logWarning("clocks of process and database differ"), values)
  })

  const follow = take.pipe(
    Effect.map((taken) => {
      if (taken.tookMs > maxReadingMs) return
      time = followTime(time, taken, monotonicMs(), toleranceMs)
      last = taken
    }),
    // without an answer the time goes on by the monotonic clock
    Effect.catch(() => Effect.void),
    Effect.andThen(tell)
  )
  yield* tell
  if (!isSettled()) {
    yield* Effect.annotateLogs(
      Effect.logWarning(
        "clock is far from the last time recorded in the database: deletions, expiry and report totals are suspended for five minutes"
      ),
      { ahead_seconds: (time.startMs - time.known.settledMs) / 1000 }
    )
  }
  yield* Effect.forkScoped(Effect.repeat(Effect.delay(follow, period), Schedule.forever))
  yield* registerGauge(offset, () => time.offsetMs / 1000)
  yield* registerGauge(agreed, () => isAgreed() && isSettled() ? 1 : 0)

  const nanos = (): bigint => BigInt(Math.floor(timeAt(time, monotonicMs()) * 1000)) * 1000n
  const clock: Clock.Clock = {
    currentTimeMillisUnsafe: now,
    currentTimeMillis: Effect.sync(now),
    currentTimeNanosUnsafe: nanos,
    currentTimeNanos: Effect.sync(nanos),
    monotonicTimeNanosUnsafe: () => base.monotonicTimeNanosUnsafe(),
    monotonicTimeNanos: base.monotonicTimeNanos,
    sleep: (duration) => base.sleep(duration)
  }
  const believeDatabase = (): void => {
    time = believeReading(time, last, monotonicMs(), toleranceMs)
  }
  return Context.make(Clock.Clock, clock).pipe(Context.add(DatabaseTime, { isAgreed, isSettled, now, believeDatabase }))
})

const Answered = Schema.Struct({ databaseMs: Schema.Number, newestMs: Schema.Number, settledMs: Schema.Number })

/** A reference: what is built without a database's time, as tests are, believes its clock. */
export const DatabaseTime = Context.Reference<DatabaseTimeService>("pitboss/platform/DatabaseTime", {
  defaultValue: () => ({ isAgreed: () => true, isSettled: () => true, now: Date.now, believeDatabase: () => {} })
})

/**
 * Provides {@link DatabaseTime} and the `Clock` of everything above. `settledJob`: name of a job that runs every minute and needs a settled time. Other jobs
 * count before its first run only: they also run, and write their times, while the time is not settled.
 */
export const layerDatabaseTime = (settledJob: string) =>
  Layer.effectContext(Effect.gen(function*() {
    const { clockToleranceSeconds } = yield* Settings
    const sql = yield* ServingClient
    const ask = SqlSchema.findOne({
      Request: Schema.Void,
      Result: Answered,
      execute: () =>
        sql`SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS "databaseMs",
        coalesce((SELECT extract(epoch FROM max(last_started_at)) * 1000 FROM jobs), 0)::float8 AS "newestMs",
        coalesce((SELECT extract(epoch FROM last_started_at) * 1000 FROM jobs WHERE name = ${settledJob}),
          (SELECT extract(epoch FROM max(last_started_at)) * 1000 FROM jobs), 0)::float8 AS "settledMs"`
    })
    return yield* makeDatabaseTime({
      toleranceMs: clockToleranceSeconds * 1000,
      clocks: { processMs: Date.now, monotonicMs: () => performance.now(), uptimeMs: () => Os.uptime() * 1000 },
      read: ask(undefined)
    }).pipe(
      Effect.mapError(({ message }) =>
        new StartupError({ message: `the time of the database cannot be read: ${message}` })
      )
    )
  }))
