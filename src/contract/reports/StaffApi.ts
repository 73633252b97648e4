/** Staff API endpoints for reports and exchange rates. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { DormantAccount } from "./DormantResource.ts"
import { ofOperator, operatorReference } from "../common/StaffFields.ts"
import { action, anyRole } from "../common/StaffAction.ts"
import { currency, date, oneOf, reference } from "../common/Fields.ts"
import { created, list, part, partQuery, single } from "../common/Pagination.ts"
import { seriesMetrics, seriesSteps } from "../../domain/Figures.ts"
import { ExchangeRate, GgrReport } from "./ReportResource.ts"
import { reportRange } from "./Api.ts"
import {
  BonusCost,
  Breakdown,
  breakdownGroups,
  Funds,
  LocalDays,
  OperatorsReport,
  ReportSections,
  Series
} from "./SeriesResource.ts"

export const ReportGroup = HttpApiGroup.make("report").annotate(OpenApi.Description, "Reports").add(
  HttpApiEndpoint.get("ggr", "/reports/ggr", {
    query: { operator: operatorReference, ...reportRange },
    success: single(GgrReport)
  }).annotateMerge(
    action("Gross gaming revenue and payments of a range of days", {
      roles: ["payments", "compliance"],
      concern: "operator"
    })
  ),
  HttpApiEndpoint.get("series", "/reports/series", {
    query: {
      operator: operatorReference,
      metric: oneOf(seriesMetrics).annotate({ description: "Key figure." }),
      step: Schema.optionalKey(oneOf(seriesSteps).annotate({ description: "Hours or days (day)." })),
      ...reportRange,
      provider: Schema.optionalKey(reference.annotate({ description: "Filter by provider, id or slug." }))
    },
    success: single(Series)
  }).annotateMerge(
    action("A key figure over time, at most 400 points", { roles: ["payments", "compliance"], concern: "operator" })
  ),
  HttpApiEndpoint.get("breakdown", "/reports/breakdown", {
    query: {
      operator: operatorReference,
      by: oneOf(breakdownGroups).annotate({
        description: "A row for each day, month, provider, type of game or game, or all of these after the total."
      }),
      ...reportRange
    },
    success: single(Breakdown)
  }).annotateMerge(
    action("Play and payments of a range of days, by day, month, provider, type of game or game", {
      roles: ["payments", "compliance"],
      concern: "operator"
    })
  ),
  HttpApiEndpoint.get("local_days", "/reports/local-days", {
    query: {
      operator: operatorReference,
      from: date.annotate({
        description: "First day of the operator's zone; days before the last forty are left out."
      }),
      to: date.annotate({ description: "Last day, included." })
    },
    success: single(LocalDays)
  }).annotateMerge(
    action("Play and payments by day of the operator's own zone (report_offset_hours), without test players", {
      roles: ["payments", "compliance"],
      concern: "operator"
    })
  ),
  HttpApiEndpoint.get("sections", "/reports/sections", {
    query: { operator: operatorReference, ...reportRange },
    success: single(ReportSections)
  }).annotateMerge(
    action("All sections of the report in one list, for one file: play, payments, funds held and bonuses", {
      roles: ["payments", "compliance"],
      concern: "operator"
    })
  ),
  HttpApiEndpoint.get("operators", "/reports/operators", {
    query: {
      ...ofOperator,
      currency: Schema.optionalKey(
        currency.annotate({
          description: "ISO 4217 code of the currency of all amounts (that of most of the operators)."
        })
      ),
      ...reportRange
    },
    success: single(OperatorsReport)
  }).annotateMerge(
    action("Play and payments of a range of days, by operator, in one currency", {
      roles: ["payments", "compliance"],
      concern: "operator"
    })
  ),
  HttpApiEndpoint.get("funds", "/reports/funds", {
    query: {
      ...ofOperator,
      at: Schema.optionalKey(
        date.annotate({ description: "A past day: what they held when it began, UTC (as it was read last)." })
      )
    },
    success: list(Funds)
  }).annotateMerge(
    action("What players hold, by currency and wallet, now or at a past midnight", {
      roles: ["payments", "compliance"],
      concern: "operator"
    })
  ),
  HttpApiEndpoint.get("dormant", "/reports/dormant", {
    query: { ...partQuery, ...ofOperator },
    success: part(DormantAccount)
  }).annotateMerge(
    action("Dormant accounts with their balances, the last registered first", {
      roles: ["payments", "compliance"],
      concern: "operator"
    })
  ),
  HttpApiEndpoint.get("bonuses", "/reports/bonuses", {
    query: { operator: operatorReference, ...reportRange },
    success: list(BonusCost)
  }).annotateMerge(
    action("What bonuses have cost in a range of days, and what running ones may still cost", {
      roles: ["payments", "compliance"],
      concern: "operator"
    })
  )
)

const rate = Schema.Number.annotate({ description: "One unit of the currency in units of the base." }).check(
  Schema.isBetween({ minimum: 1e-9, maximum: 1e9 }, { message: "must be between 0.000000001 and 1000000000" })
)

export const RateGroup = HttpApiGroup.make("rate").annotate(OpenApi.Description, "Exchange rates").add(
  HttpApiEndpoint.post("set", "/rates", {
    payload: Schema.Struct({
      currency: currency.annotate({ description: "ISO 4217 code of the players' currency." }),
      base: currency.annotate({ description: "ISO 4217 code of the operator's currency." }),
      rate
    }),
    success: created(ExchangeRate)
  }).annotateMerge(action("Set a rate for what is written from now on", {
    // not `payments`, which approves withdrawals: a rate decides which of them need two approvals
    roles: ["compliance"],
    concern: "installation",
    is: "authority"
  })),
  HttpApiEndpoint.get("list", "/rates", {
    query: {
      ...partQuery,
      currency: Schema.optionalKey(currency.annotate({ description: "ISO 4217 code of the players' currency." })),
      base: Schema.optionalKey(currency.annotate({ description: "ISO 4217 code of the operator's currency." }))
    },
    success: part(ExchangeRate)
  }).annotateMerge(action("Rates, newest first", { roles: anyRole, concern: "catalogue" }))
)
