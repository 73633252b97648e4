import { assert, describe, it } from "@effect/vitest"
import { depositStep } from "../../src/domain/payment/Payments.ts"
import { noRestrictions, type Player } from "../../src/domain/state/Player.ts"
import { unverifiedAllowance, type Withdrawal, withdrawalStep } from "../../src/domain/payment/Withdrawals.ts"
import { RuleRunner } from "../kit/RuleRunner.ts"
import { day, makePlayer, noon } from "../kit/Messages.ts"
import { bank, depositOf, withdrawalOf } from "../kit/Payments.ts"

// Goal: the hold of a withdrawal request, and every reason for refusing it (SPEC section 4.4). Method: the rule on a store in memory.

const request = (amount: number, overrides: Partial<Withdrawal> = {}) => withdrawalStep(withdrawalOf(amount, overrides))

const open = (overrides: Partial<Player> = {}) => new RuleRunner([makePlayer(overrides)])

describe("withdrawalStep", () => {
  it("holds the amount and opens a request with an event", () => {
    const runner = open()
    const { isRepeat, payment } = runner.accept(
      request(300, { externalReference: "w1", notes: "n", bankName: "Bank" })
    )
    assert.isFalse(isRepeat)
    const expected = {
      id: payment.id,
      operatorId: 1,
      playerId: 1,
      type: "withdrawal",
      status: "new",
      amount: 300,
      currency: "EUR",
      paymentMethod: "bank",
      externalReference: "w1",
      info: "DE89",
      notes: "n",
      bankName: "Bank",
      rejectReason: null,
      isReversed: false,
      firstApprovedBy: null,
      secondApprovedBy: null,
      createdAt: noon,
      paidAt: null,
      rejectedAt: null,
      cancelledAt: null,
      updatedAt: noon
    }
    assert.deepStrictEqual<unknown>(payment, expected)
    const { entries, events, payments } = runner.store.tables()
    assert.deepStrictEqual(payments, [payment])
    assert.deepStrictEqual(entries.map((entry) => [entry.type, entry.amount, entry.balanceAfter]), [
      ["withdrawal", -300, 700]
    ])
    assert.strictEqual(entries[0]?.paymentRequestId, payment.id)
    assert.deepInclude(runner.player(), { real: 700, withdrawn: 300, walletSeq: 1 })
    assert.deepStrictEqual(events.map(({ type }) => type), ["withdrawal.requested"])
    assert.deepStrictEqual(events[0]?.data, {
      payment: {
        id: payment.id,
        type: "withdrawal",
        status: "new",
        player_id: 1,
        amount: 300,
        currency: "EUR",
        payment_method: "bank",
        external_reference: "w1",
        info: "DE89",
        reject_reason: null,
        is_reversed: false,
        created_at: "2026-11-18T12:00:00.000Z",
        paid_at: null,
        rejected_at: null,
        cancelled_at: null,
        updated_at: "2026-11-18T12:00:00.000Z"
      }
    })
    // held money cannot be held again
    assert.deepInclude(runner.refuse(request(701)), { code: "INSUFFICIENT_FUNDS", details: { balance: 700 } })
    assert.strictEqual(runner.accept(request(700)).payment.amount, 700)
    assert.deepInclude(runner.player(), { real: 0, withdrawn: 1000, walletSeq: 2 })
  })

  it("refuses a reference that the operator has used for another amount, another player or a deposit", () => {
    const runner = new RuleRunner([makePlayer(), makePlayer({ id: 2 }), makePlayer({ id: 3, operatorId: 9 })])
    runner.accept(request(300, { externalReference: "w1" }))
    runner.accept(depositStep(depositOf(50, "d1")))
    const wrong: ReadonlyArray<readonly [number, string, number]> = [[299, "w1", 1], [300, "w1", 2], [50, "d1", 1]]
    for (const [amount, externalReference, playerId] of wrong) {
      const refusal = runner.refuse(request(amount, { externalReference }), playerId)
      assert.deepInclude(refusal, { code: "DUPLICATE_TRANSACTION", details: { external_reference: externalReference } })
    }
    const deposit = runner.refuse(depositStep(depositOf(300, "w1")))
    assert.strictEqual(deposit.code, "DUPLICATE_TRANSACTION")
    // references are scoped to the operator
    assert.isFalse(runner.accept(request(300, { externalReference: "w1" }), 3).isRepeat)
  })

  it("refuses restricted players, and lets excluded players withdraw", () => {
    const restricted: ReadonlyArray<readonly [Partial<Player>, string]> = [
      [{ status: "locked" }, "locked"],
      [{ status: "closed" }, "closed"],
      [{ restrictions: { ...noRestrictions, canWithdraw: false } }, "can_withdraw"]
    ]
    for (const [player, reason] of restricted) {
      assert.deepInclude(open(player).refuse(request(10)), { code: "PLAYER_RESTRICTED", details: { reason } })
    }
    const exclusion = { type: "self_exclusion", since: noon - day, until: noon + 100 * day } as const
    const others = { ...noRestrictions, canLogin: false, canDeposit: false, canBet: false, excludedFromBonuses: true }
    assert.strictEqual(open({ exclusion, restrictions: others }).accept(request(10)).payment.status, "new")
  })

  it("refuses a method that is unknown, takes no withdrawals or not the currency, and amounts outside the method's bounds", () => {
    const runner = open({ real: 20_000 })
    const refused = (amount: number, overrides: Partial<Withdrawal> = {}) => {
      const { code, details } = runner.refuse(request(amount, overrides))
      assert.strictEqual(code, "PAYMENT_REQUEST_INVALID")
      return details
    }
    assert.deepStrictEqual(refused(100, { method: null, methodCode: "cash" }), { payment_method: "cash" })
    assert.deepStrictEqual(refused(100, { method: { ...bank, supportsWithdrawal: false } }), { payment_method: "bank" })
    assert.deepStrictEqual(refused(100, { method: { ...bank, currencies: ["SEK"] } }), {
      payment_method: "bank",
      currency: "EUR"
    })
    for (const amount of [9, 10_001]) {
      assert.deepStrictEqual(refused(amount), { min_withdrawal: 10, max_withdrawal: 10_000 })
    }
    for (const amount of [10, 10_000]) runner.accept(request(amount))
  })

  it("refuses an unverified player's withdrawals above the KYC threshold", () => {
    const runner = open({ kycStatus: "pending_review", real: 1000 })
    runner.accept(request(300, { kycThreshold: 500 }))
    assert.strictEqual(unverifiedAllowance(runner.player(), 500), 200)
    const refusal = runner.refuse(request(201, { kycThreshold: 500 }))
    assert.deepInclude(refusal, {
      code: "KYC_REQUIRED",
      details: { kyc_status: "pending_review", unverified_withdrawal_allowance: 200, threshold: 500 }
    })
    runner.accept(request(200, { kycThreshold: 500 }))
    assert.strictEqual(unverifiedAllowance(runner.player(), 500), 0)
    // lowering the threshold does not make the allowance negative
    assert.strictEqual(unverifiedAllowance(runner.player(), 100), 0)
    assert.isNull(unverifiedAllowance(runner.player(), null))
    assert.strictEqual(runner.refuse(request(10, { kycThreshold: 500 })).code, "KYC_REQUIRED")
    runner.set({ kycStatus: "verified" })
    assert.isNull(unverifiedAllowance(runner.player(), 500))
    runner.accept(request(400, { kycThreshold: 500 }))
    runner.set({ kycStatus: "expired" })
    assert.strictEqual(runner.refuse(request(10, { kycThreshold: 500 })).code, "KYC_REQUIRED")
  })

  it("checks account, method, verification and funds in this order", () => {
    const wrong = { method: null, kycThreshold: 0 }
    const codes: ReadonlyArray<readonly [Partial<Player>, Partial<Withdrawal>, string]> = [
      [{ status: "locked", kycStatus: "rejected", real: 0 }, wrong, "PLAYER_RESTRICTED"],
      [{ kycStatus: "rejected", real: 0 }, wrong, "PAYMENT_REQUEST_INVALID"],
      [{ kycStatus: "rejected", real: 0 }, { kycThreshold: 0 }, "KYC_REQUIRED"],
      [{ real: 0 }, { kycThreshold: 0 }, "INSUFFICIENT_FUNDS"]
    ]
    for (const [player, withdrawal, code] of codes) {
      assert.strictEqual(open(player).refuse(request(10, withdrawal)).code, code)
    }
  })
})
