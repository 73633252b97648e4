/** Operator API handler for the GGR (gross gaming revenue) report. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Api } from "../../contract/Api.ts"
import { CurrentOperator } from "../../contract/common/Middleware.ts"
import { Reports } from "../../features/reports/Reports.ts"

export const ReportsHandlers = HttpApiBuilder.group(
  Api,
  "reports",
  Effect.fnUntraced(function*(handlers) {
    const reports = yield* Reports
    return handlers.handle("ggr", ({ query }) =>
      Effect.gen(function*() {
        const { operator } = yield* CurrentOperator
        const { from, include_test_players: includeTest, to } = query
        return { data: yield* reports.ggr(operator.id, { from, to, includeTestPlayers: includeTest === "true" }) }
      }))
  })
)
