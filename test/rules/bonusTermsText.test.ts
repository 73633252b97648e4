import { assert, it } from "@effect/vitest"
import {
  describeBonusTerms,
  formatAmount,
  leftToWager,
  tellGrantedBonus
} from "../../src/domain/bonus/BonusTermsText.ts"

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

it("the text of bonus terms states every resulting amount", () => {
  assert.deepStrictEqual(describeBonusTerms(terms, euros, (id) => `Game ${id}`), [
    "The player gets 10.00 EUR of bonus money, however much was deposited.",
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

it("the text of a bonus without wagering says that it is paid as real money, and leaves out terms that do not apply", () => {
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

const grant = {
  name: "Welcome",
  amount: 1000,
  state: "activated",
  result: null,
  wagerRequirement: 30_000,
  wagered: 4500,
  maxBet: 500,
  maxConversion: 5000,
  validDays: 14,
  contributions: { "7": 0, "8": 50 },
  converted: 0,
  expiresAt: Date.parse("2026-12-04T12:00:00.000Z")
} as const

const texts = {
  money: euros,
  date: (at: number) => new Date(at).toISOString().slice(0, 10),
  nameOf: (id: string) => `Game ${id}`
}

it("the player's text of a bonus states how much is left to wager, and the terms as granted", () => {
  const games = [
    "Stakes count in full, those on live games with 10 percent.",
    "Stakes on Game 8 count with 50 percent.",
    "Bonus money cannot be staked on Game 7, and stakes there do not count."
  ]
  assert.deepStrictEqual(tellGrantedBonus(grant, texts), [
    "Welcome: 10.00 EUR of bonus money.",
    "You have staked 45.00 EUR of 300.00 EUR; 255.00 EUR are left to wager.",
    "It runs until 2026-12-04; what is left of the bonus then is taken away.",
    "A stake may be 5.00 EUR at most while it runs.",
    "At the end 50.00 EUR at most becomes real money; the rest is taken away.",
    ...games
  ])
  const waiting = { ...grant, state: "pending", expiresAt: null, wagered: 0, maxBet: 0, maxConversion: 0 } as const
  assert.deepStrictEqual(tellGrantedBonus(waiting, texts).slice(1), [
    "You have staked 0.00 EUR of 300.00 EUR; 300.00 EUR are left to wager.",
    "It waits until the bonus before it has ended, and then runs for 14 days.",
    "Any stake is possible.",
    "All that the bonus wallet holds at the end becomes real money.",
    ...games
  ])
  // a stake that was taken back may leave less than nothing, one more than needed
  assert.deepStrictEqual([-5, 40_000].map((wagered) => leftToWager({ ...grant, wagered })), [30_000, 0])
})

it("the player's text of a finished bonus states its result, or for cash that nothing had to be wagered", () => {
  const ended = (result: "converted" | "lost" | "expired" | "cancelled") =>
    tellGrantedBonus({ ...grant, state: "finished", result, converted: 4200 }, texts)[1]
  assert.deepStrictEqual((["converted", "lost", "expired", "cancelled"] as const).map(ended), [
    "It is wagered: 42.00 EUR became real money.",
    "It has ended: its money was played.",
    "It has ended: its time was over before it was wagered.",
    "It has ended: it was cancelled."
  ])
  const cash = { ...grant, state: "finished", result: "converted", wagerRequirement: 0 } as const
  assert.deepStrictEqual(tellGrantedBonus(cash, texts), [
    "Welcome: you got 10.00 EUR as real money; nothing has to be wagered."
  ])
})
