import { columnName, columnsOf, formatErrors, formatFigure, formatValue, groupsOf, meetsLimit } from "./Format.ts"
import { describe } from "./Machine.ts"
import type { Measurement, Result } from "./Result.ts"
import { renderTable } from "./Table.ts"

const verdict = (met: boolean | undefined): string => met === undefined ? "" : met ? " ✓" : " ✗"

const renderGroup = (group: string, rows: ReadonlyArray<Measurement>): string => {
  const columns = columnsOf(rows)
  const hasErrors = rows.some(({ errors }) => Object.keys(errors).length > 0)
  return renderTable(
    [group, ...columns.map(columnName), ...(hasErrors ? ["errors"] : [])],
    rows.map(({ errors, figures, name }) => [
      name,
      ...columns.map((column) => {
        const found = figures.find((figure) => figure.name === column.name)
        return found === undefined ? "" : `${formatFigure(found)}${verdict(meetsLimit(found))}`
      }),
      ...(hasErrors ? [formatErrors(errors)] : [])
    ])
  )
}

/** Reported latency percentiles, as shares. */
const shares = [0.5, 0.9, 0.99, 0.999, 0.9999] as const

/** Latency of all rounds together, as far into the tail as the number of requests tells. */
const renderCurves = (rows: ReadonlyArray<Measurement>): ReadonlyArray<string> => {
  const found = rows.filter(({ curve = [] }) => curve.length > 0)
  const at = (curve: Measurement["curve"], share: number) => curve?.find(([reached]) => reached >= share - 1e-7)?.[1]
  return found.length === 0 ? [] : [renderTable(
    ["latency, ms, by share of requests", ...shares.map((share) => `${Number((share * 100).toFixed(2))}%`)],
    found.map(({ curve, name }) => [
      name,
      ...shares.map((share) => {
        const ms = at(curve, share)
        return ms === undefined ? "" : formatValue("ms", ms)
      })
    ])
  )]
}

const parts = 10

/** Answers per second in the tenths of the middle round, failures apart. */
const renderTimelines = (rows: ReadonlyArray<Measurement>): ReadonlyArray<string> => {
  const lines = rows.flatMap(({ name, timeline }) => {
    if (timeline === undefined) return []
    const { failed, processed, slot_ms } = timeline
    const perSecond = (counts: ReadonlyArray<number>) =>
      Array.from({ length: parts }, (_, part) => {
        const slots = counts.slice(
          Math.floor(part * counts.length / parts),
          Math.floor((part + 1) * counts.length / parts)
        )
        const seconds = slots.length * slot_ms / 1000
        return seconds === 0 ? "" : formatValue("/s", slots.reduce((sum, count) => sum + count, 0) / seconds)
      })
    return [
      [name, ...perSecond(processed)],
      ...(failed.some((count) => count > 0) ? [[`${name}, failed`, ...perSecond(failed)]] : [])
    ]
  })
  const names = Array.from({ length: parts }, (_, part) => `${part * 10}%`)
  return lines.length === 0 ? [] : [renderTable(["answers/s in the course of a round", ...names], lines)]
}

/** Results one after the other, with their latency by percentile and their course over time: Markdown that needs nothing else. */
export const renderPage = (results: ReadonlyArray<Result>): string =>
  [
    "# Pitboss benchmarks",
    "Figures are the median of the rounds, lowest to highest in parentheses. Compare ratios, and figures of one run: on another day " +
    "or machine all of them move. Service, PostgreSQL and load generator share the machine. Method and words: docs/benchmarks.md",
    ...results.flatMap((result) => [
      `## ${result.title}`,
      `${result.started_at}, revision ${result.revision ?? "unknown"}`,
      [
        "```",
        renderText(result),
        ...groupsOf(result.measurements).flatMap(([group, rows]) => {
          const tables = [...renderCurves(rows), ...renderTimelines(rows)]
          return tables.length === 0 ? [] : [`\n${group}`, ...tables]
        }),
        `\noptions ${JSON.stringify(result.options)}`,
        "```"
      ].join("\n")
    ])
  ].join("\n\n") + "\n"

/** A result as it is printed at the end: where, how, and a table per group. */
export const renderText = (result: Result): string =>
  [
    result.title,
    describe(result.machine),
    Object.entries(result.postgres).map(([name, value]) => `${name}=${value}`).join("  "),
    ...result.method,
    ...groupsOf(result.measurements).map(([group, rows]) => `\n${renderGroup(group, rows)}`),
    "",
    ...result.headlines.map(({ label, value }) => `${value}  ${label}`)
  ].join("\n")
