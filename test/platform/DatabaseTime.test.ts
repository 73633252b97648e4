import { assert, describe, it, layer } from "@effect/vitest"
import { Clock, Context, Effect, Layer, Logger, References } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { DatabaseTime, layerDatabaseTime, makeDatabaseTime } from "../../src/platform/DatabaseTime.ts"
import { Settings } from "../../src/platform/Settings.ts"
import { TestDatabase } from "../kit/TestDatabase.ts"

// Goal: the service's clock is PostgreSQL's and goes on without it; slow answers, a sleeping machine and a lost database are no differences; the log says
// what is one, now and then. Method: clocks and answers of the test under a test clock.

const minuteMs = 60_000

const makeWorld = Effect.gen(function*() {
  const clock = yield* Clock.Clock
  const start = clock.currentTimeMillisUnsafe()
  const world = { processOff: 0, databaseOff: 0, sleptMs: 0, answerMs: 0, early: 0.5, isUp: true, knownMs: 0 }
  const passed = () => clock.currentTimeMillisUnsafe() - start
  const lines: Array<string> = []
  const logger = Logger.make<unknown, void>(({ message }) => void lines.push(String(message)))
  const read = Effect.gen(function*() {
    const [before, after] = [world.answerMs * world.early, world.answerMs * (1 - world.early)]
    yield* Effect.sleep(before)
    if (!world.isUp) return yield* Effect.fail({ message: "no answer" })
    const databaseMs = clock.currentTimeMillisUnsafe() + world.sleptMs + world.databaseOff
    yield* Effect.sleep(after)
    return { databaseMs, newestMs: world.knownMs, settledMs: world.knownMs }
  })
  const make = Effect.map(
    Effect.provide(
      makeDatabaseTime({
        toleranceMs: 30_000,
        clocks: {
          processMs: () => clock.currentTimeMillisUnsafe() + world.sleptMs + world.processOff,
          monotonicMs: passed,
          uptimeMs: () => passed() + world.sleptMs
        },
        read
      }),
      Logger.layer([logger])
    ),
    (context) => ({
      time: Context.get(context, DatabaseTime),
      clock: Context.get(context, Clock.Clock),
      /** The clock of the service less the world's time. */
      off: () => Context.get(context, Clock.Clock).currentTimeMillisUnsafe() - clock.currentTimeMillisUnsafe()
    })
  )
  return { world, lines, make }
})

const differ = "clocks of process and database differ"
const unknown =
  "clock is far from the last time recorded in the database: deletions, expiry and report totals are suspended for five minutes"
const agree = "clocks of process and database agree"

describe("the service's time", () => {
  it.effect("does not follow a changed process clock; the difference is noticed at once and logged once a minute", () =>
    Effect.gen(function*() {
      const { lines, make, world } = yield* makeWorld
      const { off, time } = yield* make
      yield* TestClock.adjust(minuteMs)
      assert.isTrue(time.isAgreed())
      world.processOff = 3 * 24 * 60 * minuteMs
      assert.isFalse(time.isAgreed())
      assert.strictEqual(off(), 0)
      yield* TestClock.adjust(2 * minuteMs)
      assert.strictEqual(off(), 0)
      assert.isFalse(time.isAgreed())
      assert.deepStrictEqual(lines, [differ, differ])
      world.processOff = 0
      yield* TestClock.adjust(2000)
      assert.isTrue(time.isAgreed())
      assert.deepStrictEqual(lines, [differ, differ, agree])
    }))

  it.effect("does not follow a changed PostgreSQL clock", () =>
    Effect.gen(function*() {
      const { make, world } = yield* makeWorld
      const { off, time } = yield* make
      world.databaseOff = -10 * minuteMs
      yield* TestClock.adjust(20 * minuteMs)
      assert.strictEqual(off(), 0)
      assert.isFalse(time.isAgreed())
    }))

  it.effect("is agreed, with a warning, when the clocks differ by two seconds", () =>
    Effect.gen(function*() {
      const { lines, make, world } = yield* makeWorld
      world.processOff = -2500
      const { off, time } = yield* make
      assert.strictEqual(off(), 0)
      assert.isTrue(time.isAgreed())
      assert.deepStrictEqual(lines, [differ])
    }))

  it.effect("is not trusted for five minutes if it begins long after the newest time in the database, which is logged", () =>
    Effect.gen(function*() {
      const { lines, make, world } = yield* makeWorld
      world.knownMs = (yield* Clock.currentTimeMillis) + 1
      const away = 3 * 24 * 60 * minuteMs
      world.processOff = away
      world.databaseOff = away
      const { off, time } = yield* make
      assert.deepStrictEqual([off(), time.isAgreed(), time.isSettled()], [away, true, false])
      assert.deepStrictEqual(lines, [unknown])
      yield* TestClock.adjust(4 * minuteMs)
      assert.isFalse(time.isSettled())
      yield* TestClock.adjust(2 * minuteMs)
      assert.deepStrictEqual([off(), time.isAgreed(), time.isSettled()], [away, true, true])
    }))

  it.effect("sees no difference in a slow answer, and stays agreed without answers", () =>
    Effect.gen(function*() {
      const { lines, make, world } = yield* makeWorld
      const { off, time } = yield* make
      world.answerMs = 20_000
      yield* TestClock.adjust(5 * minuteMs)
      world.answerMs = 900
      yield* TestClock.adjust(minuteMs)
      world.isUp = false
      yield* TestClock.adjust(60 * minuteMs)
      assert.strictEqual(off(), 0)
      assert.isTrue(time.isAgreed())
      assert.deepStrictEqual(lines, [])
      world.processOff = minuteMs
      assert.isFalse(time.isAgreed())
    }))

  it.effect("is right after the machine has slept", () =>
    Effect.gen(function*() {
      const { make, world } = yield* makeWorld
      const { off, time } = yield* make
      world.sleptMs = 8 * 60 * minuteMs
      yield* TestClock.adjust(2000)
      assert.strictEqual(off(), world.sleptMs)
      assert.isTrue(time.isAgreed())
    }))

  it.effect("is not changed by answers that are slow in one direction", () =>
    Effect.gen(function*() {
      const { make, world } = yield* makeWorld
      const { off } = yield* make
      world.answerMs = 800
      for (const early of [0, 1]) {
        world.early = early
        yield* TestClock.adjust(minuteMs)
        assert.strictEqual(off(), 0)
      }
    }))

  it.effect("never goes back when PostgreSQL's clock is set back within the tolerance, and slowly reaches it", () =>
    Effect.gen(function*() {
      const { make, world } = yield* makeWorld
      const { clock, off, time } = yield* make
      world.databaseOff = -29_000
      let told = clock.currentTimeMillisUnsafe()
      for (let second = 0; second < 600; second++) {
        yield* TestClock.adjust(1000)
        assert.isAbove(time.now(), told)
        told = time.now()
      }
      assert.approximately(off(), -29_000, 2)
      assert.isTrue(time.isAgreed())
    }))

  it.effect("becomes PostgreSQL's time at once when told to follow it, and stays unchanged if both agree already", () =>
    Effect.gen(function*() {
      const { make, world } = yield* makeWorld
      const { off, time } = yield* make
      world.processOff = 10 * minuteMs
      world.answerMs = 800
      world.early = 0
      yield* TestClock.adjust(minuteMs)
      time.believeDatabase()
      assert.strictEqual(off(), 0)
      world.answerMs = 0
      world.databaseOff = -5 * minuteMs
      yield* TestClock.adjust(2000)
      assert.strictEqual(off(), 0)
      time.believeDatabase()
      assert.strictEqual(off(), world.databaseOff)
    }))
})

layer(TestDatabase.layer, { excludeTestServices: true })("the time of a starting process", (it) => {
  it.effect("is trusted at once if the job that needs a trusted time ran minutes ago, and not if only other jobs did", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const isSettled = Layer.build(layerDatabaseTime("settled").pipe(Layer.provide(Settings.layerTest()))).pipe(
        Effect.map((context) => Context.get(context, DatabaseTime).isSettled()),
        Effect.provideService(References.MinimumLogLevel, "None"),
        Effect.scoped
      )
      const ran = (name: string, ago: string) =>
        sql`INSERT INTO jobs (name, next_run_at, last_started_at) VALUES (${name}, now(), now() - ${ago}::interval)
          ON CONFLICT (name) DO UPDATE SET last_started_at = EXCLUDED.last_started_at`
      assert.isTrue(yield* isSettled)
      yield* ran("another", "1 hour")
      assert.isFalse(yield* isSettled)
      yield* ran("settled", "1 hour")
      yield* ran("another", "1 minute")
      assert.isFalse(yield* isSettled)
      yield* ran("settled", "4 minutes")
      yield* ran("another", "-1 day")
      assert.isTrue(yield* isSettled)
    }))
})
