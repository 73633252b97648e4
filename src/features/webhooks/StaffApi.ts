/** Where operators are told of events, and what became of it: groups of the staff API. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { deliveryStatuses, eventTypes } from "../../domain/Events.ts"
import { oneOf, pathId, text } from "../../contract/Fields.ts"
import { list, page, pageQuery, single } from "../../contract/Pagination.ts"
import { id, timestamp } from "../../contract/Resource.ts"

const optional = Schema.optionalKey

/** The id or slug of an operator. */
const reference = text(128)

const Webhook = Schema.Struct({
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

const Delivery = Schema.Struct({
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

const settings = {
  events: optional(Schema.Array(oneOf(eventTypes))),
  active: optional(Schema.Boolean)
}

const url = text(2000)

export const WebhookGroup = HttpApiGroup.make("webhook").add(
  HttpApiEndpoint.post("create", "/webhooks", {
    payload: Schema.Struct({ operator: reference, url, ...settings }),
    success: single(WithSecret).pipe(HttpApiSchema.status(201))
  }),
  HttpApiEndpoint.patch("update", "/webhooks/:webhook", {
    params: { webhook: pathId },
    query: { operator: optional(reference) },
    payload: Schema.Struct({ url: optional(url), ...settings }),
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
