import { assert, describe, it } from "@effect/vitest"
import * as FastCheck from "fast-check"
import { boundsIn, oneForOne, parseFactor, thresholdIn } from "../../src/domain/CurrencyConversion.ts"
import { maxAmount } from "../../src/domain/Money.ts"

// Goal: an amount of a player's currency is above an operator's threshold exactly when its value is, and an amount without a rate is
// above it. Method: by hand, and a property against the definition in fractions of whole numbers.

const decimals = FastCheck.tuple(FastCheck.nat(2_000_000_000), FastCheck.integer({ min: 0, max: 12 })).map(
  ([digits, scale]) => {
    const text = String(digits).padStart(scale + 1, "0")
    return scale === 0 ? text : `${text.slice(0, -scale)}.${text.slice(-scale)}`
  }
)

const amounts = FastCheck.maxSafeNat()

describe("thresholdIn", () => {
  it("is exceeded by exactly the amounts whose converted value exceeds the threshold", () => {
    FastCheck.assert(FastCheck.property(amounts, amounts, decimals, (threshold, amount, decimal) => {
      const factor = parseFactor(decimal)
      if (factor === undefined) return assert.match(decimal, /^[0.]+$/)
      const most = thresholdIn(threshold, factor)
      assert(most !== null)
      const isAbove = BigInt(amount) * factor.numerator > BigInt(threshold) * factor.denominator
      assert.strictEqual(amount > most, isAbove, `${amount} at ${decimal} against ${threshold}`)
    }))
  })

  it("agrees with examples computed by hand", () => {
    // 1 JPY is 0.61 cents: 100.00 EUR are 16393 yen, and one more yen exceeds it
    assert.strictEqual(thresholdIn(10_000, parseFactor("0.61")), 16_393)
    // ten minor units of a three-decimal currency per cent
    assert.strictEqual(thresholdIn(10_000, parseFactor("0.1")), 100_000)
    assert.strictEqual(thresholdIn(10_000, parseFactor("1.1")), 9090)
    assert.strictEqual(
      thresholdIn(110, parseFactor("1.1")),
      100,
      "exactly, where floating point says 110.00000000000001"
    )
    assert.strictEqual(thresholdIn(0, parseFactor("1.1")), 0)
    assert.strictEqual(thresholdIn(7, oneForOne), 7)
  })

  it("is 0 without an exchange rate, so that every amount reaches it, and null without a threshold", () => {
    assert.strictEqual(thresholdIn(10_000, undefined), 0)
    assert.isNull(thresholdIn(null, undefined))
    assert.isNull(thresholdIn(null, parseFactor("2")))
  })

  it("is at most the largest safe integer", () => {
    assert.strictEqual(thresholdIn(Number.MAX_SAFE_INTEGER, parseFactor("0.000001")), Number.MAX_SAFE_INTEGER)
  })
})

describe("parseFactor", () => {
  it("reads plain decimals above zero", () => {
    assert.deepStrictEqual(parseFactor("12.50"), { numerator: 1250n, denominator: 100n })
    for (const text of ["", "0", "0.00", "-1", "1e5", "1,5", ".5", "NaN"]) assert.isUndefined(parseFactor(text), text)
  })
})

describe("boundsIn", () => {
  // Goal: an amount is within the bounds exactly when its value is, at both ends.
  it("contain exactly the amounts whose converted value is within the bounds", () => {
    FastCheck.assert(FastCheck.property(
      FastCheck.integer({ min: 2, max: 1_000_000 }),
      FastCheck.integer({ min: 2, max: 1_000_000 }),
      amounts,
      decimals,
      (min, max, amount, decimal) => {
        const factor = parseFactor(decimal)
        if (factor === undefined) return
        const bounds = boundsIn({ min, max }, factor)
        assert(bounds !== null)
        const value = BigInt(amount) * factor.numerator
        const isWithin = value >= BigInt(min) * factor.denominator && value <= BigInt(max) * factor.denominator
        assert.strictEqual(amount >= bounds.min && amount <= bounds.max, isWithin, `${amount} at ${decimal}`)
      }
    ))
  })

  it("agrees with examples computed by hand", () => {
    assert.deepStrictEqual(boundsIn({ min: 500, max: 10_000 }, parseFactor("0.61")), { min: 820, max: 16_393 })
    assert.deepStrictEqual(boundsIn({ min: 500, max: 10_000 }, oneForOne), { min: 500, max: 10_000 })
    assert.isNull(boundsIn({ min: 500, max: maxAmount }, undefined))
    const open = { min: 1, max: maxAmount }
    assert.deepStrictEqual(boundsIn(open, undefined), open, "what bounds nothing needs no rate")
    assert.deepStrictEqual(boundsIn({ ...open, min: 500 }, parseFactor("0.61")), { min: 820, max: maxAmount })
    assert.deepStrictEqual(boundsIn({ ...open, max: 10_000 }, parseFactor("0.61")), { min: 1, max: 16_393 })
  })
})
