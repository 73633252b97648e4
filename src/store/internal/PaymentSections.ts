/** CTEs of the commit statement that write payments. Bank details and staff notes are encrypted. */
import type { Payment, PaymentChange } from "../../domain/state/Change.ts"
import type { PersonalData } from "../../platform/PersonalData.ts"
import { sealDetails } from "../SealedFields.ts"
import { type Converted, converted, rateOfPair } from "./ReportSections.ts"
import { bytes, columnsOf, flag, insertInto, number, type Section, text, time, update } from "./StatementSections.ts"

interface PaymentSeen {
  readonly payment: Payment
}

/** New payment with its sealed details. */
export interface NewPayment extends PaymentSeen {
  readonly sealed: Uint8Array | null
}

const columns = columnsOf<Payment, PaymentSeen>({
  id: number("id", ({ payment }) => payment.id),
  operatorId: number("operator_id", ({ payment }) => payment.operatorId),
  playerId: number("player_id", ({ payment }) => payment.playerId),
  type: text("type", ({ payment }) => payment.type),
  status: text("status", ({ payment }) => payment.status),
  amount: number("amount", ({ payment }) => payment.amount),
  currency: text("currency", ({ payment }) => payment.currency),
  paymentMethod: text("payment_method", ({ payment }) => payment.paymentMethod),
  externalReference: text("external_reference", ({ payment }) => payment.externalReference),
  rejectReason: text("reject_reason", ({ payment }) => payment.rejectReason),
  isReversed: flag("is_reversed", ({ payment }) => payment.isReversed),
  firstApprovedBy: text("first_approved_by", ({ payment }) => payment.firstApprovedBy),
  secondApprovedBy: text("second_approved_by", ({ payment }) => payment.secondApprovedBy),
  createdAt: time("created_at", ({ payment }) => payment.createdAt),
  paidAt: time("paid_at", ({ payment }) => payment.paidAt),
  rejectedAt: time("rejected_at", ({ payment }) => payment.rejectedAt),
  cancelledAt: time("cancelled_at", ({ payment }) => payment.cancelledAt),
  updatedAt: time("updated_at", ({ payment }) => payment.updatedAt),
  // sealed
  info: [],
  notes: [],
  bankName: []
})

export const newPayments = insertInto<NewPayment>("payment_requests", [
  ...columns,
  bytes("details_sealed", ({ sealed }) => sealed),
  flag("has_notes", ({ payment }) => payment.notes !== null)
])

/** Payment as written by {@link newPayments}. */
export const toNewPayment = (personal: PersonalData["Service"]) => ({ payment }: PaymentChange): NewPayment => ({
  payment,
  sealed: sealDetails(personal, payment)
})

const changing = [
  "status",
  "reject_reason",
  "is_reversed",
  "first_approved_by",
  "second_approved_by",
  "paid_at",
  "rejected_at",
  "cancelled_at",
  "updated_at"
]

export const changedPayments = update("payment_requests", columns, { keys: ["id", "operator_id"], set: changing })

/** A withdrawal stores the exchange rate of its payout. */
export const convertedPayments: Section<Converted<PaymentSeen>> = {
  columns: converted(columns),
  query: update("payment_requests", converted(columns), {
    keys: ["id", "operator_id"],
    set: changing,
    more: `, exchange_rate_id = coalesce(t.exchange_rate_id, ${rateOfPair})`
  }).query
}

/** True when a change of a payment is the payout of a withdrawal. */
export const isPayout = ({ payment }: PaymentSeen): boolean =>
  payment.type === "withdrawal" && payment.paidAt !== null && payment.paidAt === payment.updatedAt
