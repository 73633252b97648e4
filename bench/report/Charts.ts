/** Charts as SVG text. Colours are classes of the page's style, so that they follow its light and dark sides. */

export const escapeText = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll("\"", "&quot;")

interface Box {
  readonly width: number
  readonly height: number
  readonly left: number
  readonly right: number
  readonly top: number
  readonly bottom: number
}

const box: Box = { width: 440, height: 270, left: 62, right: 14, top: 10, bottom: 40 }

/** Places of the page's palette: targets keep their colour in every chart. */
const ownColours: Readonly<Record<string, number>> = { pitboss: 0, baseline: 1, ceiling: 2 }
const colours = 8

/** A class per series, the same for a name wherever it appears in the group. */
const colourOf = (names: ReadonlyArray<string>, name: string): string => {
  const own = ownColours[name]
  if (own !== undefined) return `c${own}`
  const others = names.filter((other) => ownColours[other] === undefined)
  const offset = others.length < names.length ? 3 : 0
  return `c${(offset + Math.max(0, others.indexOf(name))) % colours}`
}

const round = (value: number): string => value.toFixed(1)

const line = (x1: number, y1: number, x2: number, y2: number, kind: string): string =>
  `<line class="${kind}" x1="${round(x1)}" y1="${round(y1)}" x2="${round(x2)}" y2="${round(y2)}"/>`

const label = (x: number, y: number, text: string, anchor: "start" | "middle" | "end", kind = "tick"): string =>
  `<text class="${kind}" x="${round(x)}" y="${round(y)}" text-anchor="${anchor}">${escapeText(text)}</text>`

const figureElement = (title: string, height: number, content: ReadonlyArray<string>, legend: string): string =>
  `<figure><figcaption>${
    escapeText(title)
  }</figcaption>${legend}<svg viewBox="0 0 ${box.width} ${height}" role="img" aria-label="${escapeText(title)}">${
    content.join("")
  }</svg></figure>`

const legendOf = (names: ReadonlyArray<string>): string =>
  names.length < 2
    ? ""
    : `<div class="legend">${
      names.map((name) => `<span><i class="${colourOf(names, name)}"></i>${escapeText(name)}</span>`).join("")
    }</div>`

interface Line {
  readonly name: string
  readonly points: ReadonlyArray<readonly [x: number, y: number]>
  readonly dashed?: boolean
}

interface Tick {
  readonly at: number
  readonly text: string
}

/** Lines over two axes whose ticks are given in the units of the points. */
const lineChart = (
  title: string,
  lines: ReadonlyArray<Line>,
  x: { readonly ticks: ReadonlyArray<Tick>; readonly to: number; readonly name: string },
  y: { readonly ticks: ReadonlyArray<Tick>; readonly from: number; readonly to: number; readonly name: string }
): string => {
  const { bottom, height, left, right, top, width } = box
  const place = (value: number) => left + value / x.to * (width - left - right)
  const level = (value: number) => height - bottom - (value - y.from) / (y.to - y.from) * (height - top - bottom)
  const names = [...new Set(lines.map(({ name }) => name))]
  const grid = [
    ...y.ticks.flatMap(({ at, text }) => [
      line(left, level(at), width - right, level(at), "grid"),
      label(left - 6, level(at) + 4, text, "end")
    ]),
    ...x.ticks.flatMap(({ at, text }) => [
      line(place(at), top, place(at), height - bottom, "grid"),
      label(place(at), height - bottom + 15, text, "middle")
    ]),
    label(left + (width - left - right) / 2, height - 6, x.name, "middle", "axis"),
    `<text class="axis" transform="translate(12 ${
      round(top + (height - top - bottom) / 2)
    }) rotate(-90)" text-anchor="middle">${escapeText(y.name)}</text>`
  ]
  const paths = lines.filter(({ points }) => points.length > 0).map(({ dashed, name, points }) =>
    `<path class="line ${colourOf(names, name)}${dashed === true ? " dashed" : ""}" d="M${
      points.map(([at, value]) => `${round(place(at))} ${round(level(value))}`).join("L")
    }"><title>${escapeText(name)}</title></path>`
  )
  return figureElement(title, height, [...grid, ...paths], legendOf(names))
}

const nines = (share: number): number => -Math.log10(1 - share)

const shareTicks: ReadonlyArray<readonly [share: number, text: string]> = [
  [0, "0"],
  [0.5, "50%"],
  [0.9, "90%"],
  [0.99, "99%"],
  [0.999, "99.9%"],
  [0.9999, "99.99%"],
  [0.99999, "99.999%"]
]

const decimal = (value: number): string => value >= 1 ? String(Math.round(value)) : String(Number(value.toPrecision(1)))

/** Powers of ten and, where they are few, their 2nd and 5th multiples, on a logarithmic axis. */
const logTicks = (from: number, to: number): ReadonlyArray<Tick> => {
  const decades = Array.from({ length: Math.floor(to) - Math.floor(from) + 1 }, (_, index) => Math.floor(from) + index)
  const factors = to - from <= 3 ? [1, 2, 5] : [1]
  return decades.flatMap((decade) => factors.map((factor) => factor * 10 ** decade))
    .map((value) => ({ at: Math.log10(value), text: decimal(value) }))
    .filter(({ at }) => at >= from - 1e-9 && at <= to + 1e-9)
}

export interface Curve {
  readonly name: string
  readonly curve: ReadonlyArray<readonly [share: number, ms: number]>
}

/** Latency by the share of requests that did not exceed it: both axes logarithmic, so that the tail is as wide as the rest. */
export const percentileChart = (title: string, curves: ReadonlyArray<Curve>): string => {
  const values = curves.flatMap(({ curve }) => curve.map(([, ms]) => Math.max(ms, 0.001)))
  const from = Math.log10(Math.min(...values)) - 0.05
  const to = Math.max(Math.log10(Math.max(...values)) + 0.05, from + 0.5)
  const widest = Math.max(1, ...curves.flatMap(({ curve }) => curve.map(([share]) => nines(share))))
  return lineChart(
    title,
    curves.map(({ curve, name }) => ({
      name,
      points: curve.map(([share, ms]) => [nines(share), Math.log10(Math.max(ms, 0.001))] as const)
    })),
    {
      name: "share of requests, the tail stretched",
      to: widest,
      ticks: shareTicks.map(([share, text]) => ({ at: nines(share), text })).filter(({ at }) => at <= widest + 1e-9)
    },
    { name: "latency, ms", from, to, ticks: logTicks(from, to) }
  )
}

/** A round number near a fifth of the range. */
const stepFor = (range: number): number => {
  const rough = range / 5
  const power = 10 ** Math.floor(Math.log10(rough))
  return ([1, 2, 5, 10].find((factor) => factor * power >= rough) ?? 10) * power
}

const linearTicks = (to: number): ReadonlyArray<Tick> => {
  const step = stepFor(to)
  return Array.from({ length: Math.floor(to / step + 1e-9) + 1 }, (_, index) => ({
    at: index * step,
    text: (Number((index * step).toPrecision(6))).toLocaleString("en-US")
  }))
}

export interface OverTime {
  readonly name: string
  readonly slot_ms: number
  readonly processed: ReadonlyArray<number>
  readonly failed: ReadonlyArray<number>
}

/** Slots put together until there are at most this many points. */
const maxPoints = 120

const perSecond = (counts: ReadonlyArray<number>, slot_ms: number): Line["points"] => {
  const width = Math.max(1, Math.ceil(counts.length / maxPoints))
  return Array.from({ length: Math.floor(counts.length / width) }, (_, index) => {
    const sum = counts.slice(index * width, (index + 1) * width).reduce((total, count) => total + count, 0)
    return [(index + 0.5) * width * slot_ms / 1000, sum * 1000 / (width * slot_ms)] as const
  })
}

/** Answers per second as time goes on; what failed is dashed. */
export const timelineChart = (title: string, series: ReadonlyArray<OverTime>): string => {
  const lines = series.flatMap(({ failed, name, processed, slot_ms }): ReadonlyArray<Line> => [
    { name, points: perSecond(processed, slot_ms) },
    ...(failed.some((count) => count > 0) ? [{ name, points: perSecond(failed, slot_ms), dashed: true }] : [])
  ])
  const highest = Math.max(1, ...lines.flatMap(({ points }) => points.map(([, value]) => value))) * 1.05
  const seconds = Math.max(...series.map(({ processed, slot_ms }) => processed.length * slot_ms / 1000))
  return lineChart(
    title,
    lines,
    { name: "seconds of the round", to: seconds, ticks: linearTicks(seconds) },
    { name: "per second", from: 0, to: highest, ticks: linearTicks(highest) }
  )
}

export interface Bar {
  readonly name: string
  readonly median: number
  readonly min: number
  readonly max: number
  readonly text: string
  /** Whose it is, when not that of its name. */
  readonly target?: string
}

const barHeight = 22
const barGap = 10

/** Medians as bars, with the lowest and highest round as whiskers. */
export const barChart = (title: string, bars: ReadonlyArray<Bar>): string => {
  const left = Math.min(215, 16 + 6.2 * Math.max(...bars.map(({ name }) => name.length)))
  const right = 16 + 6.4 * Math.max(...bars.map(({ text }) => text.length))
  const highest = Math.max(...bars.map(({ max }) => max), Number.MIN_VALUE)
  const width = (value: number) => Math.max(0, value) / highest * (box.width - left - right)
  const names = bars.map(({ name }) => name)
  const height = bars.length * (barHeight + barGap) + barGap
  const content = bars.flatMap(({ max, median, min, name, target = name, text }, index) => {
    const y = barGap + index * (barHeight + barGap)
    const middle = y + barHeight / 2
    return [
      label(left - 8, middle + 4, name, "end", "name"),
      `<rect class="bar ${colourOf(names, target)}" x="${round(left)}" y="${round(y)}" width="${
        round(Math.max(1, width(median)))
      }" height="${barHeight}" rx="2"/>`,
      ...(min === max ? [] : [
        line(left + width(min), middle, left + width(max), middle, "whisker"),
        line(left + width(min), middle - 5, left + width(min), middle + 5, "whisker"),
        line(left + width(max), middle - 5, left + width(max), middle + 5, "whisker")
      ]),
      label(left + width(max) + 8, middle + 4, text, "start", "value")
    ]
  })
  return figureElement(title, height, content, "")
}
