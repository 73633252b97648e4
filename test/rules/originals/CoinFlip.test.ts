import { assert, describe, it } from "@effect/vitest"
import { coinFlip } from "../../../src/domain/original/CoinFlip.ts"
import { bet, scripted, wrongs } from "./support.ts"

// Goal: the odds are as stated. Method: both sides of the coin for both bets.
describe("coin flip", () => {
  it("returns exactly 99 % on average, whichever side is chosen", () => {
    for (const side of ["heads", "tails"] as const) {
      const flips = [0, 1].map((number) => bet(coinFlip, { side }, 100).play(scripted(number)))
      assert.deepStrictEqual(flips.map((flip) => flip.outcome["result"]), ["heads", "tails"])
      assert.deepStrictEqual(flips.map((flip) => flip.outcome["won"]), ["heads" === side, "tails" === side])
      assert.deepStrictEqual(flips.map((flip) => flip.payout), side === "heads" ? [198, 0] : [0, 198])
      assert.deepStrictEqual(flips.map((flip) => flip.multiplier), side === "heads" ? [1.98, 0] : [0, 1.98])
    }
    assert.strictEqual(coinFlip.maxMultiplier, 1.98)
  })

  it("draws one number below 2", () => {
    const draws = scripted(1)
    bet(coinFlip, { side: "tails" }).play(draws)
    assert.deepStrictEqual(draws.bounds, [2])
  })

  it("accepts only heads and tails", () => {
    assert.deepStrictEqual(wrongs(coinFlip, { side: "edge" }), { "params.side": ["must be one of: heads, tails"] })
  })
})
