/** Handlers of reports and exchange rates for staff. */
import { Effect, Layer } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { BackofficeApi, CurrentStaff } from "../../contract/StaffApi.ts"
import { ExchangeRates } from "../exchangeRates/ExchangeRateRecords.ts"
import { Operators } from "../operators/Operators.ts"
import { Reports } from "./Reports.ts"
import { paginated } from "../../http/Page.ts"

const Report = HttpApiBuilder.group(
  BackofficeApi,
  "report",
  Effect.fnUntraced(function*(handlers) {
    const reports = yield* Reports
    const operators = yield* Operators
    return handlers.handle("ggr", ({ query }) =>
      Effect.gen(function*() {
        const operatorId = yield* operators.resolve(query.operator)
        const { from, include_test_players: includeTest, to } = query
        return { data: yield* reports.ggr(operatorId, { from, to, includeTestPlayers: includeTest === "true" }) }
      }))
  })
)

const Rate = HttpApiBuilder.group(
  BackofficeApi,
  "rate",
  Effect.fnUntraced(function*(handlers) {
    const rates = yield* ExchangeRates
    return handlers
      .handle("set", ({ payload }) =>
        Effect.gen(function*() {
          return { data: yield* rates.set(yield* CurrentStaff, payload) }
        }))
      .handle("list", ({ query }) =>
        Effect.gen(function*() {
          const { base, currency, page, per_page: perPage } = query
          const { items, total } = yield* rates.list({ page, perPage, currency, base })
          return yield* paginated(query, total, items)
        }))
  })
)

export const ReportHandlers = Layer.mergeAll(Report, Rate)
