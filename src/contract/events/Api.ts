/** Operator API endpoints for the event feed: all events in order from a given position, so that none is missed. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { eventTypes } from "../../domain/state/Events.ts"
import { about, RequiredFeature, RequiredScope } from "../common/Annotations.ts"
import { refusals } from "../common/Errors.ts"
import { instant, integer, oneOf, pathId } from "../common/Fields.ts"
import { partQuery, single } from "../common/Pagination.ts"
import { timestamp } from "../common/Resource.ts"

const optional = Schema.optionalKey

/** An event, as webhooks are sent it. */
const Event = Schema.Struct({
  id: Schema.String,
  type: Schema.String,
  api_version: Schema.Literal("v1"),
  created_at: timestamp,
  player_sequence: optional(Schema.Int.annotate({
    description: "Number among the player's events, rising by one with each; absent where no player is concerned."
  })),
  data: Schema.Record(Schema.String, Schema.Unknown)
}).annotate({
  identifier: "Event",
  examples: [{
    id: "90117",
    type: "deposit.paid",
    api_version: "v1",
    created_at: "2026-11-20T12:00:00.000Z",
    player_sequence: 4,
    data: { payment: { id: 5488 }, player: { id: 48213, external_id: "c-1001", username: "lucky_luke" } }
  }]
})

const FeedMeta = Schema.Struct({
  per_page: Schema.Int,
  next_cursor: Schema.String.annotate({
    description: "Asked again, it gives what has come since; there is always one."
  })
}).annotate({ identifier: "FeedMeta", examples: [{ per_page: 25, next_cursor: "e-2s" }] })

/** Longest time in seconds that a call is held until there is an event. */
const maxWaitSeconds = 30

/** Query of the list of events. */
export const FeedQuery = Schema.Struct({
  ...partQuery,
  type: optional(oneOf(eventTypes)),
  player_id: optional(integer(1, Number.MAX_SAFE_INTEGER)),
  created_from: optional(instant),
  created_to: optional(instant),
  wait: optional(
    integer(0, maxWaitSeconds).annotate({
      description:
        "Seconds that the call is held until there is an event (0). Four calls of a key are held at once; others are answered as with 0."
    })
  )
})

export type FeedQuery = typeof FeedQuery.Type

export const EventsGroup = HttpApiGroup.make("events")
  .add(
    HttpApiEndpoint.get("list", "/events", {
      query: FeedQuery,
      success: Schema.Struct({ data: Schema.Array(Event), meta: FeedMeta })
    })
      .annotate(RequiredScope, "events:read")
      .annotateMerge(about(
        "Events in their order, oldest first",
        "Follow next_cursor to miss none: what is not shown yet never appears behind a cursor that was given. Kept for 30 days; an older cursor is refused, so that " +
          "a gap is never silent. A page may hold fewer than per_page, even none, where a filter finds little: go on."
      )),
    HttpApiEndpoint.get("get", "/events/:event", {
      params: { event: pathId },
      success: single(Event),
      error: refusals("NOT_FOUND")
    })
      .annotate(RequiredScope, "events:read")
      .annotateMerge(about(
        "An event",
        "The body that was sent to webhooks. After 30 days NOT_FOUND with `details.reason` `expired`."
      ))
  )
  .annotate(RequiredFeature, "players")
  .annotateMerge(OpenApi.annotations({
    title: "Events",
    description: "What webhooks tell, to be read in order at the caller's own pace."
  }))
