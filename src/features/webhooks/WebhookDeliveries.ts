/** What became of the events that operators were to be told of, and trying again. */
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import { deliveryStatuses, type DeliveryStatus } from "../../domain/Events.ts"
import { type Refusal, refuse } from "../../domain/Refusal.ts"
import { iso, isoOrNull, toDate } from "../../platform/Time.ts"
import { offsetOf, oneOf, orTryAgain, type Page, type PageQuery, rowsOf } from "../../store/Rows.ts"
import { AuditLog } from "../audit/AuditLog.ts"
import type { Actor } from "../staff/Staff.ts"

export interface DeliveryQuery extends PageQuery {
  readonly operatorId?: number | undefined
  readonly webhookId?: number | undefined
  readonly status?: DeliveryStatus | undefined
}

const DeliveryRow = Schema.Struct({
  id: Schema.Number,
  operator_id: Schema.Number,
  webhook_id: Schema.Number,
  event_id: Schema.String,
  type: Schema.String,
  status: Schema.Literals(deliveryStatuses),
  attempts: Schema.Number,
  next_attempt_at: Schema.NullOr(Schema.Date),
  response_status: Schema.NullOr(Schema.Number),
  error: Schema.NullOr(Schema.String),
  created_at: Schema.Date,
  updated_at: Schema.Date
})

const toFields = (row: typeof DeliveryRow.Type) => ({
  ...row,
  next_attempt_at: isoOrNull(row.next_attempt_at?.getTime() ?? null),
  created_at: iso(row.created_at.getTime()),
  updated_at: iso(row.updated_at.getTime())
})

/** A delivery as it is shown; `event_id` as receivers know it. */
export type DeliveryFields = ReturnType<typeof toFields>

const deliveryRows = rowsOf(DeliveryRow)
const counts = rowsOf(Schema.Struct({ total: Schema.Number }))

const notFound = refuse("NOT_FOUND", "There is no such delivery.")

type Unavailable = Refusal<"TRY_AGAIN">

export class WebhookDeliveries extends Context.Service<WebhookDeliveries, {
  /** Newest first. */
  readonly list: (query: DeliveryQuery) => Effect.Effect<Page<DeliveryFields>, Unavailable>
  /** Makes a delivery due at once, whatever became of it, with all of its attempts before it again. */
  readonly retry: (actor: Actor, id: number) => Effect.Effect<DeliveryFields, Refusal<"NOT_FOUND"> | Unavailable>
}>()("pitboss/backoffice/WebhookDeliveries") {
  static readonly layer = Layer.effect(
    WebhookDeliveries,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const auditLog = yield* AuditLog
      const columns = sql.literal(`d.id, d.operator_id,
        d.endpoint_id AS webhook_id, d.event_id::text AS event_id, e.type, d.status,
        d.attempts, d.next_attempt_at, d.response_status, d.error,
        d.created_at, d.updated_at`)

      const list = Effect.fn("WebhookDeliveries.list")(function*(query: DeliveryQuery) {
        const conditions: ReadonlyArray<Statement.Fragment> = [
          ...(query.operatorId === undefined ? [] : [sql`d.operator_id = ${query.operatorId}`]),
          ...(query.webhookId === undefined ? [] : [sql`d.endpoint_id = ${query.webhookId}`]),
          ...(query.status === undefined ? [] : [sql`d.status = ${query.status}`])
        ]
        const where = conditions.length === 0 ? sql`true` : sql.and(conditions)
        const [found, counted] = yield* Effect.all([
          deliveryRows(sql`SELECT ${columns} FROM webhook_deliveries d JOIN events e ON e.id = d.event_id
            WHERE ${where} ORDER BY d.created_at DESC, d.id DESC LIMIT ${query.perPage} OFFSET ${offsetOf(query)}`),
          counts(sql`SELECT count(*) AS total FROM webhook_deliveries d WHERE ${where}`)
        ], { concurrency: 2 })
        return { items: found.map(toFields), total: counted[0]?.total ?? 0 }
      }, orTryAgain)

      const retry = Effect.fn("WebhookDeliveries.retry")((actor: Actor, id: number) =>
        auditLog.change(actor, ({ now, record }) =>
          Effect.gen(function*() {
            const row = yield* oneOf(deliveryRows(
              sql`SELECT ${columns} FROM webhook_deliveries d JOIN events e ON e.id = d.event_id
                WHERE d.id = ${id} FOR NO KEY UPDATE OF d`
            ))
            if (row === undefined) return yield* Effect.fail(notFound)
            const before = toFields(row)
            const after: DeliveryFields = {
              ...before,
              status: "pending",
              attempts: 0,
              next_attempt_at: iso(now),
              response_status: null,
              error: null,
              updated_at: iso(now)
            }
            yield* sql`UPDATE webhook_deliveries SET status = 'pending', attempts = 0, next_attempt_at = ${toDate(now)},
                response_status = NULL, error = NULL, claimed_by = NULL, claimed_until = NULL, updated_at = ${
              toDate(now)
            }
              WHERE id = ${id}`
            yield* record({
              action: "delivery.retry",
              operatorId: before.operator_id,
              subject: `delivery:${id}`,
              before,
              after
            })
            return after
          }))
      )

      return WebhookDeliveries.of({ list, retry })
    })
  )
}
