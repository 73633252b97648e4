import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { type AgreedTime, beginTime, followTime, type Reading, settledAfterMs } from "../../src/platform/AgreedTime.ts"

// Goal: one clock that is wrong, whichever and whenever, never moves the time in use, and is never taken for right. Method: readings every two
// seconds of a world whose true time is known, with one clock set away and back at random.

const toleranceMs = 30_000
const readEveryMs = 2000
const startedAt = Date.parse("2026-11-27T12:00:00Z")
const dayMs = 86_400_000

/** Reading of the world `afterMs` after the start, with clocks set this far away. */
const readingOf = (afterMs: number, processOff: number, databaseOff: number): Reading => ({
  processMs: startedAt + afterMs + processOff,
  databaseMs: startedAt + afterMs + databaseOff,
  monotonicMs: 5000 + afterMs
})

const timeAt = (time: AgreedTime, { monotonicMs }: Reading): number => time.sinceEpochMs + monotonicMs

/** Differences from minutes to years, in both directions. */
const wrong = fc.tuple(fc.integer({ min: 31_000, max: 400 * dayMs }), fc.boolean()).map(([ms, isBehind]) =>
  isBehind ? -ms : ms
)

describe("the time in use", () => {
  it("stays true while one clock is set away and back, and is agreed on when neither is away", () => {
    fc.assert(fc.property(
      fc.constantFrom("process", "database"),
      fc.array(fc.record({ off: fc.oneof(fc.constant(0), wrong), readings: fc.integer({ min: 1, max: 400 }) }), {
        maxLength: 6
      }),
      (which, phases) => {
        let after = 0
        let time = beginTime(readingOf(0, 0, 0), 0, toleranceMs)
        for (const { off, readings } of phases) {
          for (let reading = 0; reading < readings; reading++) {
            after += readEveryMs
            const read = readingOf(after, which === "process" ? off : 0, which === "database" ? off : 0)
            time = followTime(time, read, toleranceMs)
            assert.strictEqual(timeAt(time, read), startedAt + after)
            assert.strictEqual(time.isAgreed, off === 0)
          }
        }
      }
    ))
  })

  it("begins with the clock that is right, when the database knows a time of the last minute", () => {
    fc.assert(fc.property(fc.constantFrom("process", "database"), wrong, fc.nat(60_000), (which, off, knownAgo) => {
      fc.pre(Math.abs(off) > 2 * 60_000)
      const read = readingOf(0, which === "process" ? off : 0, which === "database" ? off : 0)
      const time = beginTime(read, startedAt - knownAgo, toleranceMs)
      assert.strictEqual(timeAt(time, read), startedAt)
      assert.isFalse(time.isAgreed)
    }))
  })

  it("follows both clocks when they were set together only after five minutes, and not when they are set back before", () => {
    let time = beginTime(readingOf(0, 0, 0), 0, toleranceMs)
    const away = 3 * dayMs
    let after = 0
    const run = (forMs: number, off: number) => {
      for (const until = after + forMs; after < until;) {
        after += readEveryMs
        time = followTime(time, readingOf(after, off, off), toleranceMs)
      }
      return timeAt(time, readingOf(after, off, off)) - startedAt - after
    }
    assert.strictEqual(run(120_000, away), 0)
    assert.isFalse(time.isAgreed)
    assert.strictEqual(run(60_000, 0), 0)
    assert.isTrue(time.isAgreed)
    assert.strictEqual(run(settledAfterMs, away), 0)
    assert.strictEqual(run(2 * readEveryMs, away), away)
    assert.isTrue(time.isAgreed)
  })

  it("takes the differences of good clocks as PostgreSQL has them", () => {
    const read = readingOf(0, 1500, 0)
    const begun = beginTime(read, 0, toleranceMs)
    assert.deepInclude(begun, { isAgreed: true, offsetMs: 1500 })
    assert.strictEqual(timeAt(begun, read), startedAt)
    const later = readingOf(2000, 1500, 700)
    const next = followTime(begun, later, toleranceMs)
    assert.deepInclude(next, { isAgreed: true, offsetMs: 800 })
    assert.strictEqual(timeAt(next, later), startedAt + 2700)
  })
})
