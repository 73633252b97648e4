import { assert, describe, it } from "@effect/vitest"
import { maxBalance } from "../../src/domain/Money.ts"
import { emptyCounters } from "../../src/domain/state/Limits.ts"
import { type Deposit, depositStep } from "../../src/domain/payment/Payments.ts"
import { noRestrictions, type Player } from "../../src/domain/state/Player.ts"
import { RuleRunner } from "../kit/RuleRunner.ts"
import { makePlayer, noon } from "../kit/Messages.ts"

type DepositMethod = NonNullable<Deposit["method"]>

const card: DepositMethod = {
  code: "card",
  supportsDeposit: true,
  currencies: ["EUR"],
  minDeposit: 100,
  maxDeposit: 5000
}

const deposit = (externalReference: string, amount: number, overrides: Partial<Deposit> = {}) =>
  depositStep({ amount, externalReference, methodCode: null, method: null, info: null, notes: null, ...overrides })

const by = (method: DepositMethod | null, methodCode = "card"): Partial<Deposit> => ({ method, methodCode })

describe("a deposit", () => {
  // Goal: money, payment, event and counters in one change.
  it("is credited at once as paid, with an event", () => {
    const runner = new RuleRunner([makePlayer({ walletSeq: 4 })])
    const { isRepeat, payment } = runner.accept(deposit("ref", 500, { ...by(card), info: "visa", notes: "vip" }))
    assert.isFalse(isRepeat)
    assert.deepInclude(payment, {
      type: "deposit",
      status: "paid",
      amount: 500,
      currency: "EUR",
      externalReference: "ref",
      paymentMethod: "card",
      info: "visa",
      notes: "vip",
      isReversed: false,
      createdAt: noon,
      paidAt: noon
    })
    const { entries, events, payments } = runner.store.tables()
    assert.deepStrictEqual(payments, [payment])
    assert.strictEqual(entries.length, 1)
    assert.deepInclude(entries[0], {
      type: "deposit",
      wallet: "real",
      amount: 500,
      balanceAfter: 1500,
      paymentRequestId: payment.id
    })
    assert.deepStrictEqual(events.map(({ type }) => type), ["deposit.paid"])
    assert.deepNestedInclude(events[0], {
      "data.payment.id": payment.id,
      "data.payment.paid_at": "2026-11-18T12:00:00.000Z"
    })
    const { counters, walletSeq } = runner.player()
    assert.strictEqual(walletSeq, 5)
    assert.deepInclude(counters, { depositDay: 500, depositWeek: 500, depositMonth: 500, depositYear: 500, betDay: 0 })
  })

  // Goal: one fixed order of checks. Method: everything is invalid at once; each reported error is corrected in turn.
  it("is checked in the order status, restriction, exclusion, method, bounds, limits", () => {
    const rights: ReadonlyArray<
      readonly [code: string, reason: string | null, settings: Partial<Player>, Partial<Deposit>]
    > = [
      ["PLAYER_RESTRICTED", "locked", { status: "active" }, {}],
      ["PLAYER_RESTRICTED", "can_deposit", { restrictions: noRestrictions }, {}],
      ["PLAYER_RESTRICTED", "time_out", { exclusion: null }, {}],
      ["PAYMENT_REQUEST_INVALID", null, {}, { method: { ...card, supportsDeposit: false, currencies: [] } }],
      ["PAYMENT_REQUEST_INVALID", null, {}, { method: { ...card, currencies: ["USD"] } }],
      ["PAYMENT_REQUEST_INVALID", null, {}, { method: card, amount: 99 }],
      ["PAYMENT_REQUEST_INVALID", null, {}, { amount: 5001 }],
      ["PAYMENT_REQUEST_INVALID", null, {}, { amount: 5000 }],
      ["LIMIT_EXCEEDED", null, { limits: { max_daily_deposit: 5000, max_balance: 6000 } }, {}]
    ]
    let settings: Partial<Player> = {
      status: "locked",
      restrictions: { ...noRestrictions, canDeposit: false },
      exclusion: { type: "time_out", since: 0, until: noon + 1 },
      limits: { max_daily_deposit: 1 }
    }
    let fields: Partial<Deposit> = { amount: 99, ...by(null) }
    for (const [code, reason, right, better] of rights) {
      const refusal = new RuleRunner([makePlayer(settings)]).refuse(deposit("ref", 99, fields))
      assert.strictEqual(refusal.code, code)
      if (reason !== null) assert.deepStrictEqual(refusal.details, { reason })
      settings = { ...settings, ...right }
      fields = { ...fields, ...better }
    }
    assert.strictEqual(new RuleRunner([makePlayer(settings)]).accept(deposit("ref", 99, fields)).payment.amount, 5000)
  })

  it("cannot raise the balance above its maximum", () => {
    const runner = new RuleRunner([makePlayer({ real: maxBalance - 10 })])
    assert.strictEqual(runner.refuse(deposit("a", 11)).code, "VALIDATION_FAILED")
    assert.strictEqual(runner.accept(deposit("b", 10)).isRepeat, false)
    assert.notStrictEqual(runner.player().counters, emptyCounters)
  })

  // Goal: no statement of its own before the commit, and no refusal without a look-up.
  it("has its reference looked up only before a refusal, as the commit itself finds a repeated reference", () => {
    const unasked = { now: noon, firstId: 100, known: undefined }
    assert.strictEqual(deposit("ref", 500)(makePlayer(), unasked)._tag, "Accept")
    const asked = deposit("ref", 500)(makePlayer({ status: "locked" }), unasked)
    assert.deepInclude(asked, { _tag: "Missing" })
    assert.deepNestedInclude(asked, { "query.externalReference": "ref" })
  })
})
