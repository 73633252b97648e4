import type { Figure, Headline, Measurement } from "./Result.ts"
import { spread } from "./Statistics.ts"

const grouped = (value: number): string => Math.round(value).toLocaleString("en-US")

const upToThreeDigits = (value: number): string =>
  Math.abs(value) >= 100 ? grouped(value) : Math.abs(value) >= 10 ? value.toFixed(1) : value.toFixed(2)

/** A value as people read it, without its unit. */
export const formatValue = (unit: Figure["unit"], value: number): string => {
  switch (unit) {
    case "/s":
    case "bytes":
    case "MiB":
      return grouped(value)
    case "×":
      return `${value.toFixed(2)}×`
    case "%":
      return value < 1 && value > 0 ? value.toFixed(1) : grouped(value)
    default:
      return upToThreeDigits(value)
  }
}

/** The middle, and the lowest and highest where there were several rounds. */
export const formatFigure = ({ unit, values }: Figure): string => {
  if (values.length === 0) return ""
  const { max, median, min } = spread(values)
  const format = (value: number) => formatValue(unit, value)
  return min === max ? format(median) : `${format(median)} (${format(min)}–${format(max)})`
}

/** A formatted value with its unit. */
export const withUnit = (unit: Figure["unit"], value: string): string =>
  unit === "×" || unit === "" ? value : unit === "/s" || unit === "%" ? `${value}${unit}` : `${value} ${unit}`

/** Headline of a figure: median with unit, and range with the label. */
export const headlineOf = (found: Figure | undefined, label: string): ReadonlyArray<Headline> => {
  if (found === undefined || found.values.length === 0) return []
  const { unit, values } = found
  const { max, median, min } = spread(values)
  const format = (value: number) => formatValue(unit, value)
  const range = min === max ? "" : ` (${format(min)}–${format(max)})`
  return [{ value: withUnit(unit, format(median)), label: `${label}${range}` }]
}

/** Whether the middle is within the limit; undefined where there is none. */
export const meetsLimit = ({ better, limit, values }: Figure): boolean | undefined => {
  if (limit === undefined) return undefined
  const { median } = spread(values)
  return better === "higher" ? median >= limit : median <= limit
}

/** The name of a column: most units are part of it. */
export const columnName = ({ name, unit }: Pick<Figure, "name" | "unit">): string =>
  unit === "" || unit === "×" ? name : unit === "/s" ? `${name}/s` : `${name}, ${unit}`

export const formatErrors = (errors: Measurement["errors"]): string => {
  const entries = Object.entries(errors)
  return entries.length === 0 ? "" : entries.map(([code, count]) => `${grouped(count)} ${code}`).join(", ")
}

/** Groups in the order in which they first come. */
export const groupsOf = (
  measurements: ReadonlyArray<Measurement>
): ReadonlyArray<readonly [group: string, rows: ReadonlyArray<Measurement>]> =>
  [...new Set(measurements.map(({ group }) => group))].map((group) => [
    group,
    measurements.filter((measurement) => measurement.group === group)
  ])

/** The figures that any row of a group has, in order. */
export const columnsOf = (rows: ReadonlyArray<Measurement>): ReadonlyArray<Pick<Figure, "name" | "unit">> => {
  const columns = new Map<string, Pick<Figure, "name" | "unit">>()
  for (const { figures } of rows) for (const { name, unit } of figures) columns.set(name, { name, unit })
  return [...columns.values()]
}
