/** Operator API handlers for payment methods, deposits and withdrawals. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Api, OperatorApi } from "../../contract/Api.ts"
import { idInPath } from "../../contract/common/Fields.ts"
import { CurrentClaim, CurrentOperator } from "../../contract/common/Middleware.ts"
import { paymentFields, type PaymentOutcome } from "../../domain/payment/Payments.ts"
import { paymentMethodFields, PaymentMethods } from "../../features/payments/Methods.ts"
import { Payments, type WithdrawalRequest } from "../../features/payments/Payments.ts"
import * as Wire from "../../contract/payments/Api.ts"
import { parseIso } from "../../platform/Time.ts"
import { type DepositRequest, Wallet } from "../../features/wallet/Wallet.ts"
import { Endpoints } from "../../http/Endpoints.ts"
import { jsonResponse } from "../../http/Refusals.ts"
import { pagedOrWalked } from "../../http/Page.ts"

const render = ({ isRepeat, payment }: PaymentOutcome) => ({
  status: isRepeat ? 200 : 201,
  body: JSON.stringify({ data: paymentFields(payment) })
})

const toDeposit = (body: typeof Wire.Deposit.Type): DepositRequest => ({
  amount: body.amount,
  externalReference: body.external_reference,
  paymentMethod: body.payment_method ?? null,
  info: body.info ?? null,
  notes: body.notes ?? null
})

const toWithdrawal = (body: typeof Wire.Withdrawal.Type): WithdrawalRequest => ({
  amount: body.amount,
  externalReference: body.external_reference ?? null,
  paymentMethod: body.payment_method,
  info: body.info ?? null,
  notes: body.notes ?? null,
  bankName: body.bank_name ?? null
})

export const PaymentsHandlers = HttpApiBuilder.group(
  Api,
  "payments",
  Effect.fnUntraced(function*(handlers) {
    const methods = yield* PaymentMethods
    const payments = yield* Payments
    const wallet = yield* Wallet
    const endpoints = yield* Endpoints
    const { deposit, withdraw } = OperatorApi.groups.payments.endpoints
    endpoints.addCommand(deposit, Wire.Deposit, ({ operator }, params, body, accepted, done) => {
      const playerId = idInPath(params["player"])
      return playerId !== undefined &&
        wallet.startDeposit(operator, playerId, toDeposit(body), accepted, done)
    }, render)
    endpoints.addCommand(withdraw, Wire.Withdrawal, ({ operator }, params, body, accepted, done) => {
      const playerId = idInPath(params["player"])
      return playerId !== undefined &&
        payments.startWithdrawal(operator, playerId, toWithdrawal(body), accepted, done)
    }, render)
    return handlers
      .handle("methods", () =>
        Effect.gen(function*() {
          const { operator } = yield* CurrentOperator
          return { data: (yield* methods.list(operator)).map((method) => paymentMethodFields(method)) }
        }))
      .handle("deposit", ({ params, payload }) =>
        Effect.gen(function*() {
          const { operator } = yield* CurrentOperator
          const outcome = yield* wallet.deposit(
            operator,
            params.player,
            toDeposit(payload),
            { claim: yield* CurrentClaim, render }
          )
          const { body, status } = render(outcome)
          return jsonResponse(status, body)
        }), { uninterruptible: true })
      .handle("withdraw", ({ params, payload }) =>
        Effect.gen(function*() {
          const { operator } = yield* CurrentOperator
          const outcome = yield* payments.withdraw(
            operator,
            params.player,
            toWithdrawal(payload),
            { claim: yield* CurrentClaim, render }
          )
          const { body, status } = render(outcome)
          return jsonResponse(status, body)
        }), { uninterruptible: true })
      .handle("list", ({ query }) =>
        Effect.gen(function*() {
          const { operator } = yield* CurrentOperator
          const filters = {
            playerId: query.player_id,
            type: query.type,
            status: query.status,
            externalReference: query.external_reference,
            createdFrom: query.created_from === undefined ? undefined : parseIso(query.created_from),
            createdTo: query.created_to === undefined ? undefined : parseIso(query.created_to)
          }
          return yield* pagedOrWalked(query, {
            page: (page) => payments.list(operator.id, { ...filters, ...page }),
            part: (part) => payments.walk(operator.id, { ...filters, ...part }),
            cursorAt: payments.cursorAt,
            toItem: paymentFields
          })
        }))
      .handle("get", ({ params }) =>
        Effect.gen(function*() {
          const { operator } = yield* CurrentOperator
          return { data: paymentFields(yield* payments.get(operator.id, params.payment)) }
        }))
  })
)
