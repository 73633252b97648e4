/** Line chart of figures over time. Loaded lazily with its page. */
import { Paper, useComputedColorScheme } from "@mantine/core"
import { useElementSize } from "@mantine/hooks"
import { useEffect, useRef } from "react"
import UPlot from "uplot"
import "uplot/dist/uPlot.min.css"
import { locale } from "../app/locale.ts"

/** Point: an instant (ISO 8601) and a figure. */
export interface Point {
  readonly at: string
  /** Null: not known. */
  readonly value: number | null
}

/** Resolves a theme colour, which differs between light and dark. */
const colorOf = (name: string): string => getComputedStyle(document.documentElement).getPropertyValue(name).trim()

/** Chart. `label`: accessible description; a table beside it has the figures. `format`: formats a figure. */
export default function Chart(
  { before, format, height = 220, label, points, timeZone, unit }: {
    readonly label: string
    readonly unit: string
    readonly points: ReadonlyArray<Point>
    readonly format: (value: number) => string
    readonly timeZone: string
    readonly height?: number
    /** Figures to compare with, one for each point. */
    readonly before?: { readonly unit: string; readonly values: ReadonlyArray<number | null> }
  }
) {
  const { ref, width } = useElementSize()
  const scheme = useComputedColorScheme()
  const container = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (container.current === null || width === 0) return
    const text = colorOf("--mantine-color-text")
    const grid = colorOf("--mantine-color-default-border")
    const font = `12px ${getComputedStyle(document.body).fontFamily}`
    const pen = document.createElement("canvas").getContext("2d")
    if (pen !== null) pen.font = font
    const widthOf = (label: string): number => pen?.measureText(label).width ?? 0
    const axis = { font, stroke: text, grid: { stroke: grid, width: 1 }, ticks: { stroke: grid, width: 1 } }
    const [first, last] = [points[0], points.at(-1)]
    if (first === undefined || last === undefined) return
    const isOfDays = Date.parse(last.at) - Date.parse(first.at) > 3 * 86_400_000
    const moment = new Intl.DateTimeFormat(
      locale,
      isOfDays ? { day: "numeric", month: "short", timeZone } : { hour: "2-digit", minute: "2-digit", timeZone }
    )
    const exact = new Intl.DateTimeFormat(
      locale,
      isOfDays ? { dateStyle: "medium", timeZone } : { dateStyle: "medium", timeStyle: "short", timeZone }
    )
    const shown = (value: number | null | undefined) => value === null || value === undefined ? "–" : format(value)
    const chart = new UPlot(
      {
        width,
        height,
        // the last label of the axis stays inside
        padding: [12, 32, 0, 0],
        tzDate: (seconds) => UPlot.tzDate(new Date(seconds * 1000), timeZone),
        legend: { live: true },
        axes: [{ ...axis, space: 70, values: (_, times) => times.map((seconds) => moment.format(seconds * 1000)) }, {
          ...axis,
          // as wide as its longest label, which is drawn inside
          size: (_, labels) => 16 + Math.max(24, ...(labels ?? []).map((each) => Math.ceil(widthOf(each)))),
          values: (_, values) => values.map(format)
        }],
        // of the last point, unless another one is hovered
        series: [
          { label: "At", value: (_, seconds) => exact.format((seconds ?? Date.parse(last.at) / 1000) * 1000) },
          {
            label: unit,
            stroke: colorOf("--mantine-primary-color-filled"),
            width: 2,
            points: { show: points.length < 40 },
            value: (_, value) => shown(value ?? last.value)
          },
          ...(before === undefined ? [] : [{
            label: before.unit,
            stroke: text,
            width: 1,
            dash: [4, 4],
            value: (_: UPlot, value: number | null) => shown(value ?? before.values.at(-1))
          }])
        ]
      },
      [
        points.map(({ at }) => Date.parse(at) / 1000),
        points.map(({ value }) => value),
        ...(before === undefined ? [] : [points.map((_, index) => before.values[index] ?? null)])
      ],
      container.current
    )
    return () => chart.destroy()
  }, [before, format, height, points, scheme, timeZone, unit, width])
  return (
    <Paper withBorder p="xs" ref={ref} role="img" aria-label={label}>
      <div ref={container} className="chart" />
    </Paper>
  )
}
