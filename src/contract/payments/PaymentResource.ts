/** Wire schemas of deposits, withdrawals and payment methods. */
import { Schema } from "effect"
import { paymentStatuses, paymentTypes } from "../../domain/state/Change.ts"
import { currencyCode, id, money, timestamp } from "../common/Resource.ts"

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
}).annotate({
  identifier: "PaymentRequest",
  examples: [{
    id: 5488,
    type: "deposit",
    status: "paid",
    player_id: 48213,
    amount: 5000,
    currency: "EUR",
    payment_method: "card",
    external_reference: "psp-88213",
    info: "Visa, ends in 4242",
    reject_reason: null,
    is_reversed: false,
    created_at: "2026-11-20T12:00:30.000Z",
    paid_at: "2026-11-20T12:00:30.000Z",
    rejected_at: null,
    cancelled_at: null,
    updated_at: "2026-11-20T12:00:30.000Z"
  }]
})

/** A payment method of an operator (SPEC section 2.6). */
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
}).annotate({
  identifier: "PaymentMethod",
  description: "Bounds are in the operator's currency, and are converted for players with another one.",
  examples: [{
    code: "card",
    name: "Card",
    supports_deposit: true,
    supports_withdrawal: true,
    min_deposit: 500,
    max_deposit: 100_000,
    min_withdrawal: 1000,
    max_withdrawal: 500_000,
    currencies: ["EUR"]
  }]
})
