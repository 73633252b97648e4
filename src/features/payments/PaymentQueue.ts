/** Payment lists of the staff API, by cursor in several orders, with the reasons why a pending withdrawal waits. */
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { numbers } from "../../platform/ArrayParameters.ts"
import { needsCurrency } from "../../domain/CurrencyConversion.ts"
import type { Payment } from "../../domain/state/Change.ts"
import type { Objection } from "../../domain/staff/FourEyes.ts"
import type { Refusal } from "../../domain/Refusal.ts"
import type { Part, PartQuery } from "../../store/Cursors.ts"
import { type KycStatus, kycStatuses } from "../../domain/state/Player.ts"
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
interface Waiting {
  readonly reasons: ReadonlyArray<(typeof waitReasons)[number]>
  /** Ids of alerts that hold the player's withdrawals. */
  readonly alerts: ReadonlyArray<number>
  /** Objection to the actor taking the next step; `second_approver`: the actor gave the first approval. */
  readonly objection: Objection | "second_approver" | null
}

const nothing: Waiting = { reasons: [], alerts: [], objection: null }

/** What the next step on a payment takes to know of its player. Money is in minor units of the payment's currency. */
interface PlayerBeside {
  readonly name: string
  readonly kycStatus: KycStatus
  readonly balance: number
  readonly registeredAt: number
  readonly openAlerts: number
  readonly isFirstWithdrawal: boolean
}

/** A payment as the queue shows it. */
export interface Queued {
  readonly payment: Payment
  readonly waiting: Waiting
  readonly player: PlayerBeside
}

/** Open alerts of one player that are counted. */
const maxOpenAlerts = 100

const QueueRow = Schema.Struct({
  id: Schema.Number,
  alerts: Schema.Array(Schema.Number),
  isHeldByCase: Schema.Boolean,
  isJudged: Schema.Boolean,
  hasRule: Schema.Boolean,
  name: Schema.String,
  kycStatus: Schema.Literals(kycStatuses),
  balance: Schema.Number,
  registeredAt: Schema.Date,
  openAlerts: Schema.Number,
  isFirstWithdrawal: Schema.Boolean
})
const queueRows = rowsOf(QueueRow)

const isOpen = ({ status, type }: Payment): boolean =>
  type === "withdrawal" && (status === "new" || status === "allowed")

type Unavailable = Refusal<"TRY_AGAIN">

/** Concurrency of the evaluation of a page's payments. */
const judgedAtOnce = 4

export class PaymentQueue extends Context.Service<PaymentQueue, {
  /** Page of a scope's payments by cursor, in an order; without a count. Amounts are compared within one currency only. */
  readonly walk: (
    scope: Scope,
    query: PaymentWalkQuery
  ) => Effect.Effect<Part<Payment>, Refusal<"VALIDATION_FAILED"> | Unavailable>
  /** Payments with their wait reasons, any objection to the actor (audit log label) taking the next step, and their players; in their order. */
  readonly queued: (
    payments: ReadonlyArray<Payment>,
    actor: string
  ) => Effect.Effect<ReadonlyArray<Queued>, Unavailable>
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

      const waitingOf = Effect.fnUntraced(
        function*(payment: Payment, found: typeof QueueRow.Type, actor: string) {
          if (!isOpen(payment)) return nothing
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
              ...found.isHeldByCase ? ["case" as const] : [],
              ...found.isJudged ? [] : ["judgement" as const]
            ],
            alerts: found.alerts,
            objection: !judged.needsTwo ? null : isOwn ? "second_approver" : judged.objection ?? null
          } satisfies Waiting
        }
      )

      const queued: PaymentQueue["Service"]["queued"] = Effect.fn("PaymentQueue.queued")(
        function*(payments, actor) {
          if (payments.length === 0) return []
          const ids = numbers(payments.map(({ id }) => id))
          const rows = yield* queueRows(
            sql`SELECT p.id, o.withdrawal_second_approval_above IS NOT NULL AS "hasRule",
                ARRAY(SELECT (h ->> 'alertId')::float8 FROM jsonb_array_elements(pl.withdrawal_holds) h
                  WHERE NOT (h ->> 'isLifted')::boolean AND NOT h ? 'isCase') AS alerts,
                pl.withdrawal_holds @> '[{"isCase": true}]' AS "isHeldByCase",
                p.type <> 'withdrawal' OR p.status NOT IN ('new', 'allowed') OR
                NOT (EXISTS (SELECT FROM compliance_settings s WHERE s.operator_id = p.operator_id
                    AND s.settings @> '{"stopWithdrawals": true}' AND NOT s.settings @> '{"enabled": false}')
                  AND (EXISTS (SELECT FROM compliance_effects e WHERE e.kind = 'withdrawal' AND e.subject_id = p.id)
                    OR EXISTS (SELECT FROM compliance_alerts a
                      WHERE a.player_id = p.player_id AND a.hold = 'wanted' AND a.status <> 'closed'))) AS "isJudged",
                pl.first_name || ' ' || pl.last_name AS name, pl.kyc_status AS "kycStatus",
                b.real_balance AS balance, pl.created_at AS "registeredAt",
                (SELECT count(*) FROM (SELECT FROM compliance_alerts a WHERE a.player_id = p.player_id
                  AND a.status <> 'closed' LIMIT ${maxOpenAlerts}) open)::float8 AS "openAlerts",
                p.type = 'withdrawal' AND NOT EXISTS (SELECT FROM payment_requests w WHERE w.player_id = p.player_id
                  AND w.type = 'withdrawal' AND w.status = 'paid' AND w.created_at < p.created_at) AS "isFirstWithdrawal"
              FROM payment_requests p JOIN players pl ON pl.id = p.player_id JOIN operators o ON o.id = p.operator_id
                JOIN accounts b ON b.player_id = p.player_id
              WHERE p.id = ANY(${ids}::float8[]::bigint[])`
          )
          const found = new Map(rows.map((row) => [row.id, row]))
          const shown = yield* Effect.forEach(payments, (payment) =>
            Effect.gen(function*() {
              const row = found.get(payment.id)
              // a payment is never deleted, nor is its player
              if (row === undefined) return []
              const { balance, isFirstWithdrawal, kycStatus, name, openAlerts, registeredAt } = row
              const player = {
                name,
                kycStatus,
                balance,
                registeredAt: registeredAt.getTime(),
                openAlerts,
                isFirstWithdrawal
              }
              return [{ payment, waiting: yield* waitingOf(payment, row, actor), player }]
            }), { concurrency: judgedAtOnce })
          return shown.flat()
        },
        orTryAgain
      )

      return PaymentQueue.of({ walk, queued })
    })
  )
}
