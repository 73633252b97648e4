/** Live figures in the staff API. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { refusals } from "../common/Errors.ts"
import { reference } from "../common/Fields.ts"
import { single } from "../common/Pagination.ts"
import { Overview } from "./OverviewResource.ts"

const ofOperator = { operator: Schema.optionalKey(reference) }

export const FiguresGroup = HttpApiGroup.make("figures").add(
  HttpApiEndpoint.get("overview", "/overview", { query: ofOperator, success: single(Overview) }),
  /**
   * Server-sent events. `overview`: as `GET /overview` in `data`, initially and on change; `changed`: `{"kind": …}`, a list to reload; a comment
   * every fifteen seconds; `end` with the reason before the server ends the stream.
   */
  HttpApiEndpoint.get("live", "/live", {
    query: ofOperator,
    success: HttpApiSchema.StreamUint8Array({ contentType: "text/event-stream" }),
    error: refusals("RATE_LIMITED")
  })
)
