import { barChart, type Curve, escapeText, type OverTime, percentileChart, timelineChart } from "./Charts.ts"
import { columnName, columnsOf, formatErrors, formatValue, groupsOf, meetsLimit } from "./Format.ts"
import type { Figure, Measurement, Result } from "./Result.ts"
import { spread } from "./Statistics.ts"

const style = `
:root { color-scheme: light dark; --text: #1c2430; --soft: #5b6675; --line: #e2e6ec; --page: #f6f7f9; --card: #fff;
  --good: #14804a; --bad: #c0332b; --c0: #2563eb; --c1: #d97706; --c2: #8a94a3; --c3: #0d9488; --c4: #9333ea; --c5: #db2777;
  --c6: #65a30d; --c7: #0891b2 }
@media (prefers-color-scheme: dark) { :root { --text: #e5e9f0; --soft: #9aa6b6; --line: #303846; --page: #12161d; --card: #1a202a;
  --good: #4ac285; --bad: #f0736a; --c0: #6ea0ff; --c1: #f2a541; --c2: #8792a3; --c3: #2dd4bf; --c4: #c084fc; --c5: #f472b6;
  --c6: #a3d147; --c7: #38c5e0 } }
* { box-sizing: border-box }
body { margin: 0; background: var(--page); color: var(--text); font: 15px/1.5 system-ui, sans-serif }
main { max-width: 1320px; margin: 0 auto; padding: 28px 24px 60px }
h1 { font-size: 26px; margin: 0 0 4px } h2 { font-size: 20px; margin: 0 0 6px } h3 { font-size: 15px; margin: 26px 0 8px }
p, ul { margin: 0 0 8px } .soft, footer { color: var(--soft) } ul { padding-left: 20px }
nav { margin: 18px 0; display: flex; flex-wrap: wrap; gap: 8px }
nav a { padding: 4px 12px; border: 1px solid var(--line); border-radius: 16px; background: var(--card); color: inherit; text-decoration: none }
section { background: var(--card); border: 1px solid var(--line); border-radius: 10px; padding: 22px 24px; margin: 18px 0 }
.headlines { display: flex; flex-wrap: wrap; gap: 12px; margin: 14px 0 18px }
.headlines div { border: 1px solid var(--line); border-radius: 8px; padding: 10px 16px; min-width: 150px; max-width: 300px }
.headlines b { display: block; font-size: 24px; line-height: 1.2; font-variant-numeric: tabular-nums }
.headlines span { color: var(--soft); font-size: 13px }
.scroll { overflow-x: auto } table { border-collapse: collapse; font-size: 13px; font-variant-numeric: tabular-nums }
th, td { text-align: right; padding: 4px 7px; border-bottom: 1px solid var(--line); white-space: nowrap }
th { color: var(--soft); font-weight: 600; vertical-align: bottom; white-space: normal; max-width: 92px; line-height: 1.25 } th:first-child, td:first-child { text-align: left; padding-left: 0 }
td small { color: var(--soft); font-size: 11px } td.good { color: var(--good) } td.bad { color: var(--bad); font-weight: 600 }
.charts { display: grid; grid-template-columns: repeat(auto-fill, minmax(360px, 1fr)); gap: 20px 28px; margin-top: 14px }
figure { margin: 0; min-width: 0 } figcaption { font-size: 13px; font-weight: 600 } svg { width: 100%; height: auto; display: block }
.legend { display: flex; flex-wrap: wrap; gap: 2px 14px; font-size: 12px; color: var(--soft) }
.legend i { display: inline-block; width: 10px; height: 10px; border-radius: 2px; margin-right: 5px }
.grid { stroke: var(--line) } .tick, .axis, .name, .value { font-size: 11px; fill: var(--soft) } .name, .value { fill: var(--text) }
.line { fill: none; stroke-width: 2; stroke-linejoin: round } .dashed { stroke-dasharray: 3 4 } .whisker { stroke: var(--text); opacity: .75 }
.bar { opacity: .85 } details { margin-top: 16px; font-size: 13px } summary { cursor: pointer; color: var(--soft) }
code { font: 12px ui-monospace, monospace; overflow-wrap: anywhere }
${
  Array.from(
    { length: 8 },
    (_, index) =>
      `.bar.c${index} { fill: var(--c${index}) } .line.c${index} { stroke: var(--c${index}) } i.c${index} { background: var(--c${index}) }`
  ).join("\n")
}
`

const cell = (figure: Figure | undefined): string => {
  if (figure === undefined) return "<td></td>"
  const met = meetsLimit(figure)
  const { max, median, min } = spread(figure.values)
  const format = (value: number) => formatValue(figure.unit, value)
  const range = min === max ? "" : ` <small>${format(min)}–${format(max)}</small>`
  const limit = figure.limit === undefined ? "" : ` title="target: ${format(figure.limit)}"`
  return `<td${met === undefined ? "" : ` class="${met ? "good" : "bad"}"`}${limit}>${format(median)}${range}</td>`
}

const table = (rows: ReadonlyArray<Measurement>): string => {
  const columns = columnsOf(rows)
  const hasErrors = rows.some(({ errors }) => Object.keys(errors).length > 0)
  const head = ["", ...columns.map(columnName), ...(hasErrors ? ["errors"] : [])]
  const lines = rows.map(({ errors, figures, name }) =>
    `<tr><td>${escapeText(name)}</td>${
      columns.map((column) => cell(figures.find((figure) => figure.name === column.name))).join("")
    }${hasErrors ? `<td>${escapeText(formatErrors(errors))}</td>` : ""}</tr>`
  )
  return `<div class="scroll"><table><tr>${head.map((name) => `<th>${escapeText(name)}</th>`).join("")}</tr>${
    lines.join("")
  }</table></div>`
}

const maxBars = 12

/** Bars of the first judged figure of the group, which is what it is about. */
const bars = (rows: ReadonlyArray<Measurement>): ReadonlyArray<string> => {
  const [main] = rows[0]?.figures.filter(({ better }) => better !== "neither") ?? []
  const found = rows.flatMap(({ figures, name }) => {
    const figure = figures.find((candidate) => candidate.name === main?.name)
    return figure === undefined
      ? []
      : [{ name, ...spread(figure.values), text: formatValue(figure.unit, spread(figure.values).median) }]
  })
  return main === undefined || found.length < 2 || found.length > maxBars ? [] : [barChart(columnName(main), found)]
}

const maxCurves = 8

const charts = (rows: ReadonlyArray<Measurement>): string => {
  const curves = rows.flatMap(({ curve, name }): ReadonlyArray<Curve> =>
    curve === undefined || curve.length === 0 ? [] : [{ name, curve }]
  )
  const timelines = rows.flatMap(({ name, timeline }): ReadonlyArray<OverTime> =>
    timeline === undefined ? [] : [{ name, ...timeline }]
  )
  const all = [
    ...bars(rows),
    ...(curves.length === 0 || curves.length > maxCurves ? [] : [percentileChart("Latency by percentile", curves)]),
    ...(timelines.length === 0 || timelines.length > maxCurves
      ? []
      : [timelineChart("Answers per second (failures dashed)", timelines)])
  ]
  return all.length === 0 ? "" : `<div class="charts">${all.join("")}</div>`
}

/** The ratios of all groups side by side: what is compared with a target, not the target itself. */
const ratioCharts = ({ measurements }: Result): string => {
  const names = [
    ...new Set(
      measurements.flatMap(({ figures }) => figures.filter(({ unit }) => unit === "×").map(({ name }) => name))
    )
  ]
  const charts = names.flatMap((name) => {
    const found = measurements.filter((row) => row.name !== "baseline" && row.name !== "ceiling").flatMap((row) => {
      const ratio = row.figures.find((figure) => figure.name === name)
      if (ratio === undefined) return []
      const spreadOf = spread(ratio.values)
      return [{ name: row.group, target: row.name, ...spreadOf, text: formatValue(ratio.unit, spreadOf.median) }]
    })
    return found.length < 2 || found.length > maxBars
      ? []
      : [barChart(`Throughput in relation to the ${name.replace("× ", "")}`, found)]
  })
  return charts.length === 0 ? "" : `<div class="charts">${charts.join("")}</div>`
}

const section = (result: Result, id: string): string =>
  `<section id="${id}"><h2>${escapeText(result.title)}</h2>
<p class="soft">${result.method.map(escapeText).join(" ")}</p>
<div class="headlines">${
    result.headlines.map(({ label, value }) =>
      `<div><b>${escapeText(value)}</b><span>${escapeText(label)}</span></div>`
    )
      .join("")
  }</div>
${ratioCharts(result)}
${
    groupsOf(result.measurements).map(([group, rows]) => `<h3>${escapeText(group)}</h3>${table(rows)}${charts(rows)}`)
      .join("\n")
  }
<details><summary>Settings of this run</summary><p><code>${escapeText(JSON.stringify(result.options))}</code></p>
<p><code>${
    escapeText(Object.entries(result.postgres).map(([name, value]) => `${name}=${value}`).join("  "))
  }</code></p></details></section>`

/** A page that needs nothing beside itself: the machine, and a section per result with its tables and charts. */
export const renderHtml = (results: ReadonlyArray<Result>): string => {
  const [first] = results
  const machine = first?.machine
  const where = machine === undefined
    ? ""
    : `${machine.cpu}, ${machine.cores} cores, ${machine.memory_gib} GiB, ${machine.kernel}, Node.js ${machine.node}, database on ` +
      `${machine.filesystem} (${machine.sync_us} µs per synced write)`
  const ids = results.map(({ scenario }, index) => `${scenario}-${index + 1}`)
  const links = results.map(({ title }, index) =>
    `<a href="#${ids[index] ?? ""}">${escapeText(title.replace(/:.*/, ""))}</a>`
  )
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Pitboss benchmarks</title><style>${style}</style></head><body><main>
<h1>Pitboss benchmarks</h1>
<p class="soft">${escapeText(first?.started_at.slice(0, 16).replace("T", " ") ?? "")} UTC, revision ${
    escapeText(first?.revision ?? "unknown")
  }. ${escapeText(where)}. Service, PostgreSQL and load generator share the machine.</p>
<p class="soft">Figures are the median of the rounds, lowest–highest beside it. Compare ratios, and figures of one run: on another day
or machine all of them move.</p>
${results.length > 1 ? `<nav>${links.join("")}</nav>` : ""}
${results.map((result, index) => section(result, ids[index] ?? "")).join("\n")}
<footer>Method and words: docs/benchmarks.md</footer>
</main></body></html>
`
}
