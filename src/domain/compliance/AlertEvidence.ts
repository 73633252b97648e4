/** Evidence of an alert: the payments that its rule looked at, and their sums at the alert and now, since payments change afterwards. */
import type { AlertRule, RuleSettings } from "./AlertRules.ts"
import { depositsExamined, type PaymentFact } from "./MoneyAlerts.ts"

export const evidenceFigures = ["deposits", "withdrawals"] as const

const hourMs = 3_600_000

/** Hours shown for a rule without a window of its own. */
const otherwiseHours = 72

/** Hours shown where the window is a jurisdiction's, of which the longest is a month. */
const monthHours = 744

/** Beginning of the time that a rule looked at, epoch milliseconds. */
export const evidenceSince = (rule: AlertRule, { [rule]: terms }: RuleSettings, raisedAt: number): number =>
  raisedAt -
  ("windowHours" in terms ? terms.windowHours : rule === "net_deposits" ? monthHours : otherwiseHours) * hourMs

type Kind = Omit<PaymentFact, "id" | "at">

/** Whether a payment is in effect: a deposit not charged back, a withdrawal not rejected or cancelled. */
const isEffective = ({ isReversed, status }: Kind): boolean =>
  !isReversed && status !== "rejected" && status !== "cancelled"

/** Whether a payment is of the kind that a rule looks for. `factor`: as in `PaymentCase`. */
export const isCounted = (rule: AlertRule, settings: RuleSettings, factor: number | null, payment: Kind): boolean => {
  const converted = payment.amount * (factor ?? 1)
  switch (rule) {
    case "structuring": {
      const { below, least } = depositsExamined(settings, factor)
      return payment.type === "deposit" && converted >= least && converted < below
    }
    case "deposit_velocity":
      return payment.type === "deposit"
    case "large_deposit":
    case "large_withdrawal":
      return `large_${payment.type}` === rule && converted >= settings[rule].threshold
    case "rapid_in_out":
    case "low_play_withdrawal":
    case "net_deposits":
      return isEffective(payment)
    default:
      return false
  }
}

/**
 * Deposits and withdrawals in effect since the beginning of the evidence: those made when the alert was raised, and all of them. A rule that looks for
 * deposits of some size sums no others.
 */
export const evidenceSums = (
  rule: AlertRule,
  payments: ReadonlyArray<PaymentFact & { readonly isCounted: boolean }>,
  raisedAt: number
) =>
  evidenceFigures.map((figure) => {
    const summed = payments.filter((payment) =>
      `${payment.type}s` === figure &&
      (rule === "structuring" && figure === "deposits" ? payment.isCounted : isEffective(payment))
    )
    const then = summed.filter(({ at }) => at <= raisedAt)
    const sum = (of: typeof summed) => of.reduce((total, { amount }) => total + amount, 0)
    return {
      figure,
      raised: sum(then),
      now: sum(summed),
      raised_count: then.length,
      now_count: summed.length
    }
  })
