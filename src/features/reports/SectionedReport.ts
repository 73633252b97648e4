/** All sections of an operator's report in one list, which the reports page exports as one file. */
import { Context, Effect, Layer } from "effect"
import type { Refusal } from "../../domain/Refusal.ts"
import type { ReportSections } from "../../contract/reports/SeriesResource.ts"
import { BonusCosts } from "./BonusCosts.ts"
import type { Days } from "./Days.ts"
import { KeyFigures } from "./KeyFigures.ts"
import { Reports } from "./Reports.ts"

type Row = (typeof ReportSections.Type)["rows"][number]

const nothing = {
  provider: null,
  type: null,
  at: null,
  bets: null,
  wins: null,
  ggr: null,
  bonus_bets: null,
  bonus_conversions: null,
  net_gaming_revenue: null,
  deposits: null,
  withdrawals: null,
  rounds: null,
  players: null,
  registered: null,
  held: null,
  granted: null,
  granted_amount: null,
  converted: null,
  forfeited: null,
  running: null,
  liability: null
} satisfies Partial<Row>

export class SectionedReport extends Context.Service<SectionedReport, {
  /**
   * The sections of a range of days in their order; funds and liabilities as of now. Days of the operator's own zone are there where it is not UTC, and
   * test players are left out.
   */
  readonly sections: (
    operatorId: number,
    days: Days
  ) => Effect.Effect<typeof ReportSections.Type, Refusal<"VALIDATION_FAILED" | "NOT_FOUND" | "TRY_AGAIN">>
}>()("pitboss/reports/SectionedReport") {
  static readonly layer = Layer.effect(
    SectionedReport,
    Effect.gen(function*() {
      const reports = yield* Reports
      const figures = yield* KeyFigures
      const costs = yield* BonusCosts

      const sections = Effect.fn("SectionedReport.sections")(function*(operatorId: number, days: Days) {
        const { casino, currency, net_gaming_revenue: net, players, unconverted } = yield* reports.ggr(operatorId, days)
        const groups = yield* figures.breakdown(operatorId, "all", days)
        const local = days.includeTestPlayers ? undefined : yield* figures.localDays(operatorId, days)
        const held = yield* figures.funds([operatorId])
        const bonuses = yield* costs.report(operatorId, days)
        const ofGroup = (by: (typeof groups.rows)[number]["by"]): ReadonlyArray<Row> =>
          groups.rows.filter((row) => row.by === by).map((row): Row => {
            const { bets, bonus_bets, ggr, key, name, provider, rounds, wins } = row
            const shown = {
              ...nothing,
              section: by,
              key,
              name,
              provider,
              currency,
              bets,
              wins,
              ggr,
              bonus_bets,
              rounds
            }
            const { bonus_conversions, deposits, withdrawals } = row
            return by === "game"
              ? { ...shown, at: groups.as_of }
              : by === "type" || by === "provider"
              ? shown
              : { ...shown, bonus_conversions, net_gaming_revenue: ggr - bonus_conversions, deposits, withdrawals }
          })
        return {
          operator_id: operatorId,
          unconverted: unconverted.map(({ currency: own }) => own),
          rows: [
            ...ofGroup("total").map((row) => ({
              ...row,
              net_gaming_revenue: net,
              players: casino.players,
              registered: players.registered
            })),
            ...ofGroup("month"),
            ...ofGroup("day"),
            ...(local === undefined || local.offset_hours === 0 ? [] : local.rows).map((
              { day, from: _, until: __, ...row }
            ) => ({
              ...nothing,
              section: "local_day" as const,
              key: day,
              name: day,
              currency,
              ...row
            })),
            ...ofGroup("type"),
            ...ofGroup("provider"),
            ...ofGroup("game"),
            ...held.map(({ amount, at, currency: own, players: holders, wallet }) => ({
              ...nothing,
              section: "funds" as const,
              key: wallet,
              name: wallet,
              currency: own,
              at,
              players: holders,
              held: amount
            })),
            ...bonuses.map(({ bonus_id: id, liability_at: at, name, ...cost }) => ({
              ...nothing,
              section: "bonus" as const,
              key: String(id),
              name,
              at,
              ...cost
            }))
          ]
        }
      })

      return SectionedReport.of({ sections })
    })
  )
}
