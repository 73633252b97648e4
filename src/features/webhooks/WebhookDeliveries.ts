/** Deliveries of webhook events, and their repetition. */
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { DeliveryStatus } from "../../domain/Events.ts"
import { type Refusal, refuse } from "../../domain/Refusal.ts"
import { iso } from "../../platform/Time.ts"
import { equalTo, recordsOf } from "../../store/Records.ts"
import { type Scope, within } from "../staff/OperatorBounds.ts"
import { orTryAgain, type Page, type PageQuery } from "../../store/Rows.ts"
import { AuditLog } from "../audit/AuditLog.ts"
import type { Actor } from "../staff/Staff.ts"
import { Delivery } from "./StaffApi.ts"

export interface DeliveryQuery extends PageQuery {
  readonly scope: Scope
  readonly webhookId?: number | undefined
  readonly status?: DeliveryStatus | undefined
}

type Delivery = typeof Delivery.Type

const notFound = refuse("NOT_FOUND", "There is no such delivery.")

type Unavailable = Refusal<"TRY_AGAIN">

export class WebhookDeliveries extends Context.Service<WebhookDeliveries, {
  /** Newest first. */
  readonly list: (query: DeliveryQuery) => Effect.Effect<Page<Delivery>, Unavailable>
  /** Makes a delivery due at once, whatever became of it, with all of its attempts before it again. */
  readonly retry: (actor: Actor, id: number) => Effect.Effect<Delivery, Refusal<"NOT_FOUND"> | Unavailable>
}>()("pitboss/webhooks/WebhookDeliveries") {
  static readonly layer = Layer.effect(
    WebhookDeliveries,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const auditLog = yield* AuditLog
      // the type by a look-up of its own: the count of a page then reads deliveries alone
      const deliveries = yield* recordsOf("webhook_deliveries", Delivery, {
        columns: { webhook_id: "endpoint_id" },
        reads: { event_id: "event_id::text" },
        computed: { type: "(SELECT e.type FROM events e WHERE e.id = webhook_deliveries.event_id)" }
      })

      const list = Effect.fn("WebhookDeliveries.list")(function*(query: DeliveryQuery) {
        const { scope, status, webhookId } = query
        return yield* deliveries.page(
          [...within(sql, scope), ...equalTo(sql, { endpoint_id: webhookId, status })],
          sql`created_at DESC, id DESC`,
          query
        )
      }, orTryAgain)

      const retry = Effect.fn("WebhookDeliveries.retry")((actor: Actor, id: number) =>
        auditLog.change(actor, ({ now, recordChange }) =>
          Effect.gen(function*() {
            const before = yield* deliveries.find(sql`id = ${id} FOR NO KEY UPDATE`)
            if (before === undefined) return yield* Effect.fail(notFound)
            const after: Delivery = {
              ...before,
              status: "pending",
              attempts: 0,
              next_attempt_at: iso(now),
              response_status: null,
              error: null,
              updated_at: iso(now)
            }
            yield* deliveries.update(before, after, { claimed_by: null, claimed_until: null })
            return yield* recordChange("delivery.retry", before, after)
          }))
      )

      return WebhookDeliveries.of({ list, retry })
    })
  )
}
