import { assert, describe, it } from "@effect/vitest"
import fc from "fast-check"
import {
  alertRules,
  defaultSettings,
  type RuleOverrides,
  type RuleSettings,
  settingsWith,
  severities
} from "../../src/domain/compliance/AlertRules.ts"
import {
  type DepositCase,
  depositsExamined,
  depositVelocity,
  largeDeposit,
  largeWithdrawal,
  lowPlayWithdrawal,
  type PaymentCase,
  type PaymentFact,
  playNeeded,
  rapidInOut,
  structuring
} from "../../src/domain/compliance/MoneyAlerts.ts"

// Goal: each payment rule finds exactly the AML pattern of its name, to the unit and the millisecond.
// Method: payments as values on a clock of hours, or the sums of deposits, each rule at and around each of its terms.

const hour = 3_600_000
const start = Date.parse("2026-11-20T00:00:00.000Z")

let id = 0

const payment = (type: "deposit" | "withdrawal", amount: number, hours: number, more: Partial<PaymentFact> = {}) => ({
  id: ++id,
  type,
  status: type === "deposit" ? "paid" : "new",
  amount,
  isReversed: false,
  at: start + hours * hour,
  ...more
} as const satisfies PaymentFact)

/** The last payment by time, with the payments before it. */
const caseOf = (payments: ReadonlyArray<PaymentFact>, factor: number | null = 1): PaymentCase => {
  const [last, ...before] = payments.toReversed()
  return last === undefined ? assert.fail("no payment") : { payment: last, before, factor }
}

/** The last of some deposits, of which all count. */
const depositOf = (amounts: ReadonlyArray<number>, more: Partial<DepositCase> = {}): DepositCase => {
  const sum = { count: amounts.length, amount: amounts.reduce((total, amount) => total + amount, 0) }
  return { payment: payment("deposit", amounts.at(-1) ?? 0, 0), factor: 1, recent: sum, similar: sum, ...more }
}

const withTerms = (rule: (typeof alertRules)[number], terms: RuleOverrides) => settingsWith({ [rule]: terms })

const severityOf = (finding: { readonly severity: string } | undefined) => finding?.severity

describe("largeDeposit and largeWithdrawal", () => {
  it("are raised at or above the threshold, with a higher severity for larger amounts", () => {
    const settings = withTerms("large_deposit", { threshold: 1000 })
    const severity = (amount: number) => severityOf(largeDeposit(settings, depositOf([amount])))
    assert.deepStrictEqual(
      [999, 1000, 2499, 2500, 9999, 10_000, 1_000_000].map(severity),
      [undefined, "medium", "medium", "high", "high", "critical", "critical"]
    )
    const withdrawal = caseOf([payment("withdrawal", 1000, 0)])
    assert.strictEqual(
      severityOf(largeWithdrawal(withTerms("large_withdrawal", { threshold: 1001 }), withdrawal)),
      undefined
    )
    assert.deepInclude(largeWithdrawal(withTerms("large_withdrawal", { threshold: 1000 }), withdrawal), {
      rule: "large_withdrawal",
      occurrence: `payment ${withdrawal.payment.id}`,
      paymentId: withdrawal.payment.id
    })
  })

  it("compare amounts in the operator's currency, or without an exchange rate in the player's", () => {
    const settings = withTerms("large_deposit", { threshold: 1000 })
    const found = (amount: number, factor: number | null) => largeDeposit(settings, depositOf([amount], { factor }))
    assert.isUndefined(found(1998, 0.5))
    assert.deepStrictEqual(found(2000, 0.5)?.details, { amount: 1000, threshold: 1000 })
    assert.deepStrictEqual(found(1000, null)?.details, { amount: 1000, threshold: 1000, unconverted: true })
    assert.isUndefined(found(999, null))
  })
})

describe("structuring", () => {
  const settings = withTerms("structuring", { threshold: 1000, percent: 20, count: 3, windowHours: 24 })
  const found = (amounts: ReadonlyArray<number>, more?: Partial<DepositCase>) =>
    structuring(settings, depositOf(amounts, more))

  it("is raised for several deposits just below the threshold", () => {
    assert.isUndefined(found([900, 900]))
    assert.deepInclude(found([800, 999, 900])?.details, {
      deposits: 3,
      amount: 2699,
      threshold: 1000,
      window_hours: 24
    })
    assert.strictEqual(severityOf(found([900, 900, 900, 900, 900])), "high")
    assert.strictEqual(severityOf(found([900, 900, 900, 900, 900, 900])), "critical")
  })

  // judged once, when it arrives, and not again with a deposit of another kind
  it("is not raised by a deposit at or far below the threshold, whatever deposits came before it", () => {
    const { similar } = depositOf([900, 900, 900])
    const judged = [799, 800, 999, 1000].map((amount) => found([amount], { similar }) !== undefined)
    assert.deepStrictEqual(judged, [false, true, true, false])
  })

  it("counts as one alert per fixed 24-hour window (by its occurrence key)", () => {
    const occurrence = (hours: number) =>
      found([900, 900, 900], { payment: payment("deposit", 900, hours) })?.occurrence
    assert.deepStrictEqual([14, 21, 24].map(occurrence), [
      "24h from 2026-11-20T00:00:00.000Z",
      "24h from 2026-11-20T00:00:00.000Z",
      "24h from 2026-11-21T00:00:00.000Z"
    ])
  })

  it("compares amounts rounded in the operator's currency", () => {
    const terms = fc.record({
      threshold: fc.integer({ min: 1, max: 1_000_000 }),
      percent: fc.integer({ min: 0, max: 100 }),
      factor: fc.oneof(fc.constantFrom(null, 0.5, 1.5), fc.double({ min: 1e-6, max: 1e6, noNaN: true }))
    })
    fc.assert(fc.property(terms, fc.integer({ min: 1, max: 1_000_000_000 }), ({ factor, percent, threshold }, any) => {
      const { below, factor: times, least } = depositsExamined(withTerms("structuring", { threshold, percent }), factor)
      const floor = threshold * (100 - percent) / 100
      // any amount, and those around the bounds
      for (const bound of [any, floor / times, threshold / times]) {
        for (const amount of [-1, 0, 1].map((more) => Math.max(1, Math.round(bound) + more))) {
          const rounded = Math.round(amount * times)
          const isBelow = amount * times >= least && amount * times < below
          assert.strictEqual(isBelow, rounded >= floor && rounded < threshold, `${amount}`)
        }
      }
    }))
  })
})

describe("depositVelocity", () => {
  const settings = withTerms("deposit_velocity", { threshold: 1000, count: 4, windowHours: 24 })
  const found = (amounts: ReadonlyArray<number>) => depositVelocity(settings, depositOf(amounts))

  it("is raised for many deposits, or for a large sum, within the window", () => {
    assert.isUndefined(found([1, 1, 1]))
    assert.deepInclude(found([1, 1, 1, 1])?.details, { deposits: 4, amount: 4, count: 4, threshold: 1000 })
    assert.isUndefined(found([500, 499]))
    assert.deepInclude(found([500, 500])?.details, { deposits: 2, amount: 1000 })
  })

  it("is more severe for more deposits or a larger sum in the same window", () => {
    assert.strictEqual(severityOf(found([2498, 1])), "medium")
    assert.strictEqual(severityOf(found([2499, 1])), "high")
    assert.strictEqual(severityOf(found(Array.from({ length: 10 }, () => 1))), "high")
    assert.strictEqual(severityOf(found([9999, 1])), "critical")
  })

  it("is not raised for a single large deposit, which the rule large_deposit covers", () => {
    assert.isUndefined(found([1_000_000]))
  })
})

describe("rapidInOut", () => {
  const settings = withTerms("rapid_in_out", { threshold: 1000, percent: 10, windowHours: 24 })
  const found = (payments: ReadonlyArray<PaymentFact>) => rapidInOut(settings, caseOf(payments))

  it("is raised for withdrawals of about the deposited sum", () => {
    for (const [amount, isFound] of [[899, false], [900, true], [1000, true], [1100, true], [1101, false]] as const) {
      assert.strictEqual(
        found([payment("deposit", 1000, 0), payment("withdrawal", amount, 5)]) !== undefined,
        isFound,
        `${amount}`
      )
    }
  })

  it("compares with the last deposits, however many came before", () => {
    const series = [payment("deposit", 7000, 0), payment("deposit", 600, 1), payment("deposit", 500, 2)]
    assert.deepInclude(found([...series, payment("withdrawal", 1100, 9)])?.details, {
      deposits: 2,
      deposited: 1100,
      withdrawn: 1100,
      minutes_since_deposit: 420
    })
    assert.isUndefined(found([...series, payment("withdrawal", 4000, 9)]))
  })

  it("adds up several withdrawals, but no rejected ones", () => {
    const series = [payment("deposit", 2000, 0), payment("withdrawal", 1000, 4)]
    assert.deepInclude(found([...series, payment("withdrawal", 950, 9)])?.details, { deposited: 2000, withdrawn: 1950 })
    const refused = series.map((each) => each.type === "withdrawal" ? { ...each, status: "rejected" as const } : each)
    assert.isUndefined(found([...refused, payment("withdrawal", 950, 9)]))
  })

  it("needs deposits of the threshold amount within the window, and is more severe for a quicker withdrawal", () => {
    assert.isUndefined(found([payment("deposit", 999, 0), payment("withdrawal", 999, 5)]))
    assert.isUndefined(found([payment("deposit", 1000, 0), payment("withdrawal", 1000, 24)]))
    assert.strictEqual(severityOf(found([payment("deposit", 1000, 0), payment("withdrawal", 1000, 4)])), "high")
    assert.strictEqual(severityOf(found([payment("deposit", 1000, 0), payment("withdrawal", 1000, 3)])), "critical")
  })

  it("is not raised where the deposit was charged back", () => {
    assert.isUndefined(found([payment("deposit", 1000, 0, { isReversed: true }), payment("withdrawal", 1000, 3)]))
    assert.isUndefined(found([payment("withdrawal", 1000, 3)]))
  })
})

describe("lowPlayWithdrawal", () => {
  const settings = withTerms("low_play_withdrawal", { threshold: 1000, percent: 50, windowHours: 240 })
  const of = caseOf([payment("deposit", 601, 0), payment("deposit", 400, 30), payment("withdrawal", 1, 50)])

  it("requires a share of the deposits in the window to be staked since the first of them", () => {
    assert.deepStrictEqual(playNeeded(settings, of), { deposited: 1001, stakes: 501, since: start })
    assert.isUndefined(lowPlayWithdrawal(settings, of, 501))
    assert.strictEqual(severityOf(lowPlayWithdrawal(settings, of, 500)), "medium")
    assert.strictEqual(severityOf(lowPlayWithdrawal(settings, of, 51)), "medium")
    assert.strictEqual(severityOf(lowPlayWithdrawal(settings, of, 50)), "high")
    assert.deepInclude(lowPlayWithdrawal(settings, of, -7)?.details, { deposited: 1001, staked: 0, percent: 50 })
  })

  it("requires no stakes for deposits that are small, old or reversed", () => {
    const later = caseOf([...of.before.toReversed(), payment("withdrawal", 1, 240)])
    assert.isUndefined(playNeeded(settings, later))
    const reversed = of.before.map((each) => ({ ...each, isReversed: each.amount === 400 }))
    assert.isUndefined(playNeeded(settings, { ...of, before: reversed }))
    assert.isUndefined(playNeeded(settings, { ...of, before: [] }))
    assert.isUndefined(playNeeded(settings, { ...of, factor: 0.99 }))
  })

  it("may require stakes of more than the deposited amount", () => {
    const twice = withTerms("low_play_withdrawal", { threshold: 1000, percent: 200, windowHours: 240 })
    assert.deepInclude(playNeeded(twice, of), { stakes: 2002 })
  })
})

describe("all money alert rules", () => {
  const ofDeposits = [largeDeposit, structuring, depositVelocity]
  const ofWithdrawals = [largeWithdrawal, rapidInOut]
  const amount = fc.integer({ min: 1, max: 3_000_000 })
  const anyDeposit = fc.array(amount, { minLength: 1, maxLength: 12 }).map((amounts) => depositOf(amounts))
  const anyCase = fc.array(
    fc.record({
      type: fc.constantFrom("deposit" as const, "withdrawal" as const),
      amount,
      hours: fc.integer({ min: 0, max: 100 })
    }),
    { minLength: 1, maxLength: 12 }
  ).map((rows) =>
    caseOf(rows.toSorted((a, b) => a.hours - b.hours).map(({ amount, hours, type }) => payment(type, amount, hours)))
  )
  const findings = (settings: RuleSettings, deposit: DepositCase, of: PaymentCase) => [
    ...ofDeposits.map((rule) => rule(settings, deposit)),
    ...ofWithdrawals.map((rule) => rule(settings, of))
  ]

  it("raise nothing when they are disabled", () => {
    const off = settingsWith(Object.fromEntries(alertRules.map((rule) => [rule, { enabled: false }])))
    fc.assert(fc.property(anyDeposit, anyCase, (deposit, of) => {
      assert.deepStrictEqual(findings(off, deposit, of).filter((found) => found !== undefined), [])
      assert.isUndefined(lowPlayWithdrawal(off, of, 0))
    }))
  })

  it("have at least the configured severity, and the same result for the same payments", () => {
    fc.assert(fc.property(anyDeposit, anyCase, (deposit, of) => {
      const all = findings(defaultSettings, deposit, of)
      assert.deepStrictEqual(findings(defaultSettings, deposit, of), all)
      for (const found of all) {
        if (found === undefined) continue
        const least = defaultSettings[found.rule].severity
        assert.isAtLeast(severities.indexOf(found.severity), severities.indexOf(least))
        assert.strictEqual(found.stopsWithdrawals, false)
      }
    }))
  })

  it("stop withdrawals when they are configured to", () => {
    const stopping = settingsWith(Object.fromEntries(alertRules.map((rule) => [rule, { stopWithdrawals: true }])))
    const found = findings(stopping, depositOf([9_000_000]), caseOf([payment("withdrawal", 9_000_000, 0)]))
    assert.deepStrictEqual(found.map((each) => each?.stopsWithdrawals), [true, undefined, undefined, true, undefined])
  })
})

describe("settingsWith", () => {
  it("overrides default terms, and ignores terms that the rule does not have", () => {
    const settings = settingsWith({ large_deposit: { threshold: 5, count: 9, stopWithdrawals: true } })
    assert.deepStrictEqual(settings.large_deposit, {
      ...defaultSettings.large_deposit,
      threshold: 5,
      stopWithdrawals: true
    })
    assert.deepStrictEqual({ ...settings, large_deposit: defaultSettings.large_deposit }, defaultSettings)
  })
})
