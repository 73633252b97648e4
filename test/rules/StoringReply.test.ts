import { assert, describe, it } from "@effect/vitest"
import { correctionStep } from "../../src/domain/wallet/Corrections.ts"
import { depositStep } from "../../src/domain/payment/Payments.ts"
import { storingReply } from "../../src/domain/state/StoringReply.ts"
import { RuleRunner } from "../kit/RuleRunner.ts"
import { makePlayer, noon } from "../kit/Messages.ts"

const claim = { scope: "operator:1", key: "key", fingerprint: new Uint8Array([1, 2, 3]) }

const render = (reply: object) => ({ status: 201, body: JSON.stringify(reply) })

const deposit = depositStep({
  amount: 5,
  externalReference: "ref",
  methodCode: null,
  method: null,
  info: null,
  notes: null
})

describe("an answer under a claimed idempotency key", () => {
  it("is stored together with the changes of its request", () => {
    const runner = new RuleRunner([makePlayer()])
    const outcome = runner.accept(storingReply(deposit, claim, render))
    const { entries, replies } = runner.store.tables()
    assert.deepStrictEqual(replies, [{ ...claim, status: 201, body: JSON.stringify(outcome), createdAt: noon }])
    assert.strictEqual(entries.length, 1)
    // a payment that already exists writes nothing, so the key stays with its first claim
    assert.isTrue(runner.accept(storingReply(deposit, { ...claim, key: "other" }, render)).isRepeat)
    assert.strictEqual(runner.store.tables().replies.length, 1)
  })

  it("is not stored for a refusal, nor without a claimed key", () => {
    const runner = new RuleRunner([makePlayer()])
    const correct = (amount: number) => correctionStep({ wallet: "real", amount, reason: "", actor: "staff:1" })
    runner.refuse(storingReply(correct(0), claim, render))
    runner.accept(storingReply(correct(1), undefined, render))
    assert.deepStrictEqual(runner.store.tables().replies, [])
  })
})
