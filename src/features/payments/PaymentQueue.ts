/** Payments for staff: lists by cursor in several orders, and the wait reasons of pending withdrawals. */
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import { numbers } from "../../platform/ArrayParameters.ts"
import { needsCurrency } from "../../domain/CurrencyConversion.ts"
import type { Payment } from "../../domain/state/Change.ts"
import type { Objection } from "../../domain/staff/FourEyes.ts"
import type { Refusal } from "../../domain/Refusal.ts"
import { PersonalData } from "../../platform/PersonalData.ts"
import { toDate } from "../../platform/Time.ts"
import { behind, cursorsOfShape, moment, type Part, type PartQuery } from "../../store/Cursors.ts"
import { paymentColumns, PaymentRow, toPayments } from "../../store/PaymentRow.ts"
import { orTryAgain, rowsOf } from "../../store/Rows.ts"
import { type Scope, within } from "../../office/OperatorScope.ts"
import { Approvals } from "./Approvals.ts"
import type { PaymentFilters } from "./Payments.ts"
import type { paymentOrders, waitReasons } from "../../contract/payments/StaffApi.ts"

type Order = (typeof paymentOrders)[number]

/** Filters; an absent one matches all. */
export interface PaymentWalkQuery extends PaymentFilters, PartQuery {
  readonly id?: number | undefined
  readonly method?: string | undefined
  /** ISO 4217; required to compare amounts of several players. */
  readonly currency?: string | undefined
  /** Minor units, inclusive. */
  readonly minAmount?: number | undefined
  /** Default: newest. */
  readonly sort?: Order | undefined
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

/** Cursor: epoch milliseconds or minor units, depending on the order, and id of the last payment. */
const Position = Schema.Tuple([moment, Schema.Int])
const cursors = cursorsOfShape(Position)

const paymentRows = rowsOf(PaymentRow)
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
  /** Cursor after a payment in the order newest first. */
  readonly cursorBehind: (payment: Payment) => string
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
      const personal = yield* PersonalData
      const approvals = yield* Approvals
      const columns = sql.literal(paymentColumns)

      // qualified: a bare `id` would be the output column, a float without an index
      const orders: { readonly [order in Order]: string } = {
        newest: "payment_requests.created_at DESC, payment_requests.id DESC",
        oldest: "payment_requests.created_at, payment_requests.id",
        amount: "payment_requests.amount DESC, payment_requests.id DESC"
      }

      const below = (sort: Order, [value, id]: typeof Position.Type): ReadonlyArray<Statement.Fragment> => {
        switch (sort) {
          case "newest":
            return behind(sql, { at: value, id })
          case "oldest":
            return [sql`(created_at, id) > (${toDate(value)}::timestamptz, ${id}::float8::bigint)`]
          case "amount":
            return [sql`(amount, id) < (${value}::float8::bigint, ${id}::float8::bigint)`]
        }
      }

      const positionOf = (sort: Order) => ({ amount, createdAt, id }: Payment): typeof Position.Type => [
        sort === "amount" ? amount : createdAt,
        id
      ]

      const walk: PaymentQueue["Service"]["walk"] = Effect.fn("PaymentQueue.walk")(function*(scope, query) {
        const { currency, cursor, limit, sort = "newest" } = query
        const comparesAmounts = sort === "amount" || query.minAmount !== undefined
        if (comparesAmounts && currency === undefined && query.playerId === undefined) {
          return yield* Effect.fail(needsCurrency)
        }
        const position = yield* cursors.read(cursor)
        const where = sql.and([
          sql`true`,
          ...within(sql, scope),
          ...(query.id === undefined ? [] : [sql`id = ${query.id}::float8::bigint`]),
          ...(query.playerId === undefined ? [] : [sql`player_id = ${query.playerId}::float8::bigint`]),
          ...(query.type === undefined ? [] : [sql`type = ${query.type}`]),
          ...(query.status === undefined ? [] : [sql`status = ${query.status}`]),
          // literals, to match the partial index of pending payments
          ...(query.status === "new" || query.status === "allowed" ? [sql`status IN ('new', 'allowed')`] : []),
          ...(query.method === undefined ? [] : [sql`payment_method = ${query.method}`]),
          ...(query.externalReference === undefined ? [] : [sql`external_reference = ${query.externalReference}`]),
          ...(currency === undefined ? [] : [sql`currency = ${currency}`]),
          ...(query.minAmount === undefined ? [] : [sql`amount >= ${query.minAmount}::float8::bigint`]),
          ...(query.createdFrom === undefined ? [] : [sql`created_at >= ${toDate(query.createdFrom)}`]),
          ...(query.createdTo === undefined ? [] : [sql`created_at <= ${toDate(query.createdTo)}`]),
          ...(position === undefined ? [] : below(sort, position))
        ])
        const rows = yield* Effect.flatMap(
          paymentRows(
            sql`SELECT ${columns} FROM payment_requests WHERE ${where} ORDER BY ${sql.literal(orders[sort])}
              LIMIT ${limit + 1}`
          ),
          (found) => toPayments(personal, found)
        )
        return cursors.part(rows, limit, positionOf(sort))
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

      return PaymentQueue.of({ walk, cursorBehind: (payment) => cursors.write(positionOf("newest")(payment)), waiting })
    })
  )
}
