import { assert, describe, it } from "@effect/vitest"
import { oneForOne, parseFactor } from "../../src/domain/CurrencyConversion.ts"
import { limitsIn } from "../../src/domain/limit/DefaultLimits.ts"

describe("limitsIn", () => {
  // Goal: a limit of the operator's currency gives the same protection in another one, and is never looser.
  it("converts amounts, rounded down, and leaves minutes unchanged", () => {
    const limits = { max_daily_deposit: 10_000, max_single_bet: 0, max_session_minutes: 60 }
    assert.deepStrictEqual(limitsIn(limits, oneForOne), limits)
    assert.deepStrictEqual(limitsIn(limits, parseFactor("0.61")), { ...limits, max_daily_deposit: 16_393 })
    assert.deepStrictEqual(limitsIn({ max_single_bet: 1 }, parseFactor("3")), { max_single_bet: 0 })
  })

  it("needs an exchange rate for amounts, not for minutes", () => {
    assert.isNull(limitsIn({ max_single_bet: 5, max_session_minutes: 60 }, undefined))
    assert.deepStrictEqual(limitsIn({ max_session_minutes: 60 }, undefined), { max_session_minutes: 60 })
    assert.deepStrictEqual(limitsIn({}, undefined), {})
  })
})
