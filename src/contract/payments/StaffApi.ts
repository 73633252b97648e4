/** Staff API endpoints for payments and payment methods. */
import { Schema, Struct } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { createdPeriod, ofOperator, ofPlayer, operatorReference } from "../common/StaffFields.ts"
import { action, anyRole } from "../common/StaffAction.ts"
import { bulkOutcome, idsOf } from "../common/Bulk.ts"
import { refusals } from "../common/Errors.ts"
import { StaffIdempotentPost } from "../common/StaffMiddleware.ts"
import { amountFrom, currency, lines, oneOf, pathId, text } from "../common/Fields.ts"
import { created, list, part, partQuery, single } from "../common/Pagination.ts"
import { PaymentRequest } from "./PaymentResource.ts"
import { paymentStatuses, paymentTypes } from "../../domain/state/Change.ts"
import { objections } from "../../domain/staff/FourEyes.ts"
import { kycStatuses } from "../../domain/state/Player.ts"
import { currencyCode, id, money, timestamp } from "../common/Resource.ts"

/** Wait reasons of a withdrawal. */
export const waitReasons = ["approval", "second_approval", "payout", "alert", "case", "judgement"] as const

/** What the payment list is filtered by: a status, or both that a withdrawal waits in. */
export const listedPaymentStatuses = [...paymentStatuses, "waiting"] as const

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
      "What a withdrawal waits for: the steps that are left for people, an alert or a case that holds the player's withdrawals " +
      "(to who does not work on cases: an alert), the judgement whether one will. Empty for what is done. Verification is asked for when a withdrawal is requested, not later."
  }),
  held_by_alerts: Schema.Array(id).annotate({ description: "Empty for who does not work on alerts." }),
  objection: Schema.NullOr(Schema.Literals([...objections, "second_approver"])).annotate({
    description: "Where two people are needed: why the next step is not for who asks. Null: it is, or nothing waits."
  }),
  player_name: Schema.String,
  kyc_status: Schema.Literals(kycStatuses).annotate({ description: "Of the player, now." }),
  balance: money.annotate({ description: "Real money of the player, now, without what is reserved." }),
  player_since: timestamp.annotate({ description: "When the player registered." }),
  is_first_withdrawal: Schema.Boolean.annotate({ description: "No withdrawal of the player was paid out before it." }),
  open_alerts: Schema.Int.annotate({ description: "Alerts of the player that are not closed, 100 at most." })
})

const transition = <const Name extends string>(
  name: Name,
  summary: string,
  permission: { readonly is?: "money" } = {}
) =>
  HttpApiEndpoint.post(name, `/payments/:payment/${name}`, {
    params: { payment: pathId },
    payload: Schema.Struct({
      reason: Schema.optionalKey(
        lines(500, { description: "Why, for the audit log and, for a rejection, the operator." })
      )
    }),
    success: single(StaffPayment),
    error: refusals("PAYMENT_REQUEST_INVALID", "PLAYER_RESTRICTED")
  }).annotateMerge(action(summary, { roles: ["payments"], concern: "operator", ...permission }))

const transitionMany = <const Name extends string>(
  name: Name,
  summary: string,
  permission: { readonly is?: "money" } = {}
) =>
  HttpApiEndpoint.post(`${name}_many`, `/payments/${name}`, {
    payload: Schema.Struct({
      payments: idsOf("payments"),
      reason: Schema.optionalKey(
        lines(500, { description: "Why, for the audit log and, for a rejection, the operators." })
      )
    }),
    success: bulkOutcome
  }).middleware(StaffIdempotentPost).annotateMerge(
    action(summary, { roles: ["payments"], concern: "operator", ...permission })
  )

export const PaymentGroup = HttpApiGroup.make("payment").annotate(OpenApi.Description, "Deposits and withdrawals").add(
  HttpApiEndpoint.get("show", "/payments/:payment", { params: { payment: pathId }, success: single(StaffPayment) })
    .annotateMerge(action("One payment", { roles: anyRole, concern: "operator" })),
  HttpApiEndpoint.get("list", "/payments", {
    query: {
      ...partQuery,
      sort: Schema.optionalKey(oneOf(paymentOrders).annotate({ description: "Order (newest)." })),
      id: Schema.optionalKey(pathId.annotate({ description: "Id of a payment." })),
      method: Schema.optionalKey(text(50, { description: "Filter by payment method." })),
      currency: Schema.optionalKey(
        currency.annotate({
          description:
            "Filter by currency; required with a minimum amount and with the order by amount, unless a player is named."
        })
      ),
      min_amount: Schema.optionalKey(amountFrom(0, "Minimum amount, minor units.")),
      ...ofOperator,
      ...ofPlayer,
      type: Schema.optionalKey(oneOf(paymentTypes).annotate({ description: "Filter by type." })),
      status: Schema.optionalKey(
        oneOf(listedPaymentStatuses).annotate({
          description: "Filter by status; waiting: withdrawals that are new or allowed."
        })
      ),
      external_reference: Schema.optionalKey(
        text(128, { description: "Filter by the operator's reference, exact match." })
      ),
      ...createdPeriod
    },
    success: part(StaffPayment)
  }).annotateMerge(action("Payments, newest first", { roles: anyRole, concern: "operator" })),
  transition("approve", "Allow a withdrawal; above the operator's threshold two people must", { is: "money" }),
  transition("pay", "Tell that an allowed withdrawal was paid out", { is: "money" }),
  transition("reject", "Refuse a withdrawal and return the money"),
  transition("cancel", "Drop a new withdrawal and return the money"),
  transition("chargeback", "Take back a deposit that was reversed"),
  transitionMany("approve", "Allow withdrawals, each judged as if it came alone", { is: "money" }),
  transitionMany("pay", "Tell that allowed withdrawals were paid out", { is: "money" }),
  transitionMany("reject", "Refuse withdrawals and return the money")
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
  name: text(100, { description: "What players read (the code)." }),
  currencies: Schema.Array(currency).annotate({ description: "ISO 4217 codes (the operator's own)." }),
  supports_deposit: Schema.Boolean.annotate({
    description: "Whether it takes deposits (true).",
    flag: { name: "deposit" }
  }),
  supports_withdrawal: Schema.Boolean.annotate({
    description: "Whether it pays out (true).",
    flag: { name: "withdrawal" }
  }),
  min_deposit: amountFrom(1, "Smallest deposit, minor units (1)."),
  max_deposit: amountFrom(1, "Largest deposit, minor units."),
  min_withdrawal: amountFrom(1, "Smallest withdrawal, minor units (1)."),
  max_withdrawal: amountFrom(1, "Largest withdrawal, minor units."),
  active: Schema.Boolean.annotate({ description: "Whether it is offered (true)." })
}).mapFields(Struct.map(Schema.optionalKey))

const MethodInput = Schema.Struct({
  operator: operatorReference,
  code: Schema.String.annotate({ examples: ["card"] }).check(
    Schema.isPattern(/^[A-Za-z0-9_.-]{1,50}$/u, {
      message: "must be 1 to 50 characters: letters, digits, dots, dashes and underscores"
    })
  ).annotate({ description: "Code that requests name it by." }),
  ...MethodUpdate.fields
})

export type MethodInput = typeof MethodInput.Type
export type MethodUpdate = typeof MethodUpdate.Type

export const PaymentMethodGroup = HttpApiGroup.make("payment_method").annotate(OpenApi.Description, "Ways to pay").add(
  HttpApiEndpoint.post("create", "/payment-methods", { payload: MethodInput, success: created(StaffPaymentMethod) })
    .annotateMerge(action("Add a way to pay", { roles: ["payments"], concern: "operator" })),
  HttpApiEndpoint.patch("update", "/payment-methods/:method", {
    params: { method: pathId.annotate({ description: "Id of the payment method." }) },
    payload: MethodUpdate,
    success: single(StaffPaymentMethod)
  }).annotateMerge(action("Change a way to pay", { roles: ["payments"], concern: "operator" })),
  HttpApiEndpoint.get("list", "/payment-methods", {
    query: ofOperator,
    success: list(StaffPaymentMethod)
  }).annotateMerge(action("Ways to pay", { roles: anyRole, concern: "operator" }))
)
