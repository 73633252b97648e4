/** Staff API handlers for payment methods. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { BackofficeApi } from "../../contract/StaffApi.ts"
import { asStaff } from "../../http/StaffEnvelope.ts"
import { PaymentMethodCatalogue } from "../../features/payments/PaymentMethodCatalogue.ts"

export const PaymentMethodHandlers = HttpApiBuilder.group(
  BackofficeApi,
  "payment_method",
  Effect.fnUntraced(function*(handlers) {
    const methods = yield* PaymentMethodCatalogue
    return handlers
      .handle("create", ({ payload }) => asStaff((actor) => methods.create(actor, payload)))
      .handle("update", ({ params, payload }) => asStaff((actor) => methods.update(actor, params.method, payload)))
      .handle("list", ({ query }) => asStaff((actor) => methods.list(actor, query.operator)))
  })
)
