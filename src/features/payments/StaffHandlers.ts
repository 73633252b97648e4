/** Handlers of payments for staff. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { BackofficeApi, CurrentStaff } from "../../contract/StaffApi.ts"
import { Operators } from "../operators/Operators.ts"
import type { Payment } from "../../domain/Change.ts"
import type { PaymentMove } from "../../domain/payment/PaymentMoves.ts"
import { paymentFields } from "../../domain/payment/Payments.ts"
import { Approvals } from "./Approvals.ts"
import { Payments } from "./Payments.ts"
import { parseIso } from "../../platform/Time.ts"
import { paginated } from "../../http/Page.ts"

const staffFields = (payment: Payment) => ({
  operator_id: payment.operatorId,
  ...paymentFields(payment),
  bank_name: payment.bankName,
  notes: payment.notes,
  first_approved_by: payment.firstApprovedBy,
  second_approved_by: payment.secondApprovedBy
})

interface MoveCall {
  readonly params: { readonly payment: number }
  readonly payload: { readonly reason?: string }
}

export const PaymentHandlers = HttpApiBuilder.group(
  BackofficeApi,
  "payment",
  Effect.fnUntraced(function*(handlers) {
    const payments = yield* Payments
    const approvals = yield* Approvals
    const operators = yield* Operators

    const handle = (move: PaymentMove) => ({ params, payload }: MoveCall) =>
      Effect.gen(function*() {
        const { label: actor } = yield* CurrentStaff
        const reason = payload.reason ?? null
        return { data: staffFields(yield* approvals.move({ paymentId: params.payment, move, actor, reason })) }
      })

    return handlers
      .handle(
        "show",
        ({ params }) => Effect.map(payments.staffGet(params.payment), (payment) => ({ data: staffFields(payment) }))
      )
      .handle("list", ({ query }) =>
        Effect.gen(function*() {
          const scope = yield* operators.scope(yield* CurrentStaff, query.operator)
          const { items, total } = yield* payments.staffList(scope, {
            page: query.page,
            perPage: query.per_page,
            playerId: query.player,
            type: query.type,
            status: query.status,
            externalReference: query.external_reference,
            createdFrom: query.created_from === undefined ? undefined : parseIso(query.created_from),
            createdTo: query.created_to === undefined ? undefined : parseIso(query.created_to)
          })
          return yield* paginated(query, total, items.map(staffFields))
        }))
      .handle("approve", handle("approve"))
      .handle("pay", handle("pay"))
      .handle("reject", handle("reject"))
      .handle("cancel", handle("cancel"))
      .handle("chargeback", handle("chargeback"))
  })
)
