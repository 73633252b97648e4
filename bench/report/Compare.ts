import { columnName, formatFigure } from "./Format.ts"
import type { Figure, Measurement, Result } from "./Result.ts"
import { chanceOfDifference, median } from "./Statistics.ts"
import { renderTable } from "./Table.ts"

/** Verdict on a difference between two runs. */
type Word = "better" | "worse" | "within the noise" | "too few rounds to tell"

export interface Comparison {
  readonly group: string
  readonly name: string
  readonly figure: string
  readonly before: Figure
  readonly after: Figure
  /** After divided by before: of the medians, and the lowest and highest of any two rounds. */
  readonly ratio: number
  readonly lowest: number
  readonly highest: number
  /** How likely as clear a difference would be by chance alone. */
  readonly chance: number
  readonly word: Word
}

/** A difference counts when chance would bring one as clear in fewer than so many cases, and it is larger than that. */
const significance = 0.05
const smallest = 0.02

const wordOf = (before: Figure, after: Figure, ratio: number, chance: number): Word => {
  const lowestChance = chanceOfDifference(before.values.map(() => 0), after.values.map(() => 1))
  if (Math.abs(ratio - 1) <= smallest) return "within the noise"
  if (chance >= significance) {
    return lowestChance >= significance && chance <= lowestChance ? "too few rounds to tell" : "within the noise"
  }
  return ratio > 1 === (after.better === "higher") ? "better" : "worse"
}

const compareFigures = (row: Measurement, before: Figure, after: Figure): Comparison => {
  const ratio = median(after.values) / median(before.values)
  const ratios = after.values.flatMap((value) => before.values.map((base) => value / base))
  const chance = chanceOfDifference(before.values, after.values)
  return {
    group: row.group,
    name: row.name,
    figure: columnName(after),
    before,
    after,
    ratio,
    lowest: Math.min(...ratios),
    highest: Math.max(...ratios),
    chance,
    word: wordOf(before, after, ratio, chance)
  }
}

/** Comparison of the figures in both results, in the order of the second. Figures without a better direction are omitted. */
export const compareResults = (before: Result, after: Result): ReadonlyArray<Comparison> =>
  after.measurements.flatMap((row) => {
    const counterpart = before.measurements.find(({ group, name }) => group === row.group && name === row.name)
    return row.figures.flatMap((figure) => {
      const base = counterpart?.figures.find(({ name }) => name === figure.name)
      const comparable = base !== undefined && figure.better !== "neither" && base.values.length > 0 &&
        figure.values.length > 0 && median(base.values) !== 0
      return comparable ? [compareFigures(row, base, figure)] : []
    })
  })

/** Reservations about comparing two runs, one line each. */
export const reservations = (before: Result, after: Result): ReadonlyArray<string> => {
  const notes: Array<string> = []
  if (before.scenario !== after.scenario) {
    notes.push(`these are different scenarios: ${before.scenario}, ${after.scenario}`)
  }
  for (const part of ["cpu", "cores", "kernel", "node", "filesystem"] as const) {
    if (before.machine[part] !== after.machine[part]) {
      notes.push(`another machine: ${part} ${before.machine[part]}, then ${after.machine[part]}`)
    }
  }
  const changed = Object.keys(after.options).filter((name) =>
    JSON.stringify(before.options[name]) !== JSON.stringify(after.options[name])
  )
  if (changed.length > 0) notes.push(`other options: ${changed.join(", ")}`)
  for (const [which, { measurements }] of [["the first", before], ["the second", after]] as const) {
    const disturbed = measurements.filter(({ figures }) =>
      figures.some(({ name, values }) => name === "foreign load" && median(values) > 10)
    )
    if (disturbed.length > 0) notes.push(`${which} was disturbed: foreign load above 10% in ${disturbed.length} rows`)
  }
  return notes
}

/** Both, as a table. */
export const renderComparison = (before: Result, after: Result): string => {
  const rows = compareResults(before, after)
  return [
    `${before.title}: ${before.started_at} (${before.revision ?? "?"}) → ${after.started_at} (${
      after.revision ?? "?"
    })`,
    ...reservations(before, after).map((note) => `note: ${note}`),
    "",
    renderTable(
      ["", "figure", "before", "after", "after ÷ before", "by chance", "so it is"],
      rows.map((row) => [
        `${row.group}, ${row.name}`,
        row.figure,
        formatFigure(row.before),
        formatFigure(row.after),
        `${row.ratio.toFixed(2)}× (${row.lowest.toFixed(2)}–${row.highest.toFixed(2)})`,
        row.chance < 0.001 ? "<0.1%" : `${(row.chance * 100).toFixed(1)}%`,
        row.word
      ])
    ),
    "",
    "Noise: the exact test of Mann and Whitney over the rounds, 5%, and a difference of the medians above 2%. Rounds of one run lie " +
    "close together in time: on a machine that changes from hour to hour, trust the × columns and runs in turn (A B A B)."
  ].join("\n")
}
