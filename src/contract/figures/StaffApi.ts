/** Staff API endpoints for the key figures on the home page of the back office, which are updated live. */
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { ofOperator } from "../common/StaffFields.ts"
import { action, anyRole } from "../common/StaffAction.ts"
import { refusals } from "../common/Errors.ts"
import { single } from "../common/Pagination.ts"
import { Overview } from "./OverviewResource.ts"

export const FiguresGroup = HttpApiGroup.make("figures").annotate(OpenApi.Description, "How the casino stands now").add(
  HttpApiEndpoint.get("overview", "/overview", { query: ofOperator, success: single(Overview) }).annotateMerge(
    action("Today against the same weekday of last week, and what waits or fails", {
      roles: anyRole,
      concern: "operator"
    })
  ),
  /**
   * Server-sent events. `overview`: as `GET /overview` in `data`, initially and on change; `changed`: `{"kind": …}`, a list to reload; a comment
   * every fifteen seconds; `end` with the reason before the server ends the stream.
   */
  HttpApiEndpoint.get("live", "/live", {
    query: ofOperator,
    success: HttpApiSchema.StreamUint8Array({ contentType: "text/event-stream" }),
    error: refusals("RATE_LIMITED")
  }).annotateMerge(
    action("Print server-sent events as they come: how the casino stands, and what has changed", {
      roles: anyRole,
      concern: "operator"
    })
  )
)
