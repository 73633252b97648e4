import { assert, it } from "@effect/vitest"
import { noChange } from "../../src/domain/state/Change.ts"
import { answer, missing, refused, type Step } from "../../src/domain/state/Decision.ts"
import { refuse } from "../../src/domain/Refusal.ts"
import { type Accepter, storedBy } from "../../src/domain/state/AcceptedSignature.ts"
import { storingSignature } from "../../src/domain/state/StoringSignature.ts"
import { makePlayer } from "../kit/Messages.ts"

const accepted = { signature: "5e".repeat(32), acceptedAt: 1 }
const player = makePlayer()
const effect: Step<string> = (state) => ({ _tag: "Accept", state, reply: "done", change: noChange, idsUsed: 0 })
const nothingKnown = {
  transactions: new Map(),
  rounds: new Map(),
  bonuses: new Map(),
  payments: new Map(),
  paymentsById: new Map(),
  promoCodes: new Map(),
  signatures: new Map<string, Accepter | null>([[accepted.signature, null]]),
  seeds: undefined
}
const knownFrom = (accepter: Accepter) => ({ ...nothingKnown, signatures: new Map([[accepted.signature, accepter]]) })

// Goal: a signature is stored with an effect and never without one, and no effect comes of a known one. Method: rules of each
// outcome, wrapped.
it("a signature is stored together with the changes of its request", () => {
  for (const context of [{ now: 1, firstId: 1, known: undefined }, { now: 1, firstId: 1, known: nothingKnown }]) {
    const decision = storingSignature(effect, accepted)(player, context)
    assert.deepInclude(decision, {
      reply: { reply: "done", isRecorded: true },
      change: { ...noChange, signatures: [accepted] }
    })
  }
})

it("a command that changes nothing does not store its signature, which is left to the caller", () => {
  const context = { now: 1, firstId: 1, known: undefined }
  const refusal = refused(refuse("TRY_AGAIN", "Busy."))
  const unknown = missing({ externalReference: "x" })
  assert.strictEqual(storingSignature(() => refusal, accepted)(player, context), refusal)
  assert.strictEqual(storingSignature(() => unknown, accepted)(player, context), unknown)
  assert.deepInclude(storingSignature((state) => answer(state, "before"), accepted)(player, context), {
    reply: { reply: "before", isRecorded: false },
    change: null
  })
})

it("a known signature ends the command before its rule runs, and names the process that accepted it", () => {
  const step = storingSignature(() => assert.fail("not to be asked"), accepted)
  const failureOf = (accepter: Accepter) => step(player, { now: 1, firstId: 1, known: knownFrom(accepter) })
  assert.deepStrictEqual(failureOf("this"), refused(storedBy("this")))
  assert.deepStrictEqual(failureOf("other"), refused(storedBy("other")))
})
