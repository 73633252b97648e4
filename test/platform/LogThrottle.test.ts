import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { makeLogThrottle } from "../../src/platform/LogThrottle.ts"

// Goal: a repeated line is written once per interval, with all suppressed ones counted. Method: a clock of the test.
it.effect("a throttled log line is written once per interval, with the number of lines suppressed since", () =>
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
    // set back: the interval does not wait for that time again
    yield* TestClock.setTime(-3_600_000)
    yield* TestClock.adjust("5 seconds")
    yield* say
    assert.deepStrictEqual(said, [0, 3, 1, 0])
  }))
