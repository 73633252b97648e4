import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import {
  type AgreedTime,
  beginTime as beginTimeKnowing,
  followTime as followTimeFrom,
  type Reading,
  settledAfterMs,
  slewRate,
  timeAt as timeAtMs
} from "../../src/platform/AgreedTime.ts"

// Goal: one clock that is wrong, whichever and whenever, never moves the time in use, and is never taken for right. Method: readings every two
// seconds of a world whose true time is known, with one clock set away and back at random.

const toleranceMs = 30_000
const readEveryMs = 2000
const startedAt = Date.parse("2026-11-27T12:00:00Z")
const minuteMs = 60_000
const dayMs = 86_400_000

/** Reading of the world `afterMs` after the start, with clocks set this far away. */
const readingOf = (afterMs: number, processOff: number, databaseOff: number): Reading => ({
  processMs: startedAt + afterMs + processOff,
  databaseMs: startedAt + afterMs + databaseOff,
  monotonicMs: 5000 + afterMs,
  tookMs: 0
})

const timeAt = (time: AgreedTime, { monotonicMs }: Reading): number => timeAtMs(time, monotonicMs)

const beginTime = (reading: Reading, knownMs: number, toleranceMs: number, newestMs = knownMs): AgreedTime =>
  beginTimeKnowing(reading, { newestMs, settledMs: knownMs }, toleranceMs)

const followTime = (time: AgreedTime, reading: Reading): AgreedTime =>
  followTimeFrom(time, reading, reading.monotonicMs + reading.tookMs / 2, toleranceMs)

/** Differences from minutes to years, in both directions. */
const wrong = fc.tuple(fc.integer({ min: 31_000, max: 400 * dayMs }), fc.boolean()).map(([ms, isBehind]) =>
  isBehind ? -ms : ms
)

describe("the time agreed from the clocks of process and database", () => {
  it("stays right while one clock is set wrong and back, and is agreed only while both are right", () => {
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
            time = followTime(time, read)
            assert.strictEqual(timeAt(time, read), startedAt + after)
            assert.strictEqual(time.isAgreed, off === 0)
          }
        }
      }
    ))
  })

  it("begins with the right one of two clocks when the newest time in the database is at most a minute old", () => {
    fc.assert(fc.property(fc.constantFrom("process", "database"), wrong, fc.nat(60_000), (which, off, knownAgo) => {
      fc.pre(Math.abs(off) > 2 * 60_000)
      const read = readingOf(0, which === "process" ? off : 0, which === "database" ? off : 0)
      const time = beginTime(read, startedAt - knownAgo, toleranceMs)
      assert.strictEqual(timeAt(time, read), startedAt)
      assert.isFalse(time.isAgreed)
    }))
  })

  it("follows two clocks that are set wrong together only after five minutes, and never if they are set back before that", () => {
    let time = beginTime(readingOf(0, 0, 0), 0, toleranceMs)
    const away = 3 * dayMs
    let after = 0
    const run = (forMs: number, off: number) => {
      for (const until = after + forMs; after < until;) {
        after += readEveryMs
        time = followTime(time, readingOf(after, off, off))
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

  it("is not trusted when both clocks begin far from the newest time in the database, until they agree for five minutes", () => {
    fc.assert(fc.property(wrong, fc.integer({ min: 1, max: 140 }), fc.boolean(), (off, broken, isBreak) => {
      fc.pre(Math.abs(off) > settledAfterMs + minuteMs)
      let time = beginTime(readingOf(0, off, off), startedAt - minuteMs, toleranceMs)
      assert.isTrue(time.isAgreed)
      let settledFor = 0
      for (let reading = 1; reading <= 400; reading++) {
        const isAway = isBreak && reading === broken
        const read = readingOf(reading * readEveryMs, off, isAway ? off + minuteMs : off)
        time = followTime(time, read)
        settledFor = isAway ? 0 : settledFor + readEveryMs
        if (settledFor < settledAfterMs) assert.isBelow(read.monotonicMs, time.settledFromMs)
        if (settledFor > settledAfterMs) assert.isAtLeast(read.monotonicMs, time.settledFromMs)
      }
    }))
  })

  it("is right and trusted at once when clocks that began far from the newest time in the database are set back", () => {
    const begun = beginTime(readingOf(0, 3 * dayMs, 3 * dayMs), startedAt - minuteMs, toleranceMs)
    const read = readingOf(2000, 0, 0)
    const time = followTime(begun, read)
    assert.strictEqual(timeAt(time, read), startedAt + 2000)
    assert.isTrue(time.isAgreed)
    assert.isAtMost(time.settledFromMs, read.monotonicMs)
  })

  it("begins with the clock that is near the newest time in the database, and untrusted, as the clocks have differed for days", () => {
    const read = readingOf(0, -dayMs, 0)
    const time = beginTime(read, startedAt - 2 * dayMs, toleranceMs, startedAt - minuteMs)
    assert.strictEqual(timeAt(time, read), startedAt)
    assert.isAbove(time.settledFromMs, read.monotonicMs)
  })

  it("needs no confirmation when it is near the newest timestamp stored, or when none is stored", () => {
    for (const knownMs of [startedAt - settledAfterMs, startedAt + settledAfterMs, 0]) {
      const read = readingOf(0, 0, 0)
      assert.isAtMost(beginTime(read, knownMs, toleranceMs).settledFromMs, read.monotonicMs)
    }
  })

  it("corrects small differences towards PostgreSQL's clock, by one second in twenty", () => {
    const read = readingOf(0, 1500, 0)
    const begun = beginTime(read, 0, toleranceMs)
    assert.deepInclude(begun, { isAgreed: true, offsetMs: 1500 })
    assert.strictEqual(timeAt(begun, read), startedAt)
    const later = readingOf(2000, 1500, 700)
    const next = followTime(begun, later)
    assert.deepInclude(next, { isAgreed: true, offsetMs: 800 })
    assert.strictEqual(timeAt(next, later), startedAt + 2000)
    assert.strictEqual(timeAt(next, readingOf(3000, 0, 0)), startedAt + 3050)
    assert.strictEqual(timeAt(next, readingOf(16_000, 0, 0)), startedAt + 16_700)
  })

  it("never goes back, and runs faster or slower by at most its slew rate while readings are within the tolerance", () => {
    fc.assert(fc.property(
      fc.array(
        fc.record({
          off: fc.integer({ min: -14_000, max: 14_000 }),
          tookMs: fc.nat(1000),
          // of the time that the question took, the part before PostgreSQL looked at its clock
          side: fc.double({ min: 0, max: 1, noNaN: true }),
          pauseMs: fc.double({ min: 0, max: 3000, noNaN: true })
        }),
        { minLength: 1, maxLength: 60 }
      ),
      (readings) => {
        let after = 0
        let time = beginTime(readingOf(0, 0, 0), 0, toleranceMs)
        let told = timeAt(time, readingOf(0, 0, 0))
        const look = (ms: number) => {
          const now = timeAt(time, readingOf(after + ms, 0, 0))
          const [least, most] = [told + ms * (1 - slewRate), told + ms * (1 + slewRate)]
          assert.isTrue(now >= told && now > least - 0.01 && now < most + 0.01, `${now - told} in ${ms}`)
          after += ms
          told = now
        }
        for (const { off, pauseMs, side, tookMs } of readings) {
          look(tookMs)
          const middle = after - tookMs / 2
          const read = { ...readingOf(middle, 0, off + (side - 0.5) * tookMs), tookMs }
          time = followTime(time, read)
          look(0)
          look(pauseMs)
        }
      }
    ))
  })

  it("is corrected only by quick answers of the database, as a slow one does not tell which direction took long", () => {
    for (const side of [-0.5, -0.2, 0.5]) {
      const begun = beginTime(readingOf(0, 0, 0), 0, toleranceMs)
      const slow = { ...readingOf(2000, 0, side * 800), tookMs: 800 }
      const next = followTime(begun, slow)
      assert.strictEqual(timeAt(next, readingOf(60_000, 0, 0)), startedAt + 60_000)
      // what is being made up for stands as well
      const corrected = followTime(begun, readingOf(2000, 0, -300))
      const behind = followTime(corrected, { ...readingOf(4000, 0, side * 800 - 300), tookMs: 800 })
      assert.strictEqual(timeAt(behind, readingOf(60_000, 0, 0)), startedAt + 60_000 - 300)
    }
  })

  it("runs slower to follow PostgreSQL's clock when that is set back within the tolerance", () => {
    const begun = beginTime(readingOf(0, 0, 0), 0, toleranceMs)
    let time = begun
    for (let after = readEveryMs; after <= 29_000 / slewRate; after += readEveryMs) {
      const read = readingOf(after, 0, -29_000)
      time = followTime(time, read)
      assert.isTrue(time.isAgreed)
      assert.approximately(timeAt(time, read) - startedAt, after - (after - readEveryMs) * slewRate, 0.1)
    }
    const last = readingOf(29_000 / slewRate + readEveryMs, 0, -29_000)
    assert.approximately(timeAt(time, last), last.databaseMs, 0.1)
  })
})
