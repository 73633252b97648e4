/** What staff do with deposits and withdrawals, on the back-office port. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { refusals } from "../../contract/Errors.ts"
import { instant, lines, oneOf, pathId, text } from "../../contract/Fields.ts"
import { page, pageQuery, single } from "../../contract/Pagination.ts"
import { PaymentRequest, paymentStatuses, paymentTypes } from "./PaymentResource.ts"
import { id } from "../../contract/Resource.ts"

/** A payment with what only staff see. */
const StaffPayment = Schema.Struct({
  operator_id: id,
  ...PaymentRequest.fields,
  bank_name: Schema.NullOr(Schema.String),
  notes: Schema.NullOr(Schema.String),
  first_approved_by: Schema.NullOr(Schema.String),
  second_approved_by: Schema.NullOr(Schema.String).annotate({ description: "Null where one approval is enough." })
})

const move = <const Name extends string>(name: Name) =>
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
      operator: Schema.optionalKey(text(128)),
      player: Schema.optionalKey(pathId),
      type: Schema.optionalKey(oneOf(paymentTypes)),
      status: Schema.optionalKey(oneOf(paymentStatuses)),
      external_reference: Schema.optionalKey(text(128)),
      created_from: Schema.optionalKey(instant),
      created_to: Schema.optionalKey(instant)
    },
    success: page(StaffPayment)
  }),
  move("approve"),
  move("pay"),
  move("reject"),
  move("cancel"),
  move("chargeback")
)
