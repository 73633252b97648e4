/** Operator API endpoint for the GGR (gross gaming revenue) report (SPEC section 4.8). */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { about, RequiredFeature, RequiredScope } from "../common/Annotations.ts"
import { date, flagInQuery } from "../common/Fields.ts"
import { single } from "../common/Pagination.ts"
import { GgrReport } from "./ReportResource.ts"

/** A range of days. */
export const reportRange = {
  from: date.annotate({ description: "First day, UTC." }),
  to: date.annotate({ description: "Last day, UTC, included; at most 366 days in all." }),
  include_test_players: Schema.optionalKey(flagInQuery)
}

export const ReportsGroup = HttpApiGroup.make("reports")
  .add(
    HttpApiEndpoint.get("ggr", "/reports/ggr", {
      query: Schema.Struct(reportRange),
      success: single(GgrReport)
    })
      .annotate(RequiredScope, "reports:read")
      .annotateMerge(about(
        "Gross gaming revenue and payments of a range of days",
        "Days are those of UTC, at most 366 of them. The figures are the back office's, in the operator's currency; test accounts " +
          "are left out unless they are asked for."
      ))
  )
  .annotate(RequiredFeature, "reports")
  .annotateMerge(OpenApi.annotations({
    title: "Reports",
    description: "What came of it all: gaming revenue, payments and registrations."
  }))
