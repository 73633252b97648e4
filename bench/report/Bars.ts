/** Figures with a limit, of the runs of one checkout or two: how far each is from its limit, what changed, and the noise between rounds. */
import { formatFigure, formatValue, meetsLimit, withUnit } from "./Format.ts"
import { describe } from "./Machine.ts"
import type { Figure, Result } from "./Result.ts"
import { median, spread } from "./Statistics.ts"
import { renderTable } from "./Table.ts"

/** Whose service is measured. */
export type Side = "today" | "before"

/** One run of a scenario: its result, or why there is none. */
export interface BarRun {
  readonly side: Side
  readonly scenario: string
  readonly outcome: Result | string
}

interface Bar {
  /** Scenario, group, row and figure. */
  readonly name: string
  /** With the values of all rounds: none where no run gave one. */
  readonly today: Figure
  readonly before: Figure
  /** Today's median by that of before, less one. */
  readonly change: number | undefined
  /** Range of the rounds by their median, the larger of both sides'; undefined where a side has a single round. */
  readonly noise: number | undefined
}

const finite = (value: number): number | undefined => Number.isFinite(value) ? value : undefined

const rangeOf = ({ values }: Figure): number => {
  const { max, median, min } = spread(values)
  return values.length < 2 ? Number.NaN : (max - min) / median
}

/** The bars of all runs, in the order in which they first came. */
export const barsOf = (runs: ReadonlyArray<BarRun>): ReadonlyArray<Bar> => {
  const found = new Map<string, Readonly<Record<Side, Figure>>>()
  for (const { outcome, scenario, side } of runs) {
    for (const { figures, group, name: row } of typeof outcome === "string" ? [] : outcome.measurements) {
      for (const figure of figures.filter(({ limit }) => limit !== undefined)) {
        const name = `${scenario}: ${group}, ${row}, ${figure.name}`
        const none = { ...figure, values: [] }
        const bar = found.get(name) ?? { today: none, before: none }
        found.set(name, { ...bar, [side]: { ...figure, values: [...bar[side].values, ...figure.values] } })
      }
    }
  }
  return [...found].map(([name, { before, today }]) => ({
    name,
    today,
    before,
    change: finite(median(today.values) / median(before.values) - 1),
    noise: finite(Math.max(...[today, before].filter(({ values }) => values.length > 0).map(rangeOf)))
  }))
}

const percent = (share: number): string => `${(share * 100).toFixed(0)}%`

const renderChange = ({ change, noise, today }: Bar): string => {
  if (change === undefined) return ""
  if (noise !== undefined && Math.abs(change) <= noise) return "none"
  const isBetter = change > 0 === (today.better === "higher")
  return `${percent(Math.abs(change))} ${isBetter ? "better" : "worse"}${noise === undefined ? "?" : ""}`
}

const renderBar = (bar: Bar): ReadonlyArray<string> => {
  const { before, name, noise, today } = bar
  const { better, limit = 0, unit } = today
  return [
    name,
    `${better === "higher" ? "≥" : "≤"} ${withUnit(unit, formatValue(unit, limit))}`,
    formatFigure(today),
    formatFigure(before),
    renderChange(bar),
    noise === undefined ? "?" : percent(noise),
    today.values.length === 0 ? "" : meetsLimit(today) === true ? "met" : "missed"
  ]
}

/** Where it was measured, a table of the bars, and in it and below it what failed. */
export const renderBars = (runs: ReadonlyArray<BarRun>): string => {
  const results = (side: Side) =>
    runs.flatMap((run) => run.side === side && typeof run.outcome !== "string" ? [run.outcome] : [])
  const failures = runs.flatMap(({ outcome, scenario, side }) =>
    typeof outcome === "string" ? [{ message: outcome, scenario, side }] : []
  )
  const failed = (scenario: string, side: Side) =>
    failures.some((each) => each.scenario === scenario && each.side === side) ? "failed" : ""
  const [first] = results("today")
  const sides = [...new Set(runs.map(({ side }) => side))]
  return [
    sides.map((side) => `${side}: revision ${results(side)[0]?.revision ?? "unknown"}`).join("; "),
    ...(first === undefined ? [] : [describe(first.machine)]),
    "",
    renderTable(
      ["bar", "aim", "today", "before", "change", "noise", ""],
      [
        ...barsOf(runs).map(renderBar),
        ...[...new Set(failures.map(({ scenario }) => scenario))].map((scenario) => [
          scenario,
          "",
          failed(scenario, "today"),
          failed(scenario, "before")
        ])
      ]
    ),
    "",
    "Medians of the rounds, lowest to highest in parentheses. Noise: the range of the rounds by their median, the larger of both sides'; a change within it is none.",
    ...new Set(failures.map(({ message, scenario, side }) => `${scenario}, ${side}: ${message}`))
  ].join("\n")
}
