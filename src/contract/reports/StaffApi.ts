/** Reports and exchange rates in the staff API. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { currency, oneOf, reference, text } from "../common/Fields.ts"
import { created, list, part, partQuery, single } from "../common/Pagination.ts"
import { seriesMetrics, seriesSteps } from "../../domain/Figures.ts"
import { ExchangeRate, GgrReport } from "./ReportResource.ts"
import { reportRange } from "./Api.ts"
import { BonusCost, Breakdown, Funds, Series } from "./SeriesResource.ts"

export const ReportGroup = HttpApiGroup.make("report").add(
  HttpApiEndpoint.get("ggr", "/reports/ggr", {
    query: { operator: text(128), ...reportRange },
    success: single(GgrReport)
  }),
  HttpApiEndpoint.get("series", "/reports/series", {
    query: {
      operator: reference,
      metric: oneOf(seriesMetrics),
      step: oneOf(seriesSteps),
      ...reportRange,
      provider: Schema.optionalKey(reference)
    },
    success: single(Series)
  }),
  HttpApiEndpoint.get("breakdown", "/reports/breakdown", {
    query: { operator: reference, by: oneOf(["day", "provider"]), ...reportRange },
    success: single(Breakdown)
  }),
  HttpApiEndpoint.get("funds", "/reports/funds", {
    query: { operator: Schema.optionalKey(reference) },
    success: list(Funds)
  }),
  HttpApiEndpoint.get("bonuses", "/reports/bonuses", {
    query: { operator: reference, ...reportRange },
    success: list(BonusCost)
  })
)

const rate = Schema.Number.check(
  Schema.isBetween({ minimum: 1e-9, maximum: 1e9 }, { message: "must be between 0.000000001 and 1000000000" })
)

export const RateGroup = HttpApiGroup.make("rate").add(
  HttpApiEndpoint.post("set", "/rates", {
    payload: Schema.Struct({ currency, base: currency, rate }),
    success: created(ExchangeRate)
  }),
  HttpApiEndpoint.get("list", "/rates", {
    query: { ...partQuery, currency: Schema.optionalKey(currency), base: Schema.optionalKey(currency) },
    success: part(ExchangeRate)
  })
)
