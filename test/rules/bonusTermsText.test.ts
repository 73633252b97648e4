import { assert, it } from "@effect/vitest"
import { describeBonusTerms, formatAmount } from "../../src/domain/bonus/BonusTermsText.ts"

const terms = {
  type: "deposit_match",
  default_amount: 1000,
  wagering_multiplier: 30,
  valid_days: 1,
  max_bet: 500,
  max_conversion_multiplier: 5,
  max_grants_per_player: 1,
  contributions: { "7": 0, "8": 50, "9": 50 }
} as const

const euros = (amount: number) => formatAmount(amount, "EUR", 2)

it("the terms of a bonus in words name every amount that they come to", () => {
  assert.deepStrictEqual(describeBonusTerms(terms, euros, (id) => `Game ${id}`), [
    "The player gets 10.00 EUR of bonus money.",
    "It has to be wagered 30 times: stakes of 300.00 EUR in all, of real and bonus money alike.",
    "It runs for 1 day from its activation; what is left of the bonus then is taken away.",
    "While it runs, a stake may be 5.00 EUR at most.",
    "Of what the bonus wallet holds at the end, 50.00 EUR at most becomes real money; the rest is taken away.",
    "Stakes count in full, those on live games with 10 percent.",
    "Stakes on Game 8, Game 9 count with 50 percent.",
    "Bonus money cannot be staked on Game 7, and stakes there do not count.",
    "A player can be granted it once."
  ])
})

it("a bonus without wagering is money at once, and says no more of terms that it does not have", () => {
  assert.deepStrictEqual(
    describeBonusTerms(
      { ...terms, wagering_multiplier: 0, max_grants_per_player: 0 },
      (amount) => formatAmount(amount, "JPY", 0)
    ),
    [
      "The player gets 1000 JPY as real money at once; nothing has to be wagered.",
      "A player can be granted it any number of times."
    ]
  )
})
