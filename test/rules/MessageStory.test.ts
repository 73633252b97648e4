import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import {
  callKinds,
  callResults,
  type MessageFacts,
  messageOutcome,
  messageStory,
  type SettledMessage,
  type ToldCall
} from "../../src/domain/settlement/MessageStory.ts"
import { transactionKinds } from "../../src/domain/state/Rounds.ts"

// Goal: the story of a message says what it moved, what took it back, and of one that moved nothing why and what happens next, and never claims a movement
// that the figures do not have. Method: sentences of the cases that support meets, and properties over all combinations.

const texts = { money: (amount: number) => `€${(amount / 100).toFixed(2)}`, instant: (at: string) => at.slice(11, 16) }

const at = (time: string): string => `2026-11-20T${time}:00.000Z`

const openRound = { state: "open", stake: 500, wins: 0, paidWins: 0, takenBack: 0 } as const

const bet: SettledMessage = {
  kind: "bet",
  status: "processed",
  amount: 500,
  realAmount: -500,
  bonusAmount: 0,
  targetId: null,
  detail: null,
  at: at("21:40")
}

const facts: MessageFacts = {
  id: "b-1",
  provider: "North",
  player: "mara",
  game: "Golden Reels",
  roundId: "r-7",
  round: openRound,
  message: bet,
  takenBackBy: null,
  targetKind: null,
  calls: []
}

const call = (more: Partial<ToldCall>): ToldCall => ({
  kind: "win",
  result: "refused",
  code: "ROUND_CLOSED",
  reason: null,
  amount: "12.00 EUR",
  at: at("21:50"),
  ...more
})

const story = (more: Partial<MessageFacts>): string => messageStory({ ...facts, ...more }, texts)

describe("the support text about a provider message", () => {
  it("states for a bet what it debited, and how its round ended", () => {
    assert.strictEqual(
      story({ message: { ...bet, realAmount: -300, bonusAmount: -200 } }),
      "Player mara staked €5.00 in round r-7 of Golden Reels at 21:40: €3.00 left the real wallet and €2.00 left the bonus wallet. " +
        "No win came. North has not ended the round: a win that it sends is still paid. If the player saw a win, ask North about round r-7."
    )
    assert.strictEqual(
      story({ round: { ...openRound, wins: 1200, paidWins: 1, state: "closed" } }),
      "Player mara staked €5.00 in round r-7 of Golden Reels at 21:40: €5.00 left the real wallet. The round paid €12.00 on a stake of €5.00."
    )
    assert.strictEqual(
      story({ takenBackBy: { id: "x-1", at: at("21:45") } }),
      "Player mara staked €5.00 in round r-7 of Golden Reels at 21:40: €5.00 left the real wallet. Rollback x-1 took it back at 21:45."
    )
  })

  it("states for a win what it paid, or that the provider reported a loss", () => {
    const win: SettledMessage = { ...bet, kind: "win", amount: 1200, realAmount: 1200, targetId: "b-1" }
    assert.strictEqual(
      story({ id: "w-1", message: { ...win, detail: "without_bet" } }),
      "North paid mara €12.00 in round r-7 of Golden Reels at 21:40: €12.00 went to the real wallet. Its bet had not come."
    )
    assert.strictEqual(
      story({ id: "w-1", message: { ...win, amount: 0, realAmount: 0 } }),
      "North said at 21:40 that mara won nothing in round r-7 of Golden Reels."
    )
    assert.strictEqual(
      story({
        id: "w-2",
        message: { ...win, kind: "promo_win", targetId: null, detail: "jackpot" },
        roundId: null,
        game: null
      }),
      "North paid mara €12.00 as a jackpot at 21:40: €12.00 went to the real wallet."
    )
    assert.strictEqual(
      story({
        id: "a-1",
        message: { ...win, kind: "adjustment", amount: -200, realAmount: -200, targetId: null, detail: "rng" }
      }),
      "North corrected what mara won in round r-7 of Golden Reels by -€2.00 at 21:40: €2.00 left the real wallet."
    )
  })

  it("states for a rollback what it returned, or that it came before its bet", () => {
    const rollback: SettledMessage = { ...bet, kind: "rollback", amount: 0, realAmount: 500, targetId: "b-1" }
    assert.strictEqual(
      story({ id: "x-1", message: rollback, targetKind: "bet" }),
      "North took bet b-1 of mara back at 21:40: €5.00 went to the real wallet."
    )
    const ignored: SettledMessage = { ...rollback, realAmount: 0, status: "ignored" }
    assert.strictEqual(
      story({ id: "x-1", message: ignored, targetKind: "tombstone" }),
      "Rollback x-1 of mara came at 21:40, before b-1, which is not accepted any more: no money moved."
    )
    assert.strictEqual(
      story({ id: "x-1", message: ignored, targetKind: "bet" }),
      "Rollback x-1 of bet b-1 of mara came at 21:40, when there was nothing to take back: no money moved."
    )
    const tombstone: SettledMessage = { ...ignored, kind: "tombstone", targetId: null }
    assert.strictEqual(
      story({
        message: tombstone,
        round: null,
        takenBackBy: { id: "x-1", at: at("21:40") },
        calls: [call({ kind: "bet", code: "BET_ROLLED_BACK", at: at("21:41") })]
      }),
      "North rolled b-1 of mara back by x-1 at 21:40, before it came: it is not accepted any more, and no money moved. " +
        "It came at 21:41 and was refused with BET_ROLLED_BACK."
    )
  })

  it("states for a refused win why it was refused, and that the round has no win", () => {
    assert.strictEqual(
      story({
        id: "w-1",
        message: null,
        calls: [call({ code: "BET_NOT_FOUND", at: at("21:48") }), call({ code: "BET_NOT_FOUND" })]
      }),
      "Win w-1 of 12.00 EUR for mara in round r-7 of Golden Reels was refused with BET_NOT_FOUND 2 times, last at 21:50: no money moved. " +
        "Its bet has not come: North has to send the bet first, and this again. " +
        "No win came. North has not ended the round: a win that it sends is still paid. If the player saw a win, ask North about round r-7."
    )
    assert.include(
      story({ id: "w-1", message: null, round: { ...openRound, state: "closed" }, calls: [call({})] }),
      "Its round had ended. No win came, and the round has ended."
    )
    assert.include(
      story({
        message: null,
        round: null,
        calls: [call({ kind: "bet", code: "LIMIT_EXCEEDED", reason: "max_daily_bet" })]
      }),
      "was refused with LIMIT_EXCEEDED at 21:50: no money moved. A limit of the player's stopped it (max daily bet)."
    )
    assert.strictEqual(story({ id: "w-9", message: null, round: null }), "North has not sent w-9.")
  })

  it("distinguishes failed calls before the message was accepted from repeats after it", () => {
    assert.include(
      story({
        calls: [
          call({ code: "TRY_AGAIN", at: at("21:39") }),
          call({ result: "replayed", code: null, at: at("21:41") }),
          call({ result: "replayed", code: null, at: at("21:42") }),
          call({ code: "DUPLICATE_TRANSACTION", at: at("21:43") })
        ]
      }),
      "Before that it was refused with TRY_AGAIN at 21:39. It was sent again 2 times, last at 21:42 and answered as the first time: " +
        "nothing moved twice. A call with this id was refused with DUPLICATE_TRANSACTION at 21:43: nothing of it moved."
    )
  })

  const amount = fc.integer({ min: -100_000, max: 100_000 })

  it("names exactly the wallets that moved, in complete sentences", () => {
    fc.assert(fc.property(
      fc.record({
        kind: fc.constantFrom(...transactionKinds, "none" as const),
        status: fc.constantFrom("processed" as const, "ignored" as const),
        real: amount,
        bonus: amount,
        takenBack: fc.boolean(),
        calls: fc.array(
          fc.record({ kind: fc.constantFrom(...callKinds), result: fc.constantFrom(...callResults) }),
          { maxLength: 4 }
        )
      }),
      (given) => {
        const moves = given.kind !== "none" && given.kind !== "tombstone" && given.status === "processed"
        const [real, bonus] = moves ? [given.real, given.bonus] : [0, 0]
        const message: SettledMessage | null = given.kind === "none" ? null : {
          ...bet,
          kind: given.kind,
          status: given.status,
          amount: Math.abs(real) + Math.abs(bonus),
          realAmount: real,
          bonusAmount: bonus
        }
        const calls = given.calls.map(call)
        const of: MessageFacts = {
          ...facts,
          round: null,
          message,
          takenBackBy: given.takenBack && message !== null ? { id: "x-9", at: at("22:00") } : null,
          calls
        }
        const told = messageStory(of, texts)
        assert.match(told, /^[A-Z].*\.$/)
        assert.notMatch(told, /undefined|null|NaN|\[object/)
        assert.strictEqual(told.includes("the real wallet"), real !== 0, told)
        assert.strictEqual(told.includes("the bonus wallet"), bonus !== 0, told)
        if (message === null && calls.length === 0) assert.strictEqual(messageOutcome(of), "never_came")
        if (message !== null && of.takenBackBy !== null) assert.include(told, "x-9")
        if (message === null && calls.at(-1)?.result === "refused") {
          assert.include(told, "was refused with ROUND_CLOSED")
        }
      }
    ))
  })
})
