/** Payment methods and deposits, for operators. */
import { Effect } from "effect"
import { HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { Api } from "../../api/Api.ts"
import { CurrentClaim, CurrentOperator } from "../../api/Middleware.ts"
import { paymentFields, type PaymentOutcome } from "../../domain/Payments.ts"
import { paymentMethodFields, PaymentMethods } from "../../payments/Methods.ts"
import { Wallet } from "../../wallet/Wallet.ts"

const render = ({ isRepeat, payment }: PaymentOutcome) => ({
  status: isRepeat ? 200 : 201,
  body: JSON.stringify({ data: paymentFields(payment) })
})

export const PaymentsHandlers = HttpApiBuilder.group(
  Api,
  "payments",
  Effect.fnUntraced(function*(handlers) {
    const methods = yield* PaymentMethods
    const wallet = yield* Wallet
    return handlers
      .handle("methods", () =>
        Effect.gen(function*() {
          const { operator } = yield* CurrentOperator
          return { data: (yield* methods.list(operator)).map(paymentMethodFields) }
        }))
      .handle("deposit", ({ params, payload }) =>
        Effect.gen(function*() {
          const { operator } = yield* CurrentOperator
          const outcome = yield* wallet.deposit(operator, params.player, {
            amount: payload.amount,
            externalReference: payload.external_reference,
            paymentMethod: payload.payment_method ?? null,
            info: payload.info ?? null,
            notes: payload.notes ?? null
          }, { claim: yield* CurrentClaim, render })
          const { body, status } = render(outcome)
          return HttpServerResponse.text(body, { status, contentType: "application/json" })
        }), { uninterruptible: true })
  })
)
