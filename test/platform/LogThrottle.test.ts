import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { makeLogThrottle } from "../../src/platform/LogThrottle.ts"

// Goal: what is said of every request is said once in a while, and nothing of it is forgotten. Method: a clock of the test.
it.effect("writes a line once per interval, with the number of suppressed ones", () =>
  Effect.gen(function*() {
    const said: Array<number> = []
    const throttle = yield* makeLogThrottle(5000)
    const say = throttle((others) => Effect.sync(() => void said.push(others)))
    yield* say
    yield* say
    yield* say
    yield* TestClock.adjust("4999 millis")
    yield* say
    assert.deepStrictEqual(said, [0])
    yield* TestClock.adjust("1 millis")
    yield* say
    yield* say
    yield* TestClock.adjust("1 minute")
    yield* say
    assert.deepStrictEqual(said, [0, 3, 1])
    // set back: that time does not have to come round again
    yield* TestClock.setTime(-3_600_000)
    yield* TestClock.adjust("5 seconds")
    yield* say
    assert.deepStrictEqual(said, [0, 3, 1, 0])
  }))
