/**
 * GGR (gross gaming revenue) report of an operator over a range of days (SPEC section 4.8), from the sums that commits maintain
 * (`docs/decisions/0018-reports.md`). The ledger is not read.
 */
import { Context, Effect, Layer, Schema } from "effect"
import { maxReportDays } from "../../domain/state/Activity.ts"
import { dayOf } from "../../domain/state/ReportCounts.ts"
import { type Refusal, refuse, refuseFields } from "../../domain/Refusal.ts"
import { ReportClient } from "../../platform/Database.ts"
import { parseIso } from "../../platform/Time.ts"
import { ReportConcurrency } from "../../platform/ReportConcurrency.ts"
import { oneOf, orTryAgain, rowsOf } from "../../store/Rows.ts"
import { type GgrFields, ggrReport, groupFigures, GroupSums, noSums } from "./GgrReport.ts"
import { reportText } from "./internal/ReportQuery.ts"

export interface ReportQuery {
  /** First and last day, `YYYY-MM-DD`, UTC; days of the calendar. */
  readonly from: string
  readonly to: string
  readonly includeTestPlayers: boolean
}

const listOf = <S extends Schema.Constraint>(schema: S) => Schema.NullOr(Schema.Array(schema))

const ReportRow = Schema.Struct({
  currency: Schema.String,
  totals: listOf(GroupSums),
  types: listOf(Schema.Struct({ ...GroupSums.fields, isLive: Schema.Boolean })),
  providers: listOf(Schema.Struct({ ...GroupSums.fields, providerId: Schema.Number, provider: Schema.String })),
  unconverted: listOf(Schema.Struct({ ...groupFigures, currency: Schema.String, entries: Schema.Number })),
  players: listOf(Schema.Struct({ kind: Schema.String, players: Schema.Number })),
  registered: Schema.Number
})

const reportRows = rowsOf(ReportRow)

const notFound = refuse("NOT_FOUND", "There is no such operator.")

/** Refusal of an invalid range, by field; undefined when valid. */
const refuseRange = ({ from, to }: ReportQuery): Refusal<"VALIDATION_FAILED"> | undefined => {
  const [first, last] = [parseIso(from), parseIso(to)]
  if (first === undefined || last === undefined) return refuseFields({ from: ["must be a date like 2026-11-20"] })
  if (last < first) return refuseFields({ to: ["must not be before from"] })
  return dayOf(last) - dayOf(first) >= maxReportDays
    ? refuseFields({ to: [`must be within ${maxReportDays} days from from, both included`] })
    : undefined
}

export const tooManyReports = refuse("TRY_AGAIN", "Too many reports are being made. Send the same request again.", {
  retry: "same_request"
})

export class Reports extends Context.Service<Reports, {
  /**
   * GGR report of an operator over a range of days, in the operator's currency. It waits for its turn up to ten seconds; after that, or with fifty
   * waiting, it fails with `TRY_AGAIN`.
   */
  readonly ggr: (
    operatorId: number,
    query: ReportQuery
  ) => Effect.Effect<GgrFields, Refusal<"VALIDATION_FAILED" | "NOT_FOUND" | "TRY_AGAIN">>
}>()("pitboss/reports/Reports") {
  static readonly layer = Layer.effect(
    Reports,
    Effect.gen(function*() {
      const sql = yield* ReportClient
      const limitConcurrency = yield* ReportConcurrency

      const ggr = Effect.fn("Reports.ggr")(function*(operatorId: number, query: ReportQuery) {
        const refusal = refuseRange(query)
        if (refusal !== undefined) return yield* Effect.fail(refusal)
        const { from, includeTestPlayers, to } = query
        const row = yield* oneOf(
          reportRows(sql.unsafe(reportText, [String(operatorId), from, to, includeTestPlayers])).pipe(
            limitConcurrency(tooManyReports)
          )
        )
        if (row === undefined) return yield* Effect.fail(notFound)
        return ggrReport({ from, to, currency: row.currency, include_test_players: includeTestPlayers }, {
          total: row.totals?.[0] ?? noSums,
          byType: row.types ?? [],
          byProvider: row.providers ?? [],
          unconverted: row.unconverted ?? [],
          players: new Map((row.players ?? []).map(({ kind, players }) => [kind, players])),
          registered: row.registered
        })
      }, orTryAgain)

      return Reports.of({ ggr })
    })
  )
}
