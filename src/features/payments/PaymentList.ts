/** Filters and sort orders of payment lists, shared by the operator API (newest first) and the staff API (several orders). */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { listedPaymentStatuses, paymentOrders } from "../../contract/payments/StaffApi.ts"
import type { Payment, PaymentType } from "../../domain/state/Change.ts"
import { PersonalData } from "../../platform/PersonalData.ts"
import { toDate } from "../../platform/Time.ts"
import { listOf } from "../../store/Lists.ts"
import { paymentColumns, PaymentRow, toPayments } from "../../store/PaymentRow.ts"
import { rowsOf } from "../../store/Rows.ts"

/** Filters; an absent one matches all. */
export interface PaymentFilters {
  readonly id?: number | undefined
  readonly playerId?: number | undefined
  readonly type?: PaymentType | undefined
  readonly status?: (typeof listedPaymentStatuses)[number] | undefined
  readonly method?: string | undefined
  readonly externalReference?: string | undefined
  /** ISO 4217; required to compare amounts of several players. */
  readonly currency?: string | undefined
  /** Minor units, inclusive. */
  readonly minAmount?: number | undefined
  /** Epoch milliseconds, inclusive. */
  readonly createdFrom?: number | undefined
  readonly createdTo?: number | undefined
}

const paymentRows = rowsOf(PaymentRow)

const at = {
  column: "payment_requests.created_at",
  kind: "instant" as const,
  of: ({ createdAt }: Payment) => createdAt
}
const id = { column: "payment_requests.id", kind: "integer" as const, of: (payment: Payment) => payment.id }
const amount = { column: "payment_requests.amount", kind: "integer" as const, of: (payment: Payment) => payment.amount }

export const makePaymentList = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const personal = yield* PersonalData
  const columns = sql.literal(paymentColumns)
  return listOf<Payment, PaymentFilters, (typeof paymentOrders)[number]>(sql, {
    read: (ofList, end) =>
      Effect.flatMap(
        paymentRows(sql`SELECT ${columns} FROM payment_requests WHERE ${ofList} ${end}`),
        (rows) => toPayments(personal, rows)
      ),
    operator: "operator_id",
    filters: {
      id: (value) => sql`id = ${value}::float8::bigint`,
      playerId: (value) => sql`player_id = ${value}::float8::bigint`,
      type: (value) => sql`type = ${value}`,
      // literals, to match the partial index of pending payments
      status: (value) =>
        value === "waiting"
          ? sql`status IN ('new', 'allowed') AND type = 'withdrawal'`
          : value === "new" || value === "allowed"
          ? sql`status = ${value} AND status IN ('new', 'allowed')`
          : sql`status = ${value}`,
      method: (value) => sql`payment_method = ${value}`,
      externalReference: (value) => sql`external_reference = ${value}`,
      currency: (value) => sql`currency = ${value}`,
      minAmount: (value) => sql`amount >= ${value}::float8::bigint`,
      createdFrom: (value) => sql`created_at >= ${toDate(value)}`,
      createdTo: (value) => sql`created_at <= ${toDate(value)}`
    },
    orders: {
      newest: { keys: [at, id], descending: true },
      oldest: { keys: [at, id] },
      amount: { keys: [amount, id], descending: true }
    }
  })
})
