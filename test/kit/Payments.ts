/** Valid deposits, withdrawals and staff transitions as commands of rules, with overrides. */
import type { Deposit } from "../../src/domain/payment/Payments.ts"
import type { TransitionCommand, PaymentTransitionName } from "../../src/domain/payment/PaymentTransitions.ts"
import type { Withdrawal, WithdrawalMethod } from "../../src/domain/payment/Withdrawals.ts"

export const bank: WithdrawalMethod = {
  code: "bank",
  supportsWithdrawal: true,
  currencies: ["EUR", "SEK"],
  minWithdrawal: 10,
  maxWithdrawal: 10_000
}

export const withdrawalOf = (amount: number, overrides: Partial<Withdrawal> = {}): Withdrawal => ({
  amount,
  externalReference: null,
  methodCode: "bank",
  method: bank,
  info: "DE89",
  notes: null,
  bankName: null,
  kycThreshold: null,
  forfeitsBonus: true,
  ...overrides
})

export const depositOf = (amount: number, externalReference: string): Deposit => ({
  amount,
  externalReference,
  methodCode: null,
  method: null,
  info: null,
  notes: null
})

export const transitionOf = (
  paymentId: number,
  transition: PaymentTransitionName,
  overrides: Partial<TransitionCommand> = {}
): TransitionCommand => ({
  paymentId,
  transition,
  actor: "staff:1",
  reason: null,
  secondApprovalAbove: null,
  beside: 0,
  judged: { approvedBy: [], objection: undefined },
  ...overrides
})
