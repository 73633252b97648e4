import { assert, layer } from "@effect/vitest"
import { Context, Deferred, Effect, Fiber, Layer, Ref } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { DatabaseTime } from "../../src/platform/DatabaseTime.ts"
import { Entropy } from "../../src/platform/Entropy.ts"
import { type Job, type JobResult, Scheduler } from "../../src/platform/Scheduler.ts"
import { TestDatabase } from "../kit/TestDatabase.ts"

// Goal: each job runs at its times, in one service at a time; a failure is retried, and a dead service's jobs are taken
// over. Method: several schedulers on one database under a test clock, with jobs that count, wait at a gate, or fail.

const start = Date.UTC(2026, 10, 20, 12)

const finished: JobResult = { done: 1, hasMore: false }

/** A separate scheduler, as of another service. */
const schedulerOf = (...jobs: ReadonlyArray<Job>) =>
  Effect.map(Layer.build(Layer.fresh(Scheduler.layerIdle(jobs))), (services) => Context.get(services, Scheduler))

/** A job that counts its runs. */
const counting = Effect.fnUntraced(function*(name: string, everySeconds: number, result: JobResult = finished) {
  const runs = yield* Ref.make(0)
  const job: Job = { name, everySeconds, run: Effect.as(Ref.update(runs, (count) => count + 1), result) }
  return { job, runs: Ref.get(runs) }
})

// set before any timer has started
const layerAtStart = TestDatabase.layer.pipe(
  Layer.provideMerge(Entropy.layer),
  Layer.provideMerge(Layer.effectDiscard(TestClock.setTime(start)))
)

layer(layerAtStart)("the scheduler", (it) => {
  it.effect("runs a scheduled job once across two services", () =>
    Effect.gen(function*() {
      yield* TestClock.setTime(start)
      const { job, runs } = yield* counting("by-turns", 60)
      const one = yield* schedulerOf(job)
      const other = yield* schedulerOf(job)
      assert.deepStrictEqual([yield* one.runDue, yield* other.runDue], [["by-turns"], []])
      yield* TestClock.setTime(start + 59_999)
      assert.deepStrictEqual([yield* one.runDue, yield* other.runDue], [[], []])
      yield* TestClock.setTime(start + 60_000)
      assert.deepStrictEqual([yield* other.runDue, yield* one.runDue], [["by-turns"], []])
      assert.strictEqual(yield* runs, 2)
    }).pipe(Effect.scoped))

  it.effect("does not run a job while another service runs it, until that service's lease expires", () =>
    Effect.gen(function*() {
      yield* TestClock.setTime(start)
      const began = yield* Deferred.make<void>()
      const stuck: Job = {
        name: "held",
        everySeconds: 10,
        run: Effect.andThen(Deferred.succeed(began, undefined), Effect.never)
      }
      const { job, runs } = yield* counting("held", 10)
      const dying = yield* schedulerOf(stuck)
      const other = yield* schedulerOf(job)
      const death = yield* Effect.forkChild(dying.runDue)
      yield* Deferred.await(began)
      yield* Fiber.interrupt(death)
      assert.deepStrictEqual(yield* other.runDue, [])
      assert.isTrue((yield* other.list).find(({ name }) => name === "held")?.isRunning)
      yield* TestClock.setTime(start + 60_000)
      assert.deepStrictEqual(yield* other.runDue, ["held"])
      assert.strictEqual(yield* runs, 1)
    }).pipe(Effect.scoped))

  it.effect("holds back only irreversible jobs while the clocks differ or the time is not trusted", () =>
    Effect.gen(function*() {
      yield* TestClock.setTime(start)
      const time = { isAgreed: false, isSettled: true }
      const removing = yield* counting("removing", 60)
      const reading = yield* counting("reading", 60)
      const scheduler = yield* schedulerOf({ ...removing.job, needsSettledTime: true }, reading.job).pipe(
        Effect.provideService(DatabaseTime, {
          isAgreed: () => time.isAgreed,
          isSettled: () => time.isSettled,
          now: () => start,
          believeDatabase: () => {}
        })
      )
      assert.deepStrictEqual(yield* scheduler.runDue, ["reading"])
      time.isAgreed = true
      time.isSettled = false
      assert.deepStrictEqual(yield* scheduler.runDue, [])
      time.isSettled = true
      assert.deepStrictEqual(yield* scheduler.runDue, ["removing"])
      assert.deepStrictEqual([yield* removing.runs, yield* reading.runs], [1, 1])
    }).pipe(Effect.scoped))

  it.effect("ignores due times and leases that lie too far ahead, as a wrong clock wrote them", () =>
    Effect.gen(function*() {
      const later = start + 86_400_000
      yield* TestClock.setTime(later)
      const { job, runs } = yield* counting("set-back", 60)
      const scheduler = yield* schedulerOf(job)
      assert.deepStrictEqual(yield* scheduler.runDue, ["set-back"])
      // a due time within the maximum is waited for
      yield* TestClock.setTime(later - 600_000)
      assert.deepStrictEqual(yield* scheduler.runDue, [])
      yield* TestClock.setTime(start)
      assert.deepStrictEqual(yield* scheduler.runDue, ["set-back"])
      assert.deepStrictEqual(yield* scheduler.runDue, [])

      // and a lease that lasts a day is invalid
      const began = yield* Deferred.make<void>()
      const held = yield* schedulerOf({
        name: "set-back",
        everySeconds: 60,
        run: Effect.andThen(Deferred.succeed(began, undefined), Effect.never)
      })
      yield* TestClock.setTime(later)
      const death = yield* Effect.forkChild(held.runDue)
      yield* Deferred.await(began)
      yield* Fiber.interrupt(death)
      yield* TestClock.setTime(later - 30_000)
      assert.deepStrictEqual(yield* scheduler.runDue, [])
      yield* TestClock.setTime(start + 120_000)
      assert.deepStrictEqual(yield* scheduler.runDue, ["set-back"])
      assert.strictEqual(yield* runs, 3)
    }).pipe(Effect.scoped))

  it.effect("runs a job again at once while it has more to do", () =>
    Effect.gen(function*() {
      yield* TestClock.setTime(start)
      const left = yield* Ref.make(5)
      const job: Job = {
        name: "bounded",
        everySeconds: 3600,
        run: Effect.map(Ref.updateAndGet(left, (count) => count - 1), (rest) => ({ done: 1, hasMore: rest > 0 }))
      }
      const scheduler = yield* schedulerOf(job)
      assert.deepStrictEqual(yield* scheduler.runDue, ["bounded"])
      assert.strictEqual(yield* Ref.get(left), 0)
      assert.deepStrictEqual(yield* scheduler.runDue, [])
    }).pipe(Effect.scoped))

  it.effect("retries a failed job with growing delays and records the error", () =>
    Effect.gen(function*() {
      yield* TestClock.setTime(start)
      const isBroken = yield* Ref.make(true)
      const job: Job = {
        name: "broken",
        everySeconds: 3600,
        run: Effect.flatMap(Ref.get(isBroken), (broken) =>
          broken ? Effect.fail({ message: "no luck" }) : Effect.succeed(finished))
      }
      const scheduler = yield* schedulerOf(job)
      const status = Effect.map(scheduler.list, (jobs) =>
        jobs.find(({ name }) => name === "broken"))
      yield* scheduler.runDue
      assert.deepInclude(yield* status, {
        failures: 1,
        lastError: "no luck",
        lastDone: null,
        nextRunAt: start + 10_000
      })
      yield* TestClock.setTime(start + 10_000)
      yield* scheduler.runDue
      assert.deepInclude(yield* status, { failures: 2, nextRunAt: start + 30_000 })
      yield* Ref.set(isBroken, false)
      yield* TestClock.setTime(start + 30_000)
      yield* scheduler.runDue
      assert.deepInclude(yield* status, { failures: 0, lastError: null, lastDone: 1, nextRunAt: start + 3_630_000 })
    }).pipe(Effect.scoped))

  it.effect("interrupts a run that outlasts its lease, and survives a defect in a job", () =>
    Effect.gen(function*() {
      yield* TestClock.setTime(start)
      const began = yield* Deferred.make<void>()
      const endless: Job = {
        name: "endless",
        everySeconds: 60,
        run: Effect.andThen(Deferred.succeed(began, undefined), Effect.never)
      }
      const dying: Job = { name: "dying", everySeconds: 60, run: Effect.die(new Error("a mistake")) }
      const scheduler = yield* schedulerOf(endless, dying)
      const running = yield* Effect.forkChild(scheduler.runDue)
      yield* Deferred.await(began)
      yield* TestClock.setTime(start + 45_000)
      assert.deepStrictEqual(yield* Fiber.join(running), ["endless", "dying"])
      const jobs = yield* scheduler.list
      assert.deepInclude(jobs.find(({ name }) => name === "endless"), {
        failures: 1,
        lastError: "the run took too long and was interrupted"
      })
      assert.deepInclude(jobs.find(({ name }) => name === "dying"), { failures: 1, lastError: "a mistake" })
    }).pipe(Effect.scoped))

  it.effect("runs due jobs without being called, and continues after a database outage", () =>
    Effect.gen(function*() {
      yield* TestClock.setTime(start)
      const sql = yield* SqlClient.SqlClient
      const turns = yield* Ref.make<ReadonlyArray<Deferred.Deferred<void>>>([])
      const first = yield* Deferred.make<void>()
      const second = yield* Deferred.make<void>()
      yield* Ref.set(turns, [first, second])
      const job: Job = {
        name: "by-itself",
        everySeconds: 5,
        run: Effect.gen(function*() {
          const [next, ...others] = yield* Ref.get(turns)
          yield* Ref.set(turns, others)
          if (next !== undefined) yield* Deferred.succeed(next, undefined)
          return finished
        })
      }
      yield* sql`ALTER TABLE jobs RENAME TO elsewhere`
      const scheduler = Context.get(yield* Layer.build(Layer.fresh(Scheduler.layer([job]))), Scheduler)
      assert.deepStrictEqual(yield* scheduler.runDue, [])
      yield* sql`ALTER TABLE elsewhere RENAME TO jobs`
      yield* TestClock.adjust("5 seconds")
      yield* Deferred.await(first)
      // the next poll may come before the first run has released the job
      const clock = yield* Effect.forkChild(
        Effect.forever(Effect.andThen(TestClock.adjust("5 seconds"), Effect.yieldNow))
      )
      yield* Deferred.await(second)
      yield* Fiber.interrupt(clock)
    }).pipe(Effect.scoped))
})
