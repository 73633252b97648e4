import { assert, describe, it } from "@effect/vitest"
import { outcomeLine, outcomeOf, outcomeStory, type RoundFigures } from "../../src/domain/RoundOutcome.ts"

// Goal: a round's sentence says what it paid, or that no win came and who can still send one. Method: each outcome by hand.

const lost: RoundFigures = { state: "closed", stake: 500, wins: 0, paidWins: 0, takenBack: 0 }

const money = (amount: number): string => `€${(amount / 100).toFixed(2)}`

describe("the outcome of a round", () => {
  it("depends on its wins, its rolled-back stakes and its state", () => {
    const outcomes = [
      lost,
      { ...lost, state: "open" as const },
      { ...lost, wins: 900, paidWins: 1 },
      // a bonus win that was forfeited whole
      { ...lost, paidWins: 1, wins: 0 },
      // a correction without a win
      { ...lost, wins: -200 },
      { ...lost, stake: 0, takenBack: 1 },
      // a second bet was taken back, the first stands
      { ...lost, takenBack: 1 },
      // a free bet
      { ...lost, stake: 0 }
    ].map(outcomeOf)
    assert.deepStrictEqual(outcomes, [
      "no_win",
      "waiting",
      "won",
      "won",
      "won",
      "taken_back",
      "no_win",
      "no_win"
    ])
  })

  it("is described in a list by the amount won, or as no win", () => {
    assert.strictEqual(outcomeLine(lost, money), "It ended without a win.")
    assert.strictEqual(outcomeLine({ ...lost, state: "open" }, money), "No win has come so far.")
    assert.strictEqual(outcomeLine({ ...lost, state: "open", wins: 345, paidWins: 1 }, money), "Won €3.45.")
    assert.strictEqual(outcomeLine({ ...lost, stake: 0, takenBack: 1 }, money), "The stake was returned.")
  })

  it("is described on the round's page, with the provider that can still send a win and any refused call", () => {
    const story = { ...lost, provider: "Studio", roundId: "r7", lostAt: null, refused: null }
    assert.strictEqual(
      outcomeStory({ ...story, state: "open" }, money),
      "No win came. Studio has not ended the round: a win that it sends is still paid. If the player saw a win, ask Studio about round r7."
    )
    assert.strictEqual(
      outcomeStory({ ...story, lostAt: "21:41" }, money),
      "Studio said at 21:41 that the round won nothing. If the player saw a win, ask Studio about round r7."
    )
    assert.include(
      outcomeStory({ ...story, refused: "Win w-1 was refused." }, money),
      "has ended. Win w-1 was refused. If"
    )
  })
})
