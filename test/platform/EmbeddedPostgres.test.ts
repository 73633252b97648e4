import { assert, it } from "@effect/vitest"
import { Cause, Clock, Effect, Logger, References } from "effect"
import { TestClock } from "effect/testing"
import { keepServer } from "../../src/platform/EmbeddedPostgres.ts"
import { StartupError } from "../../src/platform/StartupError.ts"

// Goal: a server that dies or does not start again is started at a bounded rate, for ever, and the log says why it does not start. Method: a clock of the
// test and servers that are none, whose lives are given; the instants of all starts and of all lines. soak/embeddedPostgres.test.ts kills real ones.

/** Keeps a server for some time, whose starts are `outcomes` in their order and then the last one again; each is a life in seconds, or a failure. */
const keepFor = Effect.fnUntraced(function*(
  seconds: number,
  firstLifeSeconds: number,
  outcomes: ReadonlyArray<number | Effect.Effect<never, StartupError>>
) {
  const second = Effect.map(Clock.currentTimeMillis, (now) => now / 1000)
  const starts: Array<number> = []
  const lines: Array<{ readonly second: number; readonly text: string; readonly told: string }> = []
  const clock = yield* Clock.Clock
  const logger = Logger.make<unknown, void>(({ cause, fiber, message }) => {
    const { reason } = fiber.getRef(References.CurrentLogAnnotations)
    lines.push({
      second: clock.currentTimeMillisUnsafe() / 1000,
      text: String([message].flat()[0]),
      told: typeof reason === "string" ? reason : Cause.pretty(cause)
    })
  })
  const living = (life: number) => ({ pid: 1, exited: Effect.sleep(life * 1000) })
  const startAgain = Effect.gen(function*() {
    starts.push(yield* second)
    const outcome = outcomes[Math.min(starts.length, outcomes.length) - 1] ?? 0
    return typeof outcome === "number" ? living(outcome) : yield* outcome
  })
  const exited = Effect.sleep(firstLifeSeconds * 1000)
  yield* Effect.forkScoped(Effect.provide(keepServer({ pid: 1, exited }, startAgain), Logger.layer([logger])))
  yield* TestClock.adjust(seconds * 1000)
  return { starts, lines }
})

const failing = (message: string) => Effect.suspend(() => Effect.fail(new StartupError({ message })))

it.effect("a PostgreSQL that dies at once is restarted at growing intervals, up to half a minute", () =>
  Effect.gen(function*() {
    const { starts } = yield* keepFor(125, 0, [0])
    assert.deepStrictEqual(starts, [0, 1, 3, 7, 15, 31, 61, 91, 121])
  }))

it.effect("a PostgreSQL that ran for a minute is restarted at once, whatever happened before", () =>
  Effect.gen(function*() {
    // the third start, at 3 s, lives for a minute; the fourth does not
    const { starts } = yield* keepFor(125, 0, [0, 0, 60, 59, 0])
    assert.deepStrictEqual(starts, [0, 1, 3, 63, 123, 125])
  }))

it.effect("the reason why PostgreSQL does not start is logged at first, and then once a minute", () =>
  Effect.gen(function*() {
    const { lines, starts } = yield* keepFor(130, 100, [failing("no disk"), failing("no disk"), failing("no room")])
    assert.deepStrictEqual(starts, [100, 101, 103, 107, 115])
    assert.deepStrictEqual(lines, [
      { second: 100, text: "embedded PostgreSQL exited unexpectedly", told: "" },
      { second: 100, text: "embedded PostgreSQL is still down, restarts continue", told: "no disk" }
    ])
    yield* TestClock.adjust("100 seconds")
    assert.deepStrictEqual(starts.slice(5), [131, 161, 191, 221])
    assert.deepStrictEqual(lines.slice(2), [
      { second: 161, text: "embedded PostgreSQL is still down, restarts continue", told: "no room" },
      { second: 221, text: "embedded PostgreSQL is still down, restarts continue", told: "no room" }
    ])
  }))

it.effect("a defect during a restart of PostgreSQL is logged with its cause, and the restart is tried again", () =>
  Effect.gen(function*() {
    const { lines, starts } = yield* keepFor(10, 5, [Effect.die(new Error("planted")), 100])
    assert.deepStrictEqual(starts, [5, 6])
    assert.deepStrictEqual(lines.map(({ second, text }) => [second, text]), [
      [5, "embedded PostgreSQL exited unexpectedly"],
      [5, "embedded PostgreSQL restart failed"],
      [6, "embedded PostgreSQL restarted"]
    ])
    assert.include(lines[1]?.told, "planted")
  }))

it.effect("a stop during a start of PostgreSQL logs nothing", () =>
  Effect.gen(function*() {
    const { lines, starts } = yield* Effect.scoped(keepFor(10, 5, [Effect.never]))
    yield* TestClock.adjust("1 hour")
    assert.deepStrictEqual(starts, [5])
    assert.deepStrictEqual(lines, [{ second: 5, text: "embedded PostgreSQL exited unexpectedly", told: "" }])
  }))
