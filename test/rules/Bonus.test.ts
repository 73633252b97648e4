import { assert, describe, it } from "@effect/vitest"
import { contribution, wager, wageringProgress } from "../../src/domain/state/Bonus.ts"
import { makeBonus } from "../kit/Messages.ts"

// Goal: contribution and progress are rounded down, exactly, for any amount. Method: values worked out by
// hand, at the edges.
describe("wagering", () => {
  it("uses the contribution rate of the game's type, unless the bonus sets one for the game itself", () => {
    const bonus = makeBonus({ contributions: { 7: 50, 8: 0 } })
    const games = [[1, "rng"], [1, "live"], [7, "live"], [8, "rng"]] as const
    assert.deepStrictEqual(games.map(([gameId, type]) => contribution(bonus, gameId, type)), [100, 10, 50, 0])
  })

  it("counts the contribution rate's share of a stake, rounded down", () => {
    assert.strictEqual(wager(999, 100), 999)
    assert.strictEqual(wager(999, 10), 99)
    assert.strictEqual(wager(9, 10), 0)
    assert.strictEqual(wager(9_007_199_254_740_991, 10), 900_719_925_474_099)
  })

  it("shows progress in percent, rounded down, between 0 and 100", () => {
    assert.strictEqual(wageringProgress(0, 0), 100)
    assert.strictEqual(wageringProgress(999, 1000), 99)
    assert.strictEqual(wageringProgress(1000, 1000), 100)
    assert.strictEqual(wageringProgress(5000, 1000), 100)
    assert.strictEqual(wageringProgress(-5, 1000), 0)
    assert.strictEqual(wageringProgress(9_007_199_254_740_990, 9_007_199_254_740_991), 99)
  })
})
