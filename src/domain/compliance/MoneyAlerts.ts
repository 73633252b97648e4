/**
 * Payment rules: each evaluates one payment and those before it, or their sums, and returns a finding (`docs/alerts.md`).
 *
 * Amounts are minor units of the player's currency, thresholds of the operator's. Rules see only payments up to the time of the evaluated one.
 */
import { type Finding, type RuleSettings, shiftSeverity } from "./AlertRules.ts"
import { after } from "../jurisdiction/Duration.ts"
import type { Rules } from "../jurisdiction/Rules.ts"
import type { PaymentStatus, PaymentType } from "../state/Change.ts"

/** Payment as seen by the rules. */
export interface PaymentFact {
  readonly id: number
  readonly type: PaymentType
  readonly status: PaymentStatus
  readonly amount: number
  readonly isReversed: boolean
  /** Creation time, epoch milliseconds. */
  readonly at: number
}

/** Payment to evaluate, with its context. */
export interface PaymentCase {
  readonly payment: PaymentFact
  /** Earlier payments of the player, newest first, as far back as the rules' windows. */
  readonly before: ReadonlyArray<PaymentFact>
  /** Minor units of the operator's currency for one of the player's: 1 for the same currency, null without a rate. */
  readonly factor: number | null
}

/** Deposits of a player: how many, and their total in minor units of the player's currency. */
interface DepositSum {
  readonly count: number
  readonly amount: number
}

/** Deposit to evaluate. Its sums include it, and reach back from it as far as {@link depositsExamined} says. */
export interface DepositCase extends Pick<PaymentCase, "factor"> {
  readonly payment: Pick<PaymentFact, "id" | "amount" | "at">
  readonly recent: DepositSum
  readonly similar: DepositSum
}

const hourMs = 3_600_000

/** Converts to minor units of the operator's currency; unchanged without a rate. */
const inBase = (amount: number, factor: number | null): number => Math.round(amount * (factor ?? 1))

/** Marks an alert whose amounts were compared without a rate. */
const rateNote = ({ factor }: Pick<PaymentCase, "factor">) => factor === null ? { unconverted: true } : {}

/** Severity steps for a multiple of the threshold. */
const degree = (times: number): number => times >= 10 ? 2 : times >= 2.5 ? 1 : 0

/** Payments of this type within the hours up to the payment, itself first. */
const within = (of: PaymentCase, type: PaymentType, windowHours: number): ReadonlyArray<PaymentFact> => {
  const from = of.payment.at - windowHours * hourMs
  const earlier = of.before.filter((other) => other.type === type && other.at > from)
  return of.payment.type === type ? [of.payment, ...earlier] : earlier
}

const sum = (payments: ReadonlyArray<PaymentFact>): number => payments.reduce((total, { amount }) => total + amount, 0)

/** Payment still in effect: a deposit not charged back, a withdrawal not rejected or cancelled. */
const isEffective = ({ isReversed, status }: PaymentFact): boolean =>
  !isReversed && status !== "rejected" && status !== "cancelled"

/** Window of a fixed grid that contains an instant. */
const gridWindow = (at: number, windowHours: number): string =>
  `${windowHours}h from ${new Date(Math.floor(at / (windowHours * hourMs)) * windowHours * hourMs).toISOString()}`

const largePayment = (
  type: PaymentType,
  { [`large_${type}` as const]: terms }: RuleSettings,
  of: Pick<DepositCase, "payment" | "factor">
): Finding | undefined => {
  const amount = inBase(of.payment.amount, of.factor)
  if (!terms.enabled || amount < terms.threshold) return undefined
  return {
    rule: `large_${type}`,
    severity: shiftSeverity(terms.severity, degree(amount / terms.threshold)),
    occurrence: `payment ${of.payment.id}`,
    paymentId: of.payment.id,
    details: { amount, threshold: terms.threshold, ...rateNote(of) },
    stopsWithdrawals: terms.stopWithdrawals
  }
}

/** Finding for a deposit of at least the threshold. */
export const largeDeposit = (settings: RuleSettings, of: DepositCase): Finding | undefined =>
  largePayment("deposit", settings, of)

/** Finding for a withdrawal request of at least the threshold. */
export const largeWithdrawal = (settings: RuleSettings, of: PaymentCase): Finding | undefined =>
  of.payment.type === "withdrawal" ? largePayment("withdrawal", settings, of) : undefined

/** Deposits that the rules about a deposit add up, in hours before it and by their amount. */
export interface DepositsExamined {
  /** Window of `recent`. */
  readonly recentHours: number
  /** Window of `similar`. */
  readonly similarHours: number
  /** Amounts of `similar` times `factor` are from `least` up to, but not, `below`. */
  readonly factor: number
  readonly least: number
  readonly below: number
}

export const depositsExamined = (
  { deposit_velocity, structuring: { percent, threshold, windowHours } }: RuleSettings,
  factor: number | null
): DepositsExamined => ({
  recentHours: deposit_velocity.windowHours,
  similarHours: windowHours,
  factor: factor ?? 1,
  // an amount is rounded in the operator's currency before it is compared
  least: Math.ceil(threshold * (100 - percent) / 100) - 0.5,
  below: Math.ceil(threshold) - 0.5
})

/** Finding for several deposits just below the review threshold. */
export const structuring = (settings: RuleSettings, of: DepositCase): Finding | undefined => {
  const { count, enabled, severity, stopWithdrawals, threshold, windowHours } = settings.structuring
  const { below, factor, least } = depositsExamined(settings, of.factor)
  const converted = of.payment.amount * factor
  if (!enabled || converted < least || converted >= below || of.similar.count < count) return undefined
  return {
    rule: "structuring",
    severity: shiftSeverity(severity, of.similar.count >= 2 * count ? 1 : 0),
    occurrence: gridWindow(of.payment.at, windowHours),
    paymentId: of.payment.id,
    details: {
      deposits: of.similar.count,
      amount: inBase(of.similar.amount, of.factor),
      threshold,
      window_hours: windowHours,
      ...rateNote(of)
    },
    stopsWithdrawals: stopWithdrawals
  }
}

/** Finding for many deposits, or a large total in more than one, in a short time. */
export const depositVelocity = ({ deposit_velocity: terms }: RuleSettings, of: DepositCase): Finding | undefined => {
  const { count, severity, stopWithdrawals, threshold, windowHours } = terms
  const amount = inBase(of.recent.amount, of.factor)
  // a single large deposit belongs to another rule
  const times = Math.max(of.recent.count / count, of.recent.count > 1 ? amount / threshold : 0)
  if (!terms.enabled || times < 1) return undefined
  return {
    rule: "deposit_velocity",
    severity: shiftSeverity(severity, degree(times)),
    occurrence: gridWindow(of.payment.at, windowHours),
    paymentId: of.payment.id,
    details: { deposits: of.recent.count, amount, count, threshold, window_hours: windowHours, ...rateNote(of) },
    stopsWithdrawals: stopWithdrawals
  }
}

/**
 * Finding for a withdrawal soon after deposits of about the same amount. Alone or with the other withdrawals of the window, it is compared with the
 * last deposit, the last two, and so on.
 */
export const rapidInOut = ({ rapid_in_out: terms }: RuleSettings, of: PaymentCase): Finding | undefined => {
  const { percent, severity, stopWithdrawals, threshold, windowHours } = terms
  if (!terms.enabled || of.payment.type !== "withdrawal") return undefined
  const deposits = within(of, "deposit", windowHours).filter(isEffective)
  const withdrawn = sum(within(of, "withdrawal", windowHours).filter(isEffective))
  const isAbout = (amount: number, deposited: number): boolean =>
    Math.abs(amount - deposited) * 100 <= percent * deposited
  let deposited = 0
  let matched: { readonly deposits: number; readonly deposited: number; readonly withdrawn: number } | undefined
  for (const [index, { amount }] of deposits.entries()) {
    deposited += amount
    if (inBase(deposited, of.factor) < threshold) continue
    const taken = [of.payment.amount, withdrawn].find((each) => isAbout(each, deposited))
    if (taken !== undefined) matched = { deposits: index + 1, deposited, withdrawn: taken }
  }
  const last = deposits[0]
  if (matched === undefined || last === undefined) return undefined
  const isFast = of.payment.at - last.at <= windowHours * hourMs / 8
  return {
    rule: "rapid_in_out",
    severity: shiftSeverity(severity, isFast ? 1 : 0),
    occurrence: `payment ${of.payment.id}`,
    paymentId: of.payment.id,
    details: {
      deposits: matched.deposits,
      deposited: inBase(matched.deposited, of.factor),
      withdrawn: inBase(matched.withdrawn, of.factor),
      minutes_since_deposit: Math.floor((of.payment.at - last.at) / 60_000),
      ...rateNote(of)
    },
    stopsWithdrawals: stopWithdrawals
  }
}

/** Stakes expected before a withdrawal. Minor units of the player's currency. */
export interface PlayNeeded {
  readonly deposited: number
  /** Sufficient stakes. */
  readonly stakes: number
  /** Time of the first of the deposits, epoch milliseconds. */
  readonly since: number
}

/** Stakes expected for the deposits before a withdrawal; undefined when none are. */
export const playNeeded = (
  { low_play_withdrawal: { enabled, percent, threshold, windowHours } }: RuleSettings,
  of: PaymentCase
): PlayNeeded | undefined => {
  if (!enabled || of.payment.type !== "withdrawal") return undefined
  const deposits = within(of, "deposit", windowHours).filter(isEffective)
  const first = deposits.at(-1)
  const deposited = sum(deposits)
  if (first === undefined || inBase(deposited, of.factor) < threshold) return undefined
  return { deposited, stakes: Math.ceil(deposited * percent / 100), since: first.at }
}

/** Finding for a withdrawal of deposits hardly wagered. `staked`: real-money stakes since the deposits, as counted so far. */
export const lowPlayWithdrawal = (
  settings: RuleSettings,
  of: PaymentCase,
  staked: number
): Finding | undefined => {
  const { percent, severity, stopWithdrawals } = settings.low_play_withdrawal
  const needed = playNeeded(settings, of)
  if (needed === undefined || staked >= needed.stakes) return undefined
  return {
    rule: "low_play_withdrawal",
    severity: shiftSeverity(severity, staked * 10 < needed.stakes ? 1 : 0),
    occurrence: `payment ${of.payment.id}`,
    paymentId: of.payment.id,
    details: {
      deposited: inBase(needed.deposited, of.factor),
      staked: inBase(Math.max(0, staked), of.factor),
      percent,
      ...rateNote(of)
    },
    stopsWithdrawals: stopWithdrawals
  }
}

/** Hours before a withdrawal that its rules examine. */
export const hoursExamined = ({ low_play_withdrawal, rapid_in_out }: RuleSettings): number =>
  Math.max(rapid_in_out.windowHours, low_play_withdrawal.windowHours)

/** A deposit of a player whose jurisdiction wants net deposits looked at. */
export interface NetDepositCase {
  readonly payment: Pick<PaymentFact, "id" | "at">
  /** Deposits that were not charged back less withdrawals that were paid, in the window up to the deposit; minor units of the player's currency. */
  readonly net: number
  /** When the player's last alert of the rule was raised; null before the first. */
  readonly lastAt: number | null
  readonly check: NonNullable<Rules["vulnerability"]>
  readonly currency: string
  /** The profile and its version, in words. */
  readonly profile: string
}

/** Net deposits above what the player's jurisdiction names, once in the time that it names. */
export const netDeposits = (
  { net_deposits: terms }: RuleSettings,
  { check, currency, lastAt, net, payment, profile }: NetDepositCase
): Finding | undefined => {
  const isKnown = lastAt !== null && payment.at < after(check.repeat, lastAt)
  if (!terms.enabled || net <= check.net_deposits || isKnown) return undefined
  return {
    rule: "net_deposits",
    severity: terms.severity,
    occurrence: `payment ${payment.id}`,
    paymentId: payment.id,
    details: { amount: net, threshold: check.net_deposits, window: check.window, currency, profile },
    stopsWithdrawals: terms.stopWithdrawals
  }
}
