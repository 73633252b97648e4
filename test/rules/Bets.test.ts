import { assert, describe, it } from "@effect/vitest"
import { ownPolicy, settle } from "../../src/domain/settlement/Settlement.ts"
import { newPlayer } from "../kit/players.ts"

// Goal: with a negative real balance nothing can be staked, not even a free bet, and bonus money does not help. Method: call
// the rule with all ids known to be new.
describe("a negative balance", () => {
  for (const amount of [0, 100]) {
    it(`refuses a bet of ${amount}`, () => {
      const decision = settle(newPlayer({ real: -1, bonus: 500, providerIds: [5] }), {
        action: "bet",
        policy: ownPolicy,
        providerId: 5,
        transactionId: "t",
        currency: "EUR",
        game: { id: 7, providerId: 1, type: "rng", category: "slots", active: true },
        roundId: "r",
        amount,
        session: { id: 1, expiresAt: 10 },
        closesRound: false
      }, {
        now: 1,
        firstId: 1,
        known: {
          transactions: new Map([["t", null]]),
          rounds: new Map([["7:r", null]]),
          bonuses: new Map(),
          payments: new Map(),
          paymentsById: new Map(),
          promoCodes: new Map(),
          signatures: new Map(),
          seeds: undefined
        }
      })
      assert(decision._tag === "Refuse")
      assert.deepInclude(decision.error, { code: "INSUFFICIENT_FUNDS", details: { balance: -1 } })
    })
  }
})
