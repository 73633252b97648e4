/** Webhook endpoints and deliveries in the staff API. */
import { Schema, Struct } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { deliveryStatuses, eventTypes } from "../../domain/Events.ts"
import { oneOf, pathId, reference, text } from "../../contract/Fields.ts"
import { created, list, page, pageQuery, single } from "../../contract/Pagination.ts"
import { id, timestamp } from "../../contract/Resource.ts"

const optional = Schema.optionalKey

/** An endpoint: never with its secret. */
export const Webhook = Schema.Struct({
  id,
  operator_id: id,
  url: Schema.String,
  events: Schema.Array(Schema.String),
  active: Schema.Boolean,
  previous_secret_until: Schema.NullOr(timestamp).annotate({
    description: "Until then the secret before the last rotation signs as well, in a header of its own."
  }),
  created_at: timestamp,
  updated_at: timestamp
})

/** Shown once, in the answer that made it. */
const WithSecret = Schema.Struct({ ...Webhook.fields, secret: Schema.String })

/** Absent when the call ended an overlap and made none. */
const Rotated = Schema.Struct({ ...Webhook.fields, secret: optional(Schema.String) })

/** A delivery; `event_id` as receivers know it. */
export const Delivery = Schema.Struct({
  id,
  operator_id: id,
  webhook_id: id,
  event_id: Schema.String,
  type: Schema.String,
  status: Schema.Literals(deliveryStatuses),
  attempts: Schema.Int,
  next_attempt_at: Schema.NullOr(timestamp),
  response_status: Schema.NullOr(Schema.Int).annotate({ description: "Of the last attempt; null without an answer." }),
  error: Schema.NullOr(Schema.String),
  created_at: timestamp,
  updated_at: timestamp
})

const WebhookUpdate = Schema.Struct({
  url: text(2000),
  events: Schema.Array(oneOf(eventTypes)),
  active: Schema.Boolean
}).mapFields(Struct.map(optional))

const WebhookInput = Schema.Struct({ operator: reference, ...WebhookUpdate.fields, url: text(2000) })

export type WebhookInput = typeof WebhookInput.Type
export type WebhookUpdate = typeof WebhookUpdate.Type

export const WebhookGroup = HttpApiGroup.make("webhook").add(
  HttpApiEndpoint.post("create", "/webhooks", {
    payload: WebhookInput,
    success: created(WithSecret)
  }),
  HttpApiEndpoint.patch("update", "/webhooks/:webhook", {
    params: { webhook: pathId },
    query: { operator: optional(reference) },
    payload: WebhookUpdate,
    success: single(Webhook)
  }),
  HttpApiEndpoint.post("rotate", "/webhooks/:webhook/rotate", {
    params: { webhook: pathId },
    query: {
      operator: optional(reference),
      now: optional(oneOf(["true", "false"])).annotateKey({
        description: "Ends the overlap of the rotation before. Where none runs, the new secret signs alone at once."
      })
    },
    success: single(Rotated)
  }),
  HttpApiEndpoint.post("ping", "/webhooks/:webhook/ping", {
    params: { webhook: pathId },
    query: { operator: optional(reference) },
    success: single(Delivery)
  }),
  HttpApiEndpoint.get("list", "/webhooks", { query: { operator: optional(reference) }, success: list(Webhook) })
)

export const DeliveryGroup = HttpApiGroup.make("delivery").add(
  HttpApiEndpoint.get("list", "/deliveries", {
    query: {
      ...pageQuery,
      operator: optional(reference),
      webhook: optional(pathId),
      status: optional(oneOf(deliveryStatuses))
    },
    success: page(Delivery)
  }),
  HttpApiEndpoint.post("retry", "/deliveries/:delivery/retry", {
    params: { delivery: pathId },
    success: single(Delivery)
  })
)
