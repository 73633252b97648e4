/** Payments for staff: lists by cursor in several orders, and the wait reasons of pending withdrawals. */
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { numbers } from "../../platform/ArrayParameters.ts"
import { needsCurrency } from "../../domain/CurrencyConversion.ts"
import type { Payment } from "../../domain/state/Change.ts"
import type { Objection } from "../../domain/staff/FourEyes.ts"
import type { Refusal } from "../../domain/Refusal.ts"
import type { Part, PartQuery } from "../../store/Cursors.ts"
import { orTryAgain, rowsOf } from "../../store/Rows.ts"
import type { Scope } from "../../store/OperatorScope.ts"
import { Approvals } from "./Approvals.ts"
import { makePaymentList, type PaymentFilters } from "./PaymentList.ts"
import type { paymentOrders, waitReasons } from "../../contract/payments/StaffApi.ts"

interface PaymentWalkQuery extends PaymentFilters, PartQuery {
  /** Default: newest. */
  readonly sort?: (typeof paymentOrders)[number] | undefined
}

/** Wait reasons of a payment; `reasons` is empty when it does not wait. */
export interface Waiting {
  readonly reasons: ReadonlyArray<(typeof waitReasons)[number]>
  /** Ids of alerts that hold the player's withdrawals. */
  readonly alerts: ReadonlyArray<number>
  /** Objection to the actor taking the next step; `second_approver`: the actor gave the first approval. */
  readonly objection: Objection | "second_approver" | null
}

const nothing: Waiting = { reasons: [], alerts: [], objection: null }

const heldRows = rowsOf(Schema.Struct({
  id: Schema.Number,
  alerts: Schema.Array(Schema.Number),
  isJudged: Schema.Boolean,
  hasRule: Schema.Boolean
}))

type Unavailable = Refusal<"TRY_AGAIN">

/** Concurrency of the evaluation of a page's payments. */
const judgedAtOnce = 4

export class PaymentQueue extends Context.Service<PaymentQueue, {
  /** Page of a scope's payments by cursor, in an order; without a count. Amounts are compared within one currency only. */
  readonly walk: (
    scope: Scope,
    query: PaymentWalkQuery
  ) => Effect.Effect<Part<Payment>, Refusal<"VALIDATION_FAILED"> | Unavailable>
  /** Wait reasons of payments, and any objection to the actor (audit log label) taking the next step; in the order of the payments. */
  readonly waiting: (
    payments: ReadonlyArray<Payment>,
    actor: string
  ) => Effect.Effect<ReadonlyArray<Waiting>, Unavailable>
}>()("pitboss/payments/PaymentQueue") {
  static readonly layer = Layer.effect(
    PaymentQueue,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const approvals = yield* Approvals
      const payments = yield* makePaymentList

      const walk: PaymentQueue["Service"]["walk"] = Effect.fn("PaymentQueue.walk")(function*(scope, query) {
        const { currency, minAmount, playerId, sort = "newest" } = query
        const comparesAmounts = sort === "amount" || minAmount !== undefined
        if (comparesAmounts && currency === undefined && playerId === undefined) {
          return yield* Effect.fail(needsCurrency)
        }
        return yield* payments.part(scope, query, sort)
      }, orTryAgain)

      const waiting: PaymentQueue["Service"]["waiting"] = Effect.fn("PaymentQueue.waiting")(
        function*(payments, actor) {
          const open = payments.filter(({ status, type }) =>
            type === "withdrawal" && (status === "new" || status === "allowed")
          )
          if (open.length === 0) return payments.map(() => nothing)
          const ids = numbers(open.map(({ id }) => id))
          const rows = yield* heldRows(
            sql`SELECT p.id, o.withdrawal_second_approval_above IS NOT NULL AS "hasRule",
                ARRAY(SELECT (h ->> 'alertId')::float8 FROM jsonb_array_elements(pl.withdrawal_holds) h
                  WHERE NOT (h ->> 'isLifted')::boolean) AS alerts,
                NOT (EXISTS (SELECT FROM compliance_settings s WHERE s.operator_id = p.operator_id
                    AND s.settings @> '{"stopWithdrawals": true}' AND NOT s.settings @> '{"enabled": false}')
                  AND (EXISTS (SELECT FROM compliance_effects e WHERE e.kind = 'withdrawal' AND e.subject_id = p.id)
                    OR EXISTS (SELECT FROM compliance_alerts a
                      WHERE a.player_id = p.player_id AND a.hold = 'wanted' AND a.status <> 'closed'))) AS "isJudged"
              FROM payment_requests p JOIN players pl ON pl.id = p.player_id JOIN operators o ON o.id = p.operator_id
              WHERE p.id = ANY(${ids}::float8[]::bigint[])`
          )
          const held = new Map(rows.map((row) => [row.id, row]))
          return yield* Effect.forEach(payments, (payment) =>
            Effect.gen(function*() {
              const found = held.get(payment.id)
              if (found === undefined) return nothing
              const { firstApprovedBy, status } = payment
              const judged = found.hasRule
                ? yield* approvals.judge(payment.id, status === "new" ? "approve" : "pay", actor)
                : { needsTwo: false, objection: undefined }
              const steps: Waiting["reasons"] = status === "allowed"
                ? ["payout"]
                : firstApprovedBy !== null
                ? ["second_approval"]
                : judged.needsTwo
                ? ["approval", "second_approval"]
                : ["approval"]
              const isOwn = status === "new" && firstApprovedBy === actor
              return {
                reasons: [
                  ...steps,
                  ...found.alerts.length > 0 ? ["alert" as const] : [],
                  ...found.isJudged ? [] : ["judgement" as const]
                ],
                alerts: found.alerts,
                objection: !judged.needsTwo ? null : isOwn ? "second_approver" : judged.objection ?? null
              } satisfies Waiting
            }), { concurrency: judgedAtOnce })
        },
        orTryAgain
      )

      return PaymentQueue.of({ walk, waiting })
    })
  )
}
