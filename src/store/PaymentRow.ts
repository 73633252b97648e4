/** Payment request rows: their columns, and their decoding with decrypted details. */
import { Effect, Schema, Struct } from "effect"
import { Payment } from "../domain/state/Change.ts"
import type { PersonalData } from "../platform/PersonalData.ts"
import { columnsOf } from "./Rows.ts"
import { openDetails } from "./SealedFields.ts"

export const PaymentRow = Schema.Struct({
  ...Struct.omit(Payment.fields, ["info", "notes", "bankName"]),
  detailsSealed: Schema.NullOr(Schema.Uint8Array)
})

/** Columns of {@link PaymentRow} from `payment_requests`. */
export const paymentColumns = columnsOf(PaymentRow)

/** Decodes payments from rows, decrypting their details. */
export const toPayments = (
  personal: PersonalData["Service"],
  rows: ReadonlyArray<typeof PaymentRow.Type>
): Effect.Effect<ReadonlyArray<Payment>> =>
  Effect.forEach(
    rows,
    ({ detailsSealed, ...payment }) =>
      Effect.map(openDetails(personal, payment.id, detailsSealed), (details) => ({ ...payment, ...details }))
  )
