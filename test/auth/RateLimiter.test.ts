import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as fc from "fast-check"
import { makeRateWindows } from "../../src/auth/RateLimiter.ts"

// Goal: a key gets exactly its limit in each window, and windows begin with a request. Method: a model of one window
// with the same random requests.

const withLimiter = <A>(use: (limiter: ReturnType<typeof makeRateWindows>) => A) =>
  Effect.sync(() => use(makeRateWindows()))

describe("RateLimiter", () => {
  it.effect("agrees with a plain count per window", () =>
    withLimiter((limiter) => {
      const limit = 3
      let keyId = 0
      fc.assert(fc.property(fc.array(fc.nat(40_000), { maxLength: 30 }), (waits) => {
        keyId++
        let now = 1_000_000
        let startedAt = -Infinity
        let taken = 0
        for (const wait of waits) {
          now += wait
          if (now >= startedAt + 60_000) {
            startedAt = now
            taken = 0
          }
          const expected = taken < limit
          if (expected) taken++
          const resetsAt = startedAt + 60_000
          const standing = { isAllowed: expected, limit, remaining: limit - taken, resetsAt }
          assert.deepStrictEqual(limiter.take(keyId, limit, now), standing)
          assert.deepStrictEqual(limiter.peek(keyId, limit, now), { ...standing, isAllowed: true })
        }
      }))
    }))

  it.effect("does not wait for a time that comes round again when the clock is set back", () =>
    withLimiter((limiter) => {
      const now = 7_200_000
      assert.isTrue(limiter.take(1, 1, now).isAllowed)
      assert.isFalse(limiter.take(1, 1, now + 1).isAllowed)
      const before = now - 3_600_000
      assert.deepStrictEqual(limiter.take(1, 1, before), {
        isAllowed: true,
        limit: 1,
        remaining: 0,
        resetsAt: before + 60_000
      })
      assert.isFalse(limiter.take(1, 1, before + 59_999).isAllowed)
      assert.isTrue(limiter.take(1, 1, before + 60_000).isAllowed)
    }))

  it.effect("counts keys apart, looks without counting, and follows a changed limit", () =>
    withLimiter((limiter) => {
      assert.strictEqual(limiter.peek(1, 2, 0).remaining, 2)
      assert.strictEqual(limiter.take(1, 2, 0).remaining, 1)
      assert.strictEqual(limiter.peek(1, 2, 0).remaining, 1)
      assert.strictEqual(limiter.take(2, 2, 0).remaining, 1)
      assert.isTrue(limiter.take(1, 2, 1).isAllowed)
      assert.isFalse(limiter.take(1, 2, 2).isAllowed)
      assert.strictEqual(limiter.take(1, 5, 3).remaining, 2)
      assert.strictEqual(limiter.peek(1, 1, 4).remaining, 0)
    }))

  it.effect("keeps a bounded number of windows", () =>
    withLimiter((limiter) => {
      for (let keyId = 0; keyId < 150_000; keyId++) limiter.take(keyId, 5, 0)
      // the oldest was dropped for lack of room, the newest was not
      assert.strictEqual(limiter.peek(0, 5, 1).remaining, 5)
      assert.strictEqual(limiter.peek(149_999, 5, 1).remaining, 4)
    }))
})
