/** Staff API handlers for payments. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { BackofficeApi } from "../../contract/StaffApi.ts"
import { CurrentClaim } from "../../contract/common/Middleware.ts"
import { CurrentStaff } from "../../contract/common/StaffMiddleware.ts"
import { Operators } from "../../features/operators/Operators.ts"
import type { Payment } from "../../domain/state/Change.ts"
import type { PaymentTransitionName } from "../../domain/payment/PaymentTransitions.ts"
import { paymentFields } from "../../domain/payment/Payments.ts"
import { Approvals } from "../../features/payments/Approvals.ts"
import { BulkTransitions } from "../../features/payments/BulkTransitions.ts"
import { PaymentQueue, type Queued } from "../../features/payments/PaymentQueue.ts"
import { Payments } from "../../features/payments/Payments.ts"
import { refuse } from "../../domain/Refusal.ts"
import { iso, parseIso } from "../../platform/Time.ts"
import { walked } from "../../http/Page.ts"
import type { Role } from "../../domain/staff/Staff.ts"
import { rolesFor } from "../../office/Authorisation.ts"
import { StaffBulk } from "../../office/StaffBulk.ts"
import { enveloped } from "../../http/StaffEnvelope.ts"

const seesAlerts = rolesFor("alert.list")
const seesCases = rolesFor("case.list")

/**
 * A payment as a role sees it. That it is a case which holds withdrawals may mean that the player was reported to an authority: whoever does not work on
 * cases is told of a hold as of any other, without the alerts by whose absence one could tell them apart.
 */
const staffFields = (role: Role) => ({ payment, player, waiting }: Queued) => ({
  operator_id: payment.operatorId,
  ...paymentFields(payment),
  bank_name: payment.bankName,
  notes: payment.notes,
  first_approved_by: payment.firstApprovedBy,
  second_approved_by: payment.secondApprovedBy,
  waiting_for: seesCases.includes(role)
    ? waiting.reasons
    : [...new Set(waiting.reasons.map((reason) => reason === "case" ? "alert" : reason))],
  held_by_alerts: seesAlerts.includes(role) ? waiting.alerts : [],
  objection: waiting.objection,
  player_name: player.name,
  kyc_status: player.kycStatus,
  balance: player.balance,
  player_since: iso(player.registeredAt),
  is_first_withdrawal: player.isFirstWithdrawal,
  open_alerts: player.openAlerts
})

const notFound = refuse("NOT_FOUND", "There is no such payment.")

interface TransitionCall {
  readonly params: { readonly payment: number }
  readonly payload: { readonly reason?: string }
}

interface TransitionsCall {
  readonly payload: { readonly payments: ReadonlyArray<number>; readonly reason?: string }
}

export const PaymentHandlers = HttpApiBuilder.group(
  BackofficeApi,
  "payment",
  Effect.fnUntraced(function*(handlers) {
    const payments = yield* Payments
    const approvals = yield* Approvals
    const operators = yield* Operators
    const queue = yield* PaymentQueue
    const transitions = yield* BulkTransitions
    const bulk = yield* StaffBulk

    /** Payments with their wait reasons, from the actor's point of view. */
    const shown = Effect.fnUntraced(function*(items: ReadonlyArray<Payment>) {
      const { label, role } = yield* CurrentStaff
      return (yield* queue.queued(items, label)).map(staffFields(role))
    })

    const shownOne = Effect.fnUntraced(function*(payment: Payment) {
      const { label, role } = yield* CurrentStaff
      const [queued] = yield* queue.queued([payment], label)
      return queued === undefined ? yield* Effect.fail(notFound) : staffFields(role)(queued)
    })

    const handle = (transition: PaymentTransitionName) => ({ params, payload }: TransitionCall) =>
      Effect.gen(function*() {
        const { label: actor } = yield* CurrentStaff
        const reason = payload.reason ?? null
        return {
          data: yield* shownOne(yield* approvals.apply({ paymentId: params.payment, transition, actor, reason }))
        }
      })

    const handleMany =
      (transition: PaymentTransitionName) => ({ payload: { payments: ids, reason } }: TransitionsCall) =>
        Effect.flatMap(CurrentClaim, (claim) =>
          bulk.run(
            "payment",
            ids,
            (paymentId, { label: actor }) =>
              transitions.apply({ paymentId, transition, actor, reason: reason ?? null }, claim?.key)
          ))

    return handlers
      .handle(
        "show",
        ({ params }) => enveloped(Effect.flatMap(payments.staffGet(params.payment), shownOne))
      )
      .handle("list", ({ query }) =>
        Effect.gen(function*() {
          const scope = yield* operators.scope(yield* CurrentStaff, query.operator)
          const { currency, cursor, id, method, min_amount: minAmount, per_page: limit, sort, status, type } = query
          const filters = {
            id,
            playerId: query.player,
            type,
            status,
            method,
            currency,
            minAmount,
            sort,
            externalReference: query.external_reference,
            createdFrom: query.created_from === undefined ? undefined : parseIso(query.created_from),
            createdTo: query.created_to === undefined ? undefined : parseIso(query.created_to)
          }
          const { items, next } = yield* queue.walk(scope, { ...filters, limit, cursor })
          return yield* walked(limit, { items: yield* shown(items), next })
        }))
      .handle("approve", handle("approve"))
      .handle("pay", handle("pay"))
      .handle("reject", handle("reject"))
      .handle("cancel", handle("cancel"))
      .handle("chargeback", handle("chargeback"))
      .handle("approve_many", handleMany("approve"))
      .handle("pay_many", handleMany("pay"))
      .handle("reject_many", handleMany("reject"))
  })
)
