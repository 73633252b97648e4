import { assert, describe, it } from "@effect/vitest"
import { dice } from "../../../src/domain/original/Dice.ts"
import { assertReturn, bet, scripted, units, wrongs } from "./support.ts"

const directions = ["under", "over"] as const
const targets = { under: [1, 9_800], over: [199, 9_998] } as const

const play = (direction: "under" | "over", target: number, roll: number) =>
  bet(dice, { direction, target: target / 100 }).play(scripted(roll))

// Goal: the odds are as stated. Method: every possible roll.
describe("dice", () => {
  it("wins on exactly the rolls beyond the target, with a multiplier for a 99 % return cut to four decimals", () => {
    for (const direction of directions) {
      const [lowest, highest] = targets[direction]
      for (const target of [lowest, lowest + 1, 1_234, 4_950, 4_999, 5_000, 5_050, 9_500, highest - 1, highest]) {
        let winning = 0
        let paid = 0
        for (let roll = 0; roll < 10_000; roll++) {
          const { multiplier, outcome } = play(direction, target, roll)
          const won = direction === "under" ? roll < target : roll > target
          // one comparison in place of assertions: there are 200,000 rolls
          if (outcome["won"] !== won || outcome["roll"] !== roll / 100 || multiplier > 0 !== won) {
            assert.fail(`${direction} ${target}: ${JSON.stringify(outcome)}, ${multiplier}`)
          }
          if (won) {
            winning += 1
            paid = units(multiplier)
          }
        }
        assertReturn(paid, BigInt(winning), 10_000n, `${direction} ${target}`)
      }
    }
  })

  it("draws one number below 10,000, and reports the roll and the bet", () => {
    const draws = scripted(1_234)
    const { outcome } = bet(dice, { direction: "over", target: 12.33 }).play(draws)
    assert.deepStrictEqual(outcome, { direction: "over", target: 12.33, roll: 12.34, won: true })
    assert.deepStrictEqual(draws.bounds, [10_000])
  })

  it("has the same expected return for every possible target", () => {
    for (const direction of directions) {
      const [lowest, highest] = targets[direction]
      for (let target = lowest; target <= highest; target++) {
        const inside = direction === "under" ? target - 1 : target + 1
        const winning = direction === "under" ? target : 9_999 - target
        const multiplier = units(play(direction, target, inside).multiplier)
        assertReturn(multiplier, BigInt(winning), 10_000n, `${direction} ${target}`)
        assert.isAbove(multiplier, 10_000, "a win pays more than the stake")
        assert.strictEqual(play(direction, target, target).multiplier, 0, "the target itself loses")
      }
    }
  })

  it("has a maximum multiplier of 9900, paid when only one roll wins", () => {
    assert.strictEqual(dice.maxMultiplier, 9_900)
    assert.strictEqual(play("under", 1, 0).multiplier, 9_900)
    assert.strictEqual(play("over", 9_998, 9_999).multiplier, 9_900)
  })

  it("refuses targets that are out of range or have more than two decimals", () => {
    const target = (direction: unknown, value: unknown) => wrongs(dice, { direction, target: value })
    const under = { "params.target": ["must be a number between 0.01 and 98 with at most two decimals"] }
    for (const value of [0, -0, -1, 98.01, 50.001, NaN, Infinity, "50", null, [50]]) {
      assert.deepStrictEqual(target("under", value), under, String(value))
    }
    const over = { "params.target": ["must be a number between 1.99 and 99.98 with at most two decimals"] }
    for (const value of [1.98, 99.99, 100, 1e300]) assert.deepStrictEqual(target("over", value), over, String(value))
    assert.deepStrictEqual(target("up", 50), { "params.direction": ["must be one of: under, over"] })
    assert.deepStrictEqual(wrongs(dice, {}), {
      "params.direction": ["is required"],
      "params.target": ["is required"]
    })
  })
})
