/** Payments and payment methods in the staff API. */
import { Schema, Struct } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { refusals } from "../common/Errors.ts"
import { amountFrom, currency, instant, lines, oneOf, pathId, reference, text } from "../common/Fields.ts"
import { created, list, nearPage, pageOrWalk, pageQuery, single } from "../common/Pagination.ts"
import { PaymentRequest } from "./PaymentResource.ts"
import { paymentStatuses, paymentTypes } from "../../domain/state/Change.ts"
import { objections } from "../../domain/staff/FourEyes.ts"
import { currencyCode, id, money, timestamp } from "../common/Resource.ts"

/** Wait reasons of a withdrawal. */
export const waitReasons = ["approval", "second_approval", "payout", "alert", "judgement"] as const

/** Sort orders of the payment list. */
export const paymentOrders = ["newest", "oldest", "amount"] as const

/** A payment with its staff-only fields. */
const StaffPayment = Schema.Struct({
  operator_id: id,
  ...PaymentRequest.fields,
  bank_name: Schema.NullOr(Schema.String),
  notes: Schema.NullOr(Schema.String),
  first_approved_by: Schema.NullOr(Schema.String),
  second_approved_by: Schema.NullOr(Schema.String).annotate({ description: "Null where one approval is enough." }),
  waiting_for: Schema.Array(Schema.Literals(waitReasons)).annotate({
    description:
      "What a withdrawal waits for: the steps that are left for people, an alert that holds the player's withdrawals, " +
      "the judgement whether one will. Empty for what is done. Verification is asked for when a withdrawal is requested, not later."
  }),
  held_by_alerts: Schema.Array(id),
  objection: Schema.NullOr(Schema.Literals([...objections, "second_approver"])).annotate({
    description: "Where two people are needed: why the next step is not for who asks. Null: it is, or nothing waits."
  })
})

const transition = <const Name extends string>(name: Name) =>
  HttpApiEndpoint.post(name, `/payments/:payment/${name}`, {
    params: { payment: pathId },
    payload: Schema.Struct({ reason: Schema.optionalKey(lines(500)) }),
    success: single(StaffPayment),
    error: refusals("PAYMENT_REQUEST_INVALID", "PLAYER_RESTRICTED")
  })

export const PaymentGroup = HttpApiGroup.make("payment").add(
  HttpApiEndpoint.get("show", "/payments/:payment", { params: { payment: pathId }, success: single(StaffPayment) }),
  HttpApiEndpoint.get("list", "/payments", {
    query: {
      ...pageQuery,
      ...nearPage,
      cursor: Schema.optionalKey(
        Schema.String.annotate({
          description:
            "Walks the list instead of paging it: empty for its beginning, then each next_cursor. Nothing is counted."
        }).check(Schema.isPattern(/^[\w-]{0,200}$/u, { message: "must be empty or a next_cursor of this list" }))
      ),
      sort: Schema.optionalKey(oneOf(paymentOrders)),
      id: Schema.optionalKey(pathId),
      method: Schema.optionalKey(text(50)),
      currency: Schema.optionalKey(currency),
      min_amount: Schema.optionalKey(amountFrom(0)),
      operator: Schema.optionalKey(text(128)),
      player: Schema.optionalKey(pathId),
      type: Schema.optionalKey(oneOf(paymentTypes)),
      status: Schema.optionalKey(oneOf(paymentStatuses)),
      external_reference: Schema.optionalKey(text(128)),
      created_from: Schema.optionalKey(instant),
      created_to: Schema.optionalKey(instant)
    },
    success: pageOrWalk(StaffPayment)
  }),
  transition("approve"),
  transition("pay"),
  transition("reject"),
  transition("cancel"),
  transition("chargeback")
)

/** A payment method; bounds in minor units of the operator's currency, inclusive. */
export const StaffPaymentMethod = Schema.Struct({
  id,
  operator_id: id,
  code: Schema.String,
  name: Schema.String,
  currencies: Schema.Array(currencyCode),
  supports_deposit: Schema.Boolean,
  supports_withdrawal: Schema.Boolean,
  min_deposit: money,
  max_deposit: money,
  min_withdrawal: money,
  max_withdrawal: money,
  active: Schema.Boolean,
  created_at: timestamp
})

const MethodUpdate = Schema.Struct({
  name: text(100),
  currencies: Schema.Array(currency),
  supports_deposit: Schema.Boolean,
  supports_withdrawal: Schema.Boolean,
  min_deposit: amountFrom(1),
  max_deposit: amountFrom(1),
  min_withdrawal: amountFrom(1),
  max_withdrawal: amountFrom(1),
  active: Schema.Boolean
}).mapFields(Struct.map(Schema.optionalKey))

const MethodInput = Schema.Struct({
  operator: reference,
  code: Schema.String.annotate({ examples: ["card"] }).check(
    Schema.isPattern(/^[A-Za-z0-9_.-]{1,50}$/u, {
      message: "must be 1 to 50 characters: letters, digits, dots, dashes and underscores"
    })
  ),
  ...MethodUpdate.fields
})

export type MethodInput = typeof MethodInput.Type
export type MethodUpdate = typeof MethodUpdate.Type

export const PaymentMethodGroup = HttpApiGroup.make("payment_method").add(
  HttpApiEndpoint.post("create", "/payment-methods", { payload: MethodInput, success: created(StaffPaymentMethod) }),
  HttpApiEndpoint.patch("update", "/payment-methods/:method", {
    params: { method: pathId },
    payload: MethodUpdate,
    success: single(StaffPaymentMethod)
  }),
  HttpApiEndpoint.get("list", "/payment-methods", {
    query: { operator: Schema.optionalKey(reference) },
    success: list(StaffPaymentMethod)
  })
)
