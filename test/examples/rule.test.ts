import { assert, it } from "@effect/vitest"
import { correctionStep } from "../../src/domain/wallet/Corrections.ts"
import { newPlayer } from "../kit/players.ts"

// Goal: a correction is posted as one numbered entry. Method: call the rule; it is a function.
it("a rule can be tested without a store or a service", () => {
  const step = correctionStep({ wallet: "real", amount: 500, reason: "goodwill", actor: "staff:1" })
  const decision = step(newPlayer({ real: 1000 }), { now: 0, firstId: 7, known: undefined })
  assert(decision._tag === "Accept")
  assert.deepInclude(decision.reply, { id: 7, seq: 1, type: "correction_up", amount: 500, balanceAfter: 1500 })
  assert.strictEqual(decision.state.real, 1500)
})
