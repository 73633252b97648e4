/** How a payment request stands in its table. */
import { Effect, Schema } from "effect"
import type { Payment } from "../domain/Change.ts"
import type { PersonalData } from "../platform/PersonalData.ts"
import { openDetails } from "./SealedFields.ts"

/** The columns of `payment_requests` in the names and types of `PaymentRow`. */
export const paymentColumns = `id, operator_id AS "operatorId", player_id AS "playerId", type, status,
  amount, currency, payment_method AS "paymentMethod", external_reference AS "externalReference", info, notes,
  bank_name AS "bankName", details_sealed AS "detailsSealed", reject_reason AS "rejectReason", is_reversed AS "isReversed",
  first_approved_by AS "firstApprovedBy", second_approved_by AS "secondApprovedBy", created_at AS "createdAt",
  paid_at AS "paidAt", rejected_at AS "rejectedAt", cancelled_at AS "cancelledAt", updated_at AS "updatedAt"`

const optionalText = Schema.NullOr(Schema.String)
const optionalTime = Schema.NullOr(Schema.Date)

export const PaymentRow = Schema.Struct({
  id: Schema.Number,
  operatorId: Schema.Number,
  playerId: Schema.Number,
  type: Schema.Literals(["deposit", "withdrawal"]),
  status: Schema.Literals(["new", "allowed", "paid", "rejected", "cancelled"]),
  amount: Schema.Number,
  currency: Schema.String,
  paymentMethod: optionalText,
  externalReference: optionalText,
  info: optionalText,
  notes: optionalText,
  bankName: optionalText,
  detailsSealed: Schema.NullOr(Schema.Uint8Array),
  rejectReason: optionalText,
  isReversed: Schema.Boolean,
  firstApprovedBy: optionalText,
  secondApprovedBy: optionalText,
  createdAt: Schema.Date,
  paidAt: optionalTime,
  rejectedAt: optionalTime,
  cancelledAt: optionalTime,
  updatedAt: Schema.Date
})

const at = (date: Date | null): number | null => date === null ? null : date.getTime()

/** Payments from their rows. */
export const toPayments = (
  personal: PersonalData["Service"],
  rows: ReadonlyArray<typeof PaymentRow.Type>
): Effect.Effect<ReadonlyArray<Payment>> =>
  Effect.forEach(rows, ({ detailsSealed, ...row }) =>
    openDetails(personal, detailsSealed, {
      ...row,
      createdAt: row.createdAt.getTime(),
      paidAt: at(row.paidAt),
      rejectedAt: at(row.rejectedAt),
      cancelledAt: at(row.cancelledAt),
      updatedAt: row.updatedAt.getTime()
    }))
