/** Deliveries of webhook events, and their repetition. */
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { DeliveryStatus } from "../../domain/Events.ts"
import { type Refusal, refuse } from "../../domain/Refusal.ts"
import { iso } from "../../platform/Time.ts"
import { equalTo, recordsOf } from "../../store/Records.ts"
import { orTryAgain, type Page, type PageQuery } from "../../store/Rows.ts"
import { AuditLog } from "../audit/AuditLog.ts"
import type { Actor } from "../staff/Staff.ts"
import { Delivery } from "./StaffApi.ts"

export interface DeliveryQuery extends PageQuery {
  readonly operatorId?: number | undefined
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
}>()("pitboss/backoffice/WebhookDeliveries") {
  static readonly layer = Layer.effect(
    WebhookDeliveries,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const auditLog = yield* AuditLog
      const deliveries = yield* recordsOf("webhook_deliveries", Delivery, {
        from: "webhook_deliveries d JOIN events e ON e.id = d.event_id",
        columns: { webhook_id: "endpoint_id" },
        reads: {
          id: "d.id",
          operator_id: "d.operator_id",
          event_id: "d.event_id::text",
          created_at: "d.created_at",
          updated_at: "d.updated_at"
        },
        computed: { type: "e.type" }
      })

      const list = Effect.fn("WebhookDeliveries.list")(function*(query: DeliveryQuery) {
        const { operatorId, status, webhookId } = query
        return yield* deliveries.page(
          equalTo(sql, { "d.operator_id": operatorId, "d.endpoint_id": webhookId, "d.status": status }),
          sql`d.created_at DESC, d.id DESC`,
          query
        )
      }, orTryAgain)

      const retry = Effect.fn("WebhookDeliveries.retry")((actor: Actor, id: number) =>
        auditLog.change(actor, ({ now, recordChange }) =>
          Effect.gen(function*() {
            const before = yield* deliveries.find(sql`d.id = ${id} FOR NO KEY UPDATE OF d`)
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
