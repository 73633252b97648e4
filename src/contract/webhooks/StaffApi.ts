/** Staff API endpoints for webhook endpoints and deliveries. */
import { Schema, Struct } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { belongingTo, ofOperator, operatorReference } from "../common/StaffFields.ts"
import { action } from "../common/StaffAction.ts"
import { tellsOfPlayers } from "../common/Annotations.ts"
import { eventTypes, deliveryStatuses } from "../../domain/state/Events.ts"
import { instant, integer, oneOf, pathId, text } from "../common/Fields.ts"
import { bulkOutcome, idsOf } from "../common/Bulk.ts"
import { StaffIdempotentPost } from "../common/StaffMiddleware.ts"
import { created, list, part, partQuery, single } from "../common/Pagination.ts"
import { id, timestamp } from "../common/Resource.ts"

const optional = Schema.optionalKey

/** An endpoint, without its secret. */
export const Webhook = Schema.Struct({
  id,
  operator_id: id,
  url: Schema.String,
  events: Schema.Array(Schema.String),
  active: Schema.Boolean,
  previous_secret_until: Schema.NullOr(timestamp).annotate({
    description: "Until then the secret before the last rotation signs as well, in a header of its own."
  }),
  standard_webhooks: Schema.Boolean.annotate({
    description: "Whether deliveries are signed as Standard Webhooks as well."
  }),
  created_at: timestamp,
  updated_at: timestamp
})

/** With the secret, shown only in the answer that created it. */
const WithSecret = Schema.Struct({ ...Webhook.fields, secret: Schema.String })

/** `secret` is absent when the call ended an overlap without creating one. */
const Rotated = Schema.Struct({ ...Webhook.fields, secret: optional(Schema.String) })

/** A delivery; `event_id` in the form sent to receivers. */
export const Delivery = Schema.Struct({
  id,
  operator_id: id,
  webhook_id: id,
  event_id: Schema.String,
  type: Schema.String,
  status: Schema.Literals(deliveryStatuses).annotate({
    description: "Pending before the first attempt, retrying between two."
  }),
  attempts: Schema.Int,
  next_attempt_at: Schema.NullOr(timestamp),
  response_status: Schema.NullOr(Schema.Int).annotate({ description: "Of the last attempt; null without an answer." }),
  error: Schema.NullOr(Schema.String),
  created_at: timestamp,
  updated_at: timestamp
})

/** A delivery with its last request and answer. */
export const DeliveryAttempt = Schema.Struct({
  ...Delivery.fields,
  request: Schema.Struct({
    url: Schema.String.annotate({ description: "The webhook's, as it is now." }),
    headers: Schema.Record(Schema.String, Schema.String).annotate({
      description: "Without the signature; those of the last attempt where there was one."
    }),
    body: Schema.NullOr(Schema.String).annotate({
      [tellsOfPlayers]: true,
      description:
        "As it is stored: personal data, which is sealed, is added when it is sent. Null once the event is forgotten."
    })
  }),
  response: Schema.NullOr(Schema.Struct({
    status: Schema.NullOr(Schema.Int),
    body: Schema.NullOr(Schema.String).annotate({ description: "Its first 2,000 characters." }),
    error: Schema.NullOr(Schema.String),
    sent_at: Schema.NullOr(timestamp),
    duration_ms: Schema.NullOr(Schema.Int)
  })).annotate({ description: "Of the last attempt; null before the first." })
})

const Redelivery = Schema.Struct({
  since: instant.annotate({ description: "Events at or after, like 2026-11-20T12:00:00Z." }),
  until: optional(instant).annotateKey({ description: "Events before it; absent: until now." }),
  status: optional(oneOf(["delivered", "failed"])).annotateKey({ description: "Filter by status; absent: both." })
})

export type Redelivery = typeof Redelivery.Type

/** Result of a redelivery. */
const Redelivered = Schema.Struct({
  webhook_id: id,
  queued: Schema.Int.annotate({ description: "Deliveries that are due again, 10,000 at most." }),
  has_more: Schema.Boolean.annotate({ description: "Whether there are more: ask again, since `next_since`." }),
  next_since: Schema.NullOr(timestamp)
})

export type Redelivered = typeof Redelivered.Type

/** What has not arrived at a webhook. */
export const Undelivered = Schema.Struct({
  webhook_id: id,
  failed: Schema.Int.annotate({ description: "Deliveries that were given up." }),
  retrying: Schema.Int.annotate({ description: "Deliveries between two attempts." }),
  since: Schema.NullOr(timestamp).annotate({ description: "When the first of them was made; null: there is none." })
})

const sinceInstant = instant.annotate({ description: "Made at or after, like 2026-11-20T12:00:00Z." })

const webhookField = integer(1, Number.MAX_SAFE_INTEGER).annotate({ description: "Id of the webhook." })

const address = { url: text(2000, { description: "Address that events are sent to." }) }

const WebhookUpdate = Schema.Struct({
  ...address,
  events: Schema.Array(oneOf(eventTypes)).annotate({ description: "Event types (all)." }),
  active: Schema.Boolean.annotate({ description: "Whether anything is sent; what comes meanwhile waits (true)." })
}).mapFields(Struct.map(optional))

const WebhookInput = Schema.Struct({
  operator: operatorReference,
  ...WebhookUpdate.fields,
  ...address
})

export type WebhookInput = typeof WebhookInput.Type
export type WebhookUpdate = typeof WebhookUpdate.Type

export const WebhookGroup = HttpApiGroup.make("webhook").annotate(OpenApi.Description, "Webhooks of operators").add(
  HttpApiEndpoint.post("create", "/webhooks", {
    payload: WebhookInput,
    success: created(WithSecret)
  }).annotateMerge(
    action("Make a webhook; prints its secret once", { roles: [], concern: "operator", is: "authority" })
  ),
  HttpApiEndpoint.patch("update", "/webhooks/:webhook", {
    params: { webhook: pathId },
    query: belongingTo,
    payload: WebhookUpdate,
    success: single(Webhook)
  }).annotateMerge(action("Change a webhook", { roles: [], concern: "operator", is: "authority" })),
  HttpApiEndpoint.post("rotate", "/webhooks/:webhook/rotate", {
    params: { webhook: pathId },
    query: {
      ...belongingTo,
      now: optional(oneOf(["true", "false"])).annotateKey({
        description: "Ends the overlap of the rotation before. Where none runs, the new secret signs alone at once.",
        flag: { isSwitch: true }
      })
    },
    success: single(Rotated)
  }).annotateMerge(
    action("Give it a new secret; prints it once. The one before signs in a header of its own for a day", {
      roles: [],
      concern: "operator",
      is: "authority"
    })
  ),
  HttpApiEndpoint.post("ping", "/webhooks/:webhook/ping", {
    params: { webhook: pathId },
    query: belongingTo,
    success: single(Delivery)
  }).annotateMerge(
    action("Send a test event now; prints what came of it", { roles: ["support"], concern: "operator" })
  ),
  HttpApiEndpoint.post("redeliver", "/webhooks/:webhook/redeliver", {
    params: { webhook: pathId },
    query: belongingTo,
    payload: Redelivery,
    success: single(Redelivered)
  }).annotateMerge(
    action("Send the events since an instant again, 10,000 at most", { roles: ["support"], concern: "operator" })
  ),
  HttpApiEndpoint.get("list", "/webhooks", { query: ofOperator, success: list(Webhook) }).annotateMerge(
    action("Webhooks, newest first", { roles: ["support"], concern: "operator" })
  )
)

export const DeliveryGroup = HttpApiGroup.make("delivery").annotate(OpenApi.Description, "Deliveries of events").add(
  HttpApiEndpoint.get("list", "/deliveries", {
    query: {
      ...partQuery,
      ...ofOperator,
      webhook: optional(pathId.annotate({ description: "Filter by the id of a webhook." })),
      status: optional(oneOf(deliveryStatuses).annotate({ description: "Filter by status." }))
    },
    success: part(Delivery)
  }).annotateMerge(action("Deliveries, newest first", { roles: ["support"], concern: "operator" })),
  HttpApiEndpoint.get("undelivered", "/deliveries/undelivered", {
    query: {
      webhook: pathId.annotate({ description: "Id of the webhook." }),
      since: optional(sinceInstant)
    },
    success: single(Undelivered)
  }).annotateMerge(action("How much has not arrived at a webhook", { roles: ["support"], concern: "operator" })),
  HttpApiEndpoint.post("redeliver", "/deliveries/redeliver", {
    payload: Schema.Struct({ webhook: webhookField, since: sinceInstant }),
    success: single(Redelivered)
  }).annotateMerge(
    action("Send again, now, what has not arrived since an instant, 10,000 at most; exit 1 when there is nothing", {
      roles: ["support"],
      concern: "operator",
      passes: Schema.Struct({ queued: Schema.Int.check(Schema.isGreaterThanOrEqualTo(1)) })
    })
  ),
  HttpApiEndpoint.get("show", "/deliveries/:delivery", {
    params: { delivery: pathId },
    success: single(DeliveryAttempt)
  }).annotateMerge(
    action("One delivery, with what was sent and what came back", { roles: ["support"], concern: "operator" })
  ),
  HttpApiEndpoint.post("retry", "/deliveries/:delivery/retry", {
    params: { delivery: pathId },
    success: single(Delivery)
  }).annotateMerge(action("Send one again, now", { roles: ["support"], concern: "operator" })),
  HttpApiEndpoint.post("retry_many", "/deliveries/retry", {
    payload: Schema.Struct({ deliveries: idsOf("deliveries") }),
    success: bulkOutcome
  }).middleware(StaffIdempotentPost).annotateMerge(
    action("Send deliveries again, now", { roles: ["support"], concern: "operator" })
  )
)
