import { assert, describe, it } from "@effect/vitest"
import * as FastCheck from "fast-check"
import { drawsFrom } from "../../../src/domain/original/Fairness.ts"
import type { JsonObject } from "../../../src/domain/state/Change.ts"
import { originals } from "../../../src/domain/original/Originals.ts"
import { bet, units, wrongs } from "./support.ts"

/** Valid params for each original. */
const params: ReadonlyMap<string, FastCheck.Arbitrary<JsonObject>> = new Map<string, FastCheck.Arbitrary<JsonObject>>([
  [
    "dice",
    FastCheck.record({
      direction: FastCheck.constantFrom("under", "over"),
      target: FastCheck.integer({ min: 199, max: 9_800 }).map((target) => target / 100)
    })
  ],
  [
    "limbo",
    FastCheck.record({
      target: FastCheck.integer({ min: 101, max: 100_000_000 }).map((target) => target / 100)
    })
  ],
  ["coin_flip", FastCheck.record({ side: FastCheck.constantFrom("heads", "tails") })],
  [
    "plinko",
    FastCheck.record({
      rows: FastCheck.integer({ min: 8, max: 16 }),
      risk: FastCheck.constantFrom("low", "medium", "high")
    })
  ],
  [
    "mines",
    FastCheck.integer({ min: 1, max: 24 }).chain((mines) =>
      FastCheck.record({
        mines: FastCheck.constant(mines),
        cells: FastCheck.uniqueArray(FastCheck.nat(24), { minLength: 1, maxLength: 25 - mines })
      })
    )
  ]
])

/** Draws made of any words, 0 when they run out. */
const draws = FastCheck.array(FastCheck.nat(2 ** 32 - 1), { maxLength: 30 }).map((words) => {
  let used = 0
  return drawsFrom(() => words[used++] ?? 0)
})

const each = Array.from(originals.values(), (original) => ({
  original,
  params: params.get(original.name) ?? FastCheck.constant({})
}))

describe("originals (in-house games)", () => {
  it("are found by name, and state a return of 99 %", () => {
    assert.deepStrictEqual([...originals.keys()], ["dice", "limbo", "coin_flip", "plinko", "mines"])
    for (const [name, original] of originals) {
      assert.strictEqual(original.name, name)
      assert.strictEqual(original.returnPercent, 99)
    }
  })

  // Goal: no payout is off by a unit or exceeds the safe integers. Method: the same product in big integers.
  it("pay exactly floor(stake × multiplier), for stakes up to the maximum", () => {
    for (const { original, params } of each) {
      const stake = FastCheck.oneof(
        FastCheck.integer({ min: 1, max: original.maxStake }),
        FastCheck.integer({ min: 1, max: 1_000 }),
        FastCheck.constant(original.maxStake)
      )
      FastCheck.assert(FastCheck.property(params, stake, draws, (input, stake, draws) => {
        const { payout, multiplier, outcome } = bet(original, input, stake).play(draws)
        assert.isTrue(Number.isSafeInteger(payout))
        assert.strictEqual(BigInt(payout), BigInt(stake) * BigInt(units(multiplier)) / 10_000n)
        assert.isAtMost(multiplier, original.maxMultiplier)
        assert.deepStrictEqual({ ...outcome, ...input }, outcome, "the outcome repeats what the player chose")
        assert.deepStrictEqual(JSON.parse(JSON.stringify(outcome)), outcome, "the outcome is plain JSON")
      }))
    }
  })

  it("have a maximum stake whose highest payout is still an exact number", () => {
    for (const { original } of each) {
      const most = BigInt(Math.round(original.maxMultiplier * 10_000))
      const highestPayout = (stake: number) => BigInt(stake) * most / 10_000n
      assert.isTrue(highestPayout(original.maxStake) <= BigInt(Number.MAX_SAFE_INTEGER))
      assert.isTrue(highestPayout(original.maxStake + 1) >= BigInt(Number.MAX_SAFE_INTEGER))
    }
  })

  it("refuse invalid stakes, and report them together with all invalid params", () => {
    for (const { original, params } of each) {
      const [good] = FastCheck.sample(params, { numRuns: 1, seed: 1 })
      const stakes = [0, -1, 0.5, NaN, Infinity, original.maxStake + 1]
      for (const stake of stakes) assert.hasAllKeys(wrongs(original, good, stake), ["stake"], String(stake))
      const all = wrongs(original, { bogus: 1 }, 0)
      assert.deepInclude(all, { "params.bogus": ["is not known"] })
      assert.property(all, "stake")
      assert.isAbove(Object.values(all).filter(([message]) => message === "is required").length, 0)
      assert.deepStrictEqual(wrongs(original, { ...good, bogus: null }), { "params.bogus": ["is not known"] })
    }
  })

  it("accept only an object as params", () => {
    for (const { original } of each) {
      for (const input of [undefined, null, 1, "x", [], [1]]) {
        assert.deepStrictEqual(wrongs(original, input), { params: ["must be an object"] }, JSON.stringify(input))
      }
    }
  })
})
