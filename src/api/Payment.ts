import { Schema } from "effect"
import { currencyCode, id, money, timestamp } from "./Resource.ts"

export const paymentTypes = ["deposit", "withdrawal"] as const

export const paymentStatuses = ["new", "allowed", "paid", "rejected", "cancelled"] as const

/** A deposit or a withdrawal (SPEC section 2.5). */
export const PaymentRequest = Schema.Struct({
  id,
  type: Schema.Literals(paymentTypes),
  status: Schema.Literals(paymentStatuses),
  player_id: id,
  amount: money,
  currency: currencyCode,
  payment_method: Schema.NullOr(Schema.String),
  external_reference: Schema.NullOr(Schema.String),
  info: Schema.NullOr(Schema.String),
  reject_reason: Schema.NullOr(Schema.String),
  is_reversed: Schema.Boolean,
  created_at: timestamp,
  paid_at: Schema.NullOr(timestamp),
  rejected_at: Schema.NullOr(timestamp),
  cancelled_at: Schema.NullOr(timestamp),
  updated_at: timestamp
}).annotate({ identifier: "PaymentRequest" })

/** A way to pay that an operator offers (SPEC section 2.6). */
export const PaymentMethod = Schema.Struct({
  code: Schema.String.annotate({ examples: ["card"] }),
  name: Schema.String,
  supports_deposit: Schema.Boolean,
  supports_withdrawal: Schema.Boolean,
  min_deposit: money,
  max_deposit: money,
  min_withdrawal: money,
  max_withdrawal: money,
  currencies: Schema.Array(currencyCode)
}).annotate({ identifier: "PaymentMethod" })
