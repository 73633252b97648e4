/** Operator API endpoints for payment methods, deposits and withdrawals (SPEC section 4.4). */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { about, IdempotentBy, RequiredFeature, RequiredScope, SecretAnswer } from "../common/Annotations.ts"
import { refusals } from "../common/Errors.ts"
import { amountFrom, instant, integer, lines, oneOf, pathId, text } from "../common/Fields.ts"
import { created, list, pageOrWalk, single, timedWalkQuery } from "../common/Pagination.ts"
import { PaymentMethod, PaymentRequest } from "./PaymentResource.ts"
import { paymentStatuses, paymentTypes } from "../../domain/state/Change.ts"

/** A deposit collected by the operator's payment provider. */
export const Deposit = Schema.Struct({
  amount: amountFrom(1),
  external_reference: text(128, { description: "The operator's own reference, unique.", examples: ["psp-88213"] }),
  payment_method: Schema.optionalKey(text(64)),
  info: Schema.optionalKey(lines(1000, { description: "Shown to staff." })),
  notes: Schema.optionalKey(lines(2000, { description: "An internal note." }))
}).annotate({
  identifier: "Deposit",
  examples: [{ amount: 5000, external_reference: "psp-88213", payment_method: "card", info: "Visa, ends in 4242" }]
})

/** A withdrawal request. */
export const Withdrawal = Schema.Struct({
  amount: amountFrom(1),
  payment_method: text(64, { description: "The code of a payment method.", examples: ["bank"] }),
  external_reference: Schema.optionalKey(
    text(128, { description: "The operator's own reference, unique.", examples: ["wd-1207"] })
  ),
  info: Schema.optionalKey(lines(1000, { description: "Payout details, shown to staff." })),
  bank_name: Schema.optionalKey(text(255)),
  notes: Schema.optionalKey(lines(2000, { description: "An internal note." }))
}).annotate({
  identifier: "Withdrawal",
  examples: [{
    amount: 2000,
    payment_method: "bank",
    external_reference: "wd-1207",
    info: "DE89 3704 0044 0532 0130 00"
  }]
})

const requested = single(PaymentRequest).annotate({
  examples: [{
    data: {
      id: 5490,
      type: "withdrawal",
      status: "new",
      player_id: 48213,
      amount: 2000,
      currency: "EUR",
      payment_method: "bank",
      external_reference: "wd-1207",
      info: "DE89 3704 0044 0532 0130 00",
      reject_reason: null,
      is_reversed: false,
      created_at: "2026-11-20T18:00:00.000Z",
      paid_at: null,
      rejected_at: null,
      cancelled_at: null,
      updated_at: "2026-11-20T18:00:00.000Z"
    }
  }]
})

/** Filters of the payment list. */
const PaymentsQuery = Schema.Struct({
  ...timedWalkQuery,
  player_id: Schema.optionalKey(integer(1, Number.MAX_SAFE_INTEGER)),
  type: Schema.optionalKey(oneOf(paymentTypes)),
  status: Schema.optionalKey(oneOf(paymentStatuses)),
  external_reference: Schema.optionalKey(text(128)),
  created_from: Schema.optionalKey(instant),
  created_to: Schema.optionalKey(instant)
})

export const PaymentsGroup = HttpApiGroup.make("payments")
  .add(
    HttpApiEndpoint.get("methods", "/payment-methods", { success: list(PaymentMethod) })
      .annotate(RequiredScope, "payments:read")
      .annotateMerge(about(
        "Active payment methods for the operator's currency",
        "The codes are what deposits and withdrawals name as `payment_method`, the bounds what they have to keep to."
      )),
    HttpApiEndpoint.post("deposit", "/players/:player/deposits", {
      params: { player: pathId },
      payload: Deposit,
      success: [
        created(PaymentRequest),
        single(PaymentRequest).annotate({ description: "The reference was known: the deposit that it names." })
      ],
      error: refusals("DUPLICATE_TRANSACTION", "PLAYER_RESTRICTED", "LIMIT_EXCEEDED", "PAYMENT_REQUEST_INVALID")
    })
      .annotate(RequiredScope, "payments:write")
      .annotate(IdempotentBy, "external_reference")
      .annotate(SecretAnswer, true)
      .annotateMerge(about(
        "Record a paid deposit",
        "Credits the real wallet at once. Repeating an `external_reference` answers 200 with the original deposit."
      )),
    HttpApiEndpoint.post("withdraw", "/players/:player/withdrawals", {
      params: { player: pathId },
      payload: Withdrawal,
      success: [
        requested.pipe(HttpApiSchema.status(201)),
        requested.annotate({ description: "The reference was known: the withdrawal that it names." })
      ],
      error: refusals(
        "DUPLICATE_TRANSACTION",
        "PLAYER_RESTRICTED",
        "PAYMENT_REQUEST_INVALID",
        "KYC_REQUIRED",
        "INSUFFICIENT_FUNDS"
      )
    })
      .annotate(RequiredScope, "payments:write")
      .annotate(IdempotentBy, "external_reference")
      .annotate(SecretAnswer, true)
      .annotateMerge(about(
        "Request a withdrawal",
        "Holds the amount on the real wallet until staff pay it out, or refuse and return it. Repeating an " +
          "`external_reference` answers 200 with the original request."
      )),
    HttpApiEndpoint.get("list", "/payments", { query: PaymentsQuery, success: pageOrWalk(PaymentRequest) })
      .annotate(RequiredScope, "payments:read")
      .annotateMerge(about("Deposits and withdrawals, newest first", "All filters given must hold.")),
    HttpApiEndpoint.get("get", "/payments/:payment", { params: { payment: pathId }, success: single(PaymentRequest) })
      .annotate(RequiredScope, "payments:read")
      .annotateMerge(about(
        "One deposit or withdrawal",
        "A withdrawal is `new` until staff approve it (`allowed`), pay it out (`paid`), refuse it (`rejected`, with `reject_reason`) or " +
          "cancel it (`cancelled`). A deposit is `paid` from the beginning; `is_reversed` says that it was charged back."
      ))
  )
  .annotate(RequiredFeature, "payments")
  .annotateMerge(OpenApi.annotations({
    title: "Payments",
    description:
      "Deposits that your payment provider has collected, and withdrawals that staff approve and pay out. Both are idempotent on " +
      "`external_reference`, for ever."
  }))
