import { assert, describe, it } from "@effect/vitest"
import * as FastCheck from "fast-check"
import { limbo, limboResult } from "../../../src/domain/original/Limbo.ts"
import { bet, scripted, units, wrongs } from "./support.ts"

const chances = 2n ** 46n

const play = (target: number, chance: number) => {
  const draws = scripted(Math.floor(chance / 2 ** 32), chance % 2 ** 32)
  const played = bet(limbo, { target: target / 100 }).play(draws)
  assert.deepStrictEqual(draws.bounds, [2 ** 14, 2 ** 32])
  return played
}

/** Number of the 2^46 chances that must win for the stated return: 0.99 ÷ target of them, rounded down. */
const winning = (target: number): bigint => 99n * chances / BigInt(target)

// Goal: the odds are as stated. Method: the result never rises with the chance, so the chances that win against a
// target are the first ones; find the last of them, and compare with the distribution function.
describe("limbo", () => {
  it("wins on exactly the lowest 0.99 ÷ target of all 2^46 draws, for every target up to 100 and many larger ones", () => {
    const targets = [
      ...Array.from({ length: 9_900 }, (_, index) => 101 + index),
      ...Array.from({ length: 997 }, (_, index) => 10_001 + 100_207 * index),
      99_999_999,
      100_000_000
    ]
    for (const target of targets) {
      const count = winning(target)
      const last = play(target, Number(count) - 1)
      const next = play(target, Number(count))
      assert.strictEqual(units(last.multiplier), target * 100)
      assert.deepStrictEqual([last.outcome["won"], next.outcome["won"]], [true, false], `target ${target}`)
      assert.strictEqual(next.multiplier, 0)
      // 99 % × 2^46 − target × winning, in hundredths: the shortfall is less than one chance's worth
      const shortfall = 99n * chances - BigInt(target) * count
      assert.isTrue(shortfall >= 0n && shortfall < BigInt(target), `return of ${target}`)
    }
  })

  it("has as its result 0.99 divided by the share of draws not above its own, so that a higher draw never gives a higher result", () => {
    const chance = FastCheck.integer({ min: 0, max: Number(chances) - 1 })
    FastCheck.assert(FastCheck.property(chance, chance, (a, b) => {
      assert.isAtLeast(limboResult(Math.min(a, b)), limboResult(Math.max(a, b)))
      const exact = Number(99n * chances / BigInt(a + 1))
      assert.strictEqual(limboResult(a), Math.min(Math.max(exact, 100), 100_000_000))
    }))
  })

  it("shows results from 1 to its highest multiplier", () => {
    assert.strictEqual(limbo.maxMultiplier, 1_000_000)
    assert.deepStrictEqual(play(100_000_000, 0).outcome, { target: 1_000_000, result: 1_000_000, won: true })
    assert.deepStrictEqual(play(101, Number(chances) - 1).outcome, { target: 1.01, result: 1, won: false })
  })

  it("accepts targets from 1.01 to 1,000,000 in steps of 0.01", () => {
    const refusal = { "params.target": ["must be a number between 1.01 and 1000000 with at most two decimals"] }
    for (const target of [1, 0, -2, 1.011, 1_000_000.01, 1e300, NaN, "2", true]) {
      assert.deepStrictEqual(wrongs(limbo, { target }), refusal, String(target))
    }
    for (const target of [1.01, 1.1, 4.35, 1.13, 999_999.99, 1_000_000]) {
      assert.strictEqual(bet(limbo, { target }).params.target, target)
    }
  })
})
