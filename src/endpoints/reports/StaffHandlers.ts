/** Staff API handlers for reports and exchange rates. */
import { Effect, Layer } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { BackofficeApi } from "../../contract/StaffApi.ts"
import { CurrentStaff } from "../../contract/common/StaffMiddleware.ts"
import { ExchangeRates } from "../../features/exchangeRates/ExchangeRates.ts"
import { Operators } from "../../features/operators/Operators.ts"
import { Providers } from "../../features/providers/Providers.ts"
import { DormantAccounts } from "../../features/position/DormantAccounts.ts"
import { BonusCosts } from "../../features/reports/BonusCosts.ts"
import { KeyFigures } from "../../features/reports/KeyFigures.ts"
import { SectionedReport } from "../../features/reports/SectionedReport.ts"
import { Reports } from "../../features/reports/Reports.ts"
import { walked } from "../../http/Page.ts"
import { asStaff, enveloped } from "../../http/StaffEnvelope.ts"

const Report = HttpApiBuilder.group(
  BackofficeApi,
  "report",
  Effect.fnUntraced(function*(handlers) {
    const reports = yield* Reports
    const operators = yield* Operators
    const providers = yield* Providers
    const figures = yield* KeyFigures
    const costs = yield* BonusCosts
    const sectioned = yield* SectionedReport
    const dormant = yield* DormantAccounts
    const daysOf = (query: { readonly from: string; readonly to: string; readonly include_test_players?: string }) => ({
      from: query.from,
      to: query.to,
      includeTestPlayers: query.include_test_players === "true"
    })
    return handlers.handle("ggr", ({ query }) =>
      Effect.gen(function*() {
        const operatorId = yield* operators.resolve(query.operator)
        const { from, include_test_players: includeTest, to } = query
        return { data: yield* reports.ggr(operatorId, { from, to, includeTestPlayers: includeTest === "true" }) }
      }))
      .handle("series", ({ query }) =>
        enveloped(Effect.gen(function*() {
          const operatorId = yield* operators.resolve(query.operator)
          const { metric, provider, step = "day" } = query
          const providerId = provider === undefined ? undefined : yield* providers.idOf(provider)
          return yield* figures.series(operatorId, { ...daysOf(query), metric, step, providerId })
        })))
      .handle("breakdown", ({ query }) =>
        enveloped(
          Effect.flatMap(operators.resolve(query.operator), (id) => figures.breakdown(id, query.by, daysOf(query)))
        ))
      .handle(
        "local_days",
        ({ query: { operator, ...range } }) =>
          enveloped(Effect.flatMap(operators.resolve(operator), (id) => figures.localDays(id, range)))
      )
      .handle(
        "sections",
        ({ query }) =>
          enveloped(Effect.flatMap(operators.resolve(query.operator), (id) => sectioned.sections(id, daysOf(query))))
      )
      .handle("operators", ({ query }) =>
        asStaff((actor) =>
          Effect.flatMap(
            operators.scope(actor, query.operator),
            (scope) => figures.operators(scope, query.currency, daysOf(query))
          )
        ))
      .handle(
        "funds",
        ({ query: { at, operator } }) =>
          asStaff((actor) =>
            Effect.flatMap(
              operators.scope(actor, operator),
              (scope) => at === undefined ? figures.funds(scope) : figures.fundsAt(scope, at)
            )
          )
      )
      .handle("dormant", ({ query }) =>
        Effect.gen(function*() {
          const { cursor, operator, per_page: limit } = query
          const scope = yield* operators.scope(yield* CurrentStaff, operator)
          return yield* walked(limit, yield* dormant.list(scope, { cursor, limit }))
        }))
      .handle(
        "bonuses",
        ({ query }) =>
          enveloped(Effect.flatMap(operators.resolve(query.operator), (id) => costs.report(id, daysOf(query))))
      )
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
          const { base, currency, cursor, per_page: limit } = query
          return yield* walked(limit, yield* rates.list({ cursor, limit, currency, base }))
        }))
  })
)

export const ReportHandlers = Layer.mergeAll(Report, Rate)
