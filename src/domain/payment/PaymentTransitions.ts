/**
 * Transitions of a payment by staff: approve, pay, reject, cancel, chargeback (SPEC section 3.2;
 * `docs/decisions/0010-payments.md`).
 */
import type { Payment, PaymentStatus, PaymentType } from "../state/Change.ts"
import { type Context, type Decision, missing, refused } from "../state/Decision.ts"
import { Draft } from "../state/Draft.ts"
import { needsTwo, type Objection, objectionMessage } from "../staff/FourEyes.ts"
import { isBalance, maxBalance } from "../Money.ts"
import { uncountWithdrawal } from "../state/Limits.ts"
import { paymentFields } from "./Payments.ts"
import type { Player } from "../state/Player.ts"
import { type Refusal, refuse } from "../Refusal.ts"
import { refuseHeld } from "./Withdrawals.ts"

export const paymentTransitionNames = ["approve", "pay", "reject", "cancel", "chargeback"] as const

export type PaymentTransitionName = (typeof paymentTransitionNames)[number]

interface Transition {
  readonly type: PaymentType
  readonly from: ReadonlyArray<PaymentStatus>
  readonly to: PaymentStatus
  /** Past participle in messages: "cannot be …". */
  readonly past: string
  /** Type and sign of the entry posted by the transition; null when none is. */
  readonly entry: { readonly type: "withdrawal_rejection" | "chargeback"; readonly sign: 1 | -1 } | null
  /** Whether the held amount no longer counts as withdrawn. */
  readonly isRefund: boolean
  /** Event emitted to the operator. */
  readonly event: "withdrawal.paid" | "withdrawal.rejected" | null
}

/** All transitions of a payment. */
export const paymentTransitions: { readonly [name in PaymentTransitionName]: Transition } = {
  approve: {
    type: "withdrawal",
    from: ["new"],
    to: "allowed",
    past: "approved",
    entry: null,
    isRefund: false,
    event: null
  },
  pay: {
    type: "withdrawal",
    from: ["allowed"],
    to: "paid",
    past: "paid out",
    entry: null,
    isRefund: false,
    event: "withdrawal.paid"
  },
  reject: {
    type: "withdrawal",
    from: ["new", "allowed"],
    to: "rejected",
    past: "rejected",
    entry: { type: "withdrawal_rejection", sign: 1 },
    isRefund: true,
    event: "withdrawal.rejected"
  },
  cancel: {
    type: "withdrawal",
    from: ["new"],
    to: "cancelled",
    past: "cancelled",
    entry: { type: "withdrawal_rejection", sign: 1 },
    isRefund: true,
    event: null
  },
  chargeback: {
    type: "deposit",
    from: ["paid"],
    to: "paid",
    past: "charged back",
    entry: { type: "chargeback", sign: -1 },
    isRefund: false,
    event: null
  }
}

export interface TransitionCommand {
  readonly paymentId: number
  readonly transition: PaymentTransitionName
  /** Audit log label of the actor. */
  readonly actor: string
  readonly reason: string | null
  /**
   * The operator's setting in minor units of the payment's currency: above it, the withdrawal and the sums beside it need two approvals and a payout
   * by another person; null: one person always suffices.
   */
  readonly secondApprovalAbove: number | null
  /** Sum counted with the withdrawal: the player's other withdrawals and upward corrections of the same days. */
  readonly beside: number
  /** Objection to the actor where two people are required, given the approvers so far. */
  readonly judged: { readonly approvedBy: ReadonlyArray<string>; readonly objection: Objection | undefined }
}

export type TransitionRefusal = Refusal<"NOT_FOUND" | "PAYMENT_REQUEST_INVALID" | "PLAYER_RESTRICTED" | "TRY_AGAIN">

const notFound = refuse("NOT_FOUND", "There is no such payment.")

const changedConcurrently = refuse(
  "TRY_AGAIN",
  "The status of this payment was changed at the same moment. Read the payment, and try again.",
  {
    retry: "same_request"
  }
)

/** Approvers of a payment so far. */
export const approversOf = (payment: Pick<Payment, "firstApprovedBy" | "secondApprovedBy">): ReadonlyArray<string> =>
  [payment.firstApprovedBy, payment.secondApprovedBy].filter((label) => label !== null)

const refuseTransition = (
  player: Player,
  payment: Payment,
  command: TransitionCommand
): TransitionRefusal | undefined => {
  const { transition } = command
  const { entry, from, past, type } = paymentTransitions[transition]
  const isAllowed = payment.type === type && from.includes(payment.status)
  if (!isAllowed || (transition === "chargeback" && payment.isReversed)) {
    const is = payment.isReversed ? "charged back" : payment.status
    return refuse("PAYMENT_REQUEST_INVALID", `A ${payment.type} that is ${is} cannot be ${past}.`, {
      type: payment.type,
      status: payment.status,
      is_reversed: payment.isReversed
    })
  }
  if (transition === "approve" || transition === "pay") {
    const refusal = refuseHeld(player) ?? (needsSecond(payment, command) ? refuseApprover(payment, command) : undefined)
    if (refusal !== undefined) return refusal
  }
  return entry === null || isBalance(player.real + entry.sign * payment.amount)
    ? undefined
    : refuse("PAYMENT_REQUEST_INVALID", `The balance would go beyond ${maxBalance}.`, { balance: player.real })
}

const needsSecond = ({ amount }: Payment, { beside, secondApprovalAbove }: TransitionCommand): boolean =>
  needsTwo(amount, beside, secondApprovalAbove)

/** Refuses an actor where another person is required, and a payment whose approvers changed since the objection was judged. */
const refuseApprover = (
  payment: Payment,
  { actor, judged, transition }: TransitionCommand
): TransitionRefusal | undefined => {
  if (transition === "approve" && payment.firstApprovedBy === actor) {
    return refuse(
      "PAYMENT_REQUEST_INVALID",
      "You have already approved this withdrawal: a second person has to approve it, too.",
      {
        reason: "second_approver",
        first_approved_by: actor
      }
    )
  }
  const approvedBy = approversOf(payment)
  const isCurrent = approvedBy.length === judged.approvedBy.length &&
    approvedBy.every((label, index) => label === judged.approvedBy[index])
  if (!isCurrent) return changedConcurrently
  return judged.objection === undefined
    ? undefined
    : refuse("PAYMENT_REQUEST_INVALID", objectionMessage(judged.objection), {
      reason: judged.objection,
      first_approved_by: payment.firstApprovedBy
    })
}

/** Payment after an allowed transition. */
const transitioned = (payment: Payment, command: TransitionCommand, now: number): Payment => {
  const { actor, reason, transition } = command
  const next: Payment = { ...payment, status: paymentTransitions[transition].to, updatedAt: now }
  switch (transition) {
    case "approve":
      return payment.firstApprovedBy === null
        ? { ...next, firstApprovedBy: actor, status: needsSecond(payment, command) ? payment.status : next.status }
        : { ...next, secondApprovedBy: actor }
    case "pay":
      return { ...next, paidAt: now }
    case "reject":
      // operators always get a reason
      return { ...next, rejectedAt: now, rejectReason: reason ?? "Rejected by staff" }
    case "cancel":
      return { ...next, cancelledAt: now }
    case "chargeback":
      return { ...next, isReversed: true }
  }
}

/** Audited fields of a payment: those changed by transitions. */
const auditFields = (payment: Payment) => ({
  status: payment.status,
  first_approved_by: payment.firstApprovedBy,
  ...(payment.secondApprovedBy === null ? {} : { second_approved_by: payment.secondApprovedBy }),
  reject_reason: payment.rejectReason,
  is_reversed: payment.isReversed
})

/**
 * Applies a transition to a payment of the player. Ledger entry, event and audit log line commit with the payment. A chargeback may make the real
 * balance negative, since the money is gone whether or not it was spent.
 */
export const transitionStep =
  (command: TransitionCommand) => (player: Player, context: Context): Decision<Payment, TransitionRefusal> => {
    const { actor, paymentId, reason, transition } = command
    const payment = context.known?.paymentsById.get(paymentId)
    if (payment === undefined) return missing({ paymentId })
    if (payment === null) return refused(notFound)
    const refusal = refuseTransition(player, payment, command)
    if (refusal !== undefined) return refused(refusal)
    const { entry, event, isRefund } = paymentTransitions[transition]
    const draft = new Draft(player, context)
    const after = transitioned(payment, command, context.now)
    if (entry !== null) {
      draft.post("real", entry.type, entry.sign * payment.amount, { paymentRequestId: payment.id })
      draft.walletSeq++
    }
    if (isRefund) draft.counters = uncountWithdrawal(draft.counters, context.now, payment.amount, payment.createdAt)
    if (transition === "pay") draft.countPayout(payment.amount)
    if (event !== null) draft.emit(event, { payment: paymentFields(after) })
    const audit = {
      id: draft.takeId(),
      at: context.now,
      actor,
      action: `payment.${transition}`,
      operatorId: player.operatorId,
      playerId: player.id,
      subject: `payment:${payment.id}`,
      before: auditFields(payment),
      after: auditFields(after),
      reason
    }
    return draft.accept(
      after,
      { payments: [{ payment: after, isNew: false }], audit: [audit] },
      isRefund ? { withdrawn: player.withdrawn - payment.amount } : {}
    )
  }
