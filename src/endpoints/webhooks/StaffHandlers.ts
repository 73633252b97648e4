/** Staff API handlers for webhook endpoints and deliveries. */
import { Effect, Layer } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { BackofficeApi } from "../../contract/StaffApi.ts"
import { CurrentStaff } from "../../contract/common/StaffMiddleware.ts"
import { Operators } from "../../features/operators/Operators.ts"
import { WebhookDeliveries } from "../../features/webhooks/WebhookDeliveries.ts"
import { WebhookEndpoints } from "../../features/webhooks/WebhookEndpoints.ts"
import { walked } from "../../http/Page.ts"
import { StaffBulk } from "../../office/StaffBulk.ts"
import { asStaff, enveloped } from "../../http/StaffEnvelope.ts"

const EndpointHandlers = HttpApiBuilder.group(
  BackofficeApi,
  "webhook",
  Effect.fnUntraced(function*(handlers) {
    const endpoints = yield* WebhookEndpoints
    const deliveries = yield* WebhookDeliveries
    return handlers
      .handle("create", ({ payload }) => asStaff((actor) => endpoints.create(actor, payload)))
      .handle(
        "update",
        ({ params, payload, query }) =>
          asStaff((actor) => endpoints.update(actor, params.webhook, payload, query.operator))
      )
      .handle(
        "rotate",
        ({ params, query }) =>
          asStaff((actor) => endpoints.rotate(actor, params.webhook, query.operator, query.now === "true"))
      )
      .handle("ping", ({ params, query }) => asStaff((actor) => endpoints.ping(actor, params.webhook, query.operator)))
      .handle(
        "redeliver",
        ({ params, payload, query }) =>
          asStaff((actor) => deliveries.redeliver(actor, params.webhook, payload, query.operator))
      )
      .handle("list", ({ query }) => asStaff((actor) => endpoints.list(actor, query.operator)))
  })
)

const DeliveryHandlers = HttpApiBuilder.group(
  BackofficeApi,
  "delivery",
  Effect.fnUntraced(function*(handlers) {
    const deliveries = yield* WebhookDeliveries
    const operators = yield* Operators
    const bulk = yield* StaffBulk
    return handlers
      .handle("list", ({ query }) =>
        Effect.gen(function*() {
          const scope = yield* operators.scope(yield* CurrentStaff, query.operator)
          const { cursor, per_page: limit, status, webhook: webhookId } = query
          return yield* walked(limit, yield* deliveries.list({ cursor, limit, scope, webhookId, status }))
        }))
      .handle("undelivered", ({ query }) => enveloped(deliveries.undelivered(query.webhook, query.since)))
      .handle(
        "redeliver",
        ({ payload }) => asStaff((actor) => deliveries.redeliverLost(actor, payload.webhook, payload.since))
      )
      .handle("show", ({ params }) => enveloped(deliveries.show(params.delivery)))
      .handle("retry", ({ params }) => asStaff((actor) => deliveries.retry(actor, params.delivery)))
      .handle(
        "retry_many",
        ({ payload }) => bulk.run("delivery", payload.deliveries, (id, actor) => deliveries.retry(actor, id))
      )
  })
)

export const WebhookHandlers = Layer.merge(EndpointHandlers, DeliveryHandlers)
