/** Operator API handlers for the event feed. Event bodies are the same as in webhooks. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Api } from "../../contract/Api.ts"
import { CurrentOperator } from "../../contract/common/Middleware.ts"
import { EventFeed } from "../../features/events/EventFeed.ts"
import { jsonResponse } from "../../http/Refusals.ts"

export const EventsHandlers = HttpApiBuilder.group(
  Api,
  "events",
  Effect.fnUntraced(function*(handlers) {
    const feed = yield* EventFeed
    return handlers
      .handle("list", ({ query }) =>
        Effect.gen(function*() {
          const { apiKey, operator } = yield* CurrentOperator
          const { bodies, next } = yield* feed.list(operator.id, apiKey.id, query)
          const meta = JSON.stringify({ per_page: query.per_page, next_cursor: next })
          return jsonResponse(200, `{"data":[${bodies.join(",")}],"meta":${meta}}`)
        }))
      .handle("get", ({ params }) =>
        Effect.gen(function*() {
          const { operator } = yield* CurrentOperator
          return jsonResponse(200, `{"data":${yield* feed.get(operator.id, params.event)}}`)
        }))
  })
)
