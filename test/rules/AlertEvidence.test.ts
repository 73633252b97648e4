import { assert, describe, it } from "@effect/vitest"
import { evidenceSince, evidenceSums, isCounted } from "../../src/domain/compliance/AlertEvidence.ts"
import { type AlertRule, alertRules, settingsWith } from "../../src/domain/compliance/AlertRules.ts"
import type { PaymentFact } from "../../src/domain/compliance/MoneyAlerts.ts"

// Goal: the evidence of an alert is what its rule looked at, then and now. Method: payments at and around the terms of each rule.

const hour = 3_600_000
const raisedAt = Date.parse("2026-11-20T12:00:00.000Z")

const payment = (
  type: PaymentFact["type"],
  amount: number,
  hours: number,
  more: Partial<PaymentFact> = {}
): PaymentFact => ({
  id: 1,
  type,
  status: "paid",
  amount,
  isReversed: false,
  at: raisedAt + hours * hour,
  ...more
})

describe("alert evidence", () => {
  it("begins with the rule's time window, or three days before the alert for a rule without a window", () => {
    const settings = settingsWith({ structuring: { windowHours: 5 } })
    assert.strictEqual(evidenceSince("structuring", settings, raisedAt), raisedAt - 5 * hour)
    assert.strictEqual(evidenceSince("large_credit", settings, raisedAt), raisedAt - 72 * hour)
  })

  it("counts the payments that the rule of the alert examines", () => {
    const settings = settingsWith({
      structuring: { threshold: 1000, percent: 20 },
      large_deposit: { threshold: 5000 },
      large_withdrawal: { threshold: 5000 }
    })
    const of = (rule: AlertRule, factor: number | null, one: PaymentFact) => isCounted(rule, settings, factor, one)
    const deposits = [799, 800, 999, 1000].map((amount) => payment("deposit", amount, 0))
    assert.deepStrictEqual(deposits.map((one) => of("structuring", 1, one)), [false, true, true, false])
    // half as much in the operator's currency
    assert.isTrue(of("structuring", 0.5, payment("deposit", 1800, 0)))
    assert.isFalse(of("structuring", 1, payment("withdrawal", 900, 0)))
    assert.deepStrictEqual(
      [4999, 5000].map((amount) => of("large_withdrawal", null, payment("withdrawal", amount, 0))),
      [false, true]
    )
    assert.isFalse(of("large_deposit", 1, payment("withdrawal", 5000, 0)))
    assert.isFalse(of("rapid_in_out", 1, payment("deposit", 5, 0, { isReversed: true })))
    assert.isFalse(of("low_play_withdrawal", 1, payment("withdrawal", 5, 0, { status: "rejected" })))
  })

  it("shows the sums at the time of the alert next to the current sums", () => {
    const payments = [
      payment("deposit", 900, -1),
      payment("deposit", 50, 0),
      payment("deposit", 950, 1),
      payment("withdrawal", 70, 2, { status: "new" }),
      payment("withdrawal", 30, 2, { status: "rejected" })
    ].map((one) => ({ ...one, isCounted: one.type === "deposit" && one.amount >= 900 }))
    assert.deepStrictEqual(evidenceSums("structuring", payments, raisedAt), [
      { figure: "deposits", raised: 900, now: 1850, raised_count: 1, now_count: 2 },
      { figure: "withdrawals", raised: 0, now: 70, raised_count: 0, now_count: 1 }
    ])
    for (const rule of alertRules.filter((one) => one !== "structuring")) {
      const [deposits] = evidenceSums(rule, payments, raisedAt)
      assert.deepInclude(deposits, { raised: 950, now: 1900 }, rule)
    }
  })
})
