import { assert, describe, it } from "@effect/vitest"
import * as FastCheck from "fast-check"
import { isAmount, maxAmount, multiplyDivideFloor } from "../../src/domain/Money.ts"

describe("money", () => {
  it("is a whole number within the safe integer range", () => {
    for (const amount of [0, 1, -1, maxAmount, -maxAmount]) assert.isTrue(isAmount(amount))
    for (const amount of [0.5, maxAmount + 1, -maxAmount - 1, Number.NaN, Number.POSITIVE_INFINITY]) {
      assert.isFalse(isAmount(amount))
    }
  })

  // Goal: a share of money is exact for any size. Method: the same in arbitrary precision, with sizes of every magnitude.
  it("has shares that are computed exactly and rounded down", () => {
    const amounts = FastCheck.nat(53).chain((bits) =>
      FastCheck.maxSafeNat().map((value) => Math.floor(value / 2 ** bits))
    )
    FastCheck.assert(
      FastCheck.property(amounts, amounts, amounts, (a, b, c) => {
        FastCheck.pre(c > 0 && b <= c)
        assert.strictEqual(multiplyDivideFloor(a, b, c), Number(BigInt(a) * BigInt(b) / BigInt(c)))
      }),
      { seed: 1, numRuns: 500 }
    )
  })
})
