/**
 * What a service measures of itself where it is hot: plain numbers in memory, written as Prometheus reads them only when somebody
 * asks. An observation is a few array accesses; nothing is allocated.
 */

/** Counts observations by size. */
export class Histogram {
  readonly bounds: ReadonlyArray<number>
  private readonly counts: Float64Array
  private total = 0

  /** `bounds` rise; what is larger than the last is counted apart. */
  constructor(bounds: ReadonlyArray<number>) {
    this.bounds = bounds
    this.counts = new Float64Array(bounds.length + 1)
  }

  observe(value: number): void {
    let low = 0
    let high = this.bounds.length
    while (low < high) {
      const middle = (low + high) >> 1
      if (value <= (this.bounds[middle] ?? 0)) high = middle
      else low = middle + 1
    }
    this.counts[low] = (this.counts[low] ?? 0) + 1
    this.total += value
  }

  /** How many were observed. */
  get count(): number {
    return this.counts.reduce((sum, count) => sum + count, 0)
  }

  get sum(): number {
    return this.total
  }

  /** How many were at most each bound, in the order of the bounds. */
  cumulative(): ReadonlyArray<number> {
    let sum = 0
    return this.bounds.map((_, index) => sum += this.counts[index] ?? 0)
  }
}

/** `first`, and each next one twice the one before. */
export const doubling = (first: number, count: number): ReadonlyArray<number> =>
  Array.from({ length: count }, (_, index) => first * 2 ** index)

export type Labels = { readonly [name: string]: string }

export type Sample = readonly [labels: Labels, value: number]

/** Measures of one name. Names carry their unit; counters end in `_total`. */
export type Family =
  | {
    readonly type: "counter" | "gauge"
    readonly name: string
    readonly help: string
    readonly samples: ReadonlyArray<Sample>
  }
  | {
    readonly type: "histogram"
    readonly name: string
    readonly help: string
    readonly samples: ReadonlyArray<readonly [labels: Labels, histogram: Histogram]>
  }

const escaped = (value: string): string =>
  value.replaceAll("\\", "\\\\").replaceAll("\"", "\\\"").replaceAll("\n", "\\n")

const labelled = (name: string, labels: Labels, more: Labels = {}): string => {
  const pairs = Object.entries({ ...labels, ...more }).map(([key, value]) => `${key}="${escaped(value)}"`)
  return pairs.length === 0 ? name : `${name}{${pairs.join(",")}}`
}

const histogramLines = (name: string, labels: Labels, histogram: Histogram): ReadonlyArray<string> => {
  const { count, sum } = histogram
  return [
    ...histogram.cumulative().map((atMost, index) =>
      `${labelled(`${name}_bucket`, labels, { le: String(histogram.bounds[index]) })} ${atMost}`
    ),
    `${labelled(`${name}_bucket`, labels, { le: "+Inf" })} ${count}`,
    `${labelled(`${name}_sum`, labels)} ${sum}`,
    `${labelled(`${name}_count`, labels)} ${count}`
  ]
}

/** The text format of Prometheus, version 0.0.4. */
export const prometheusText = (families: ReadonlyArray<Family>): string =>
  families.flatMap((family) => [
    `# HELP ${family.name} ${family.help.replaceAll("\\", "\\\\").replaceAll("\n", "\\n")}`,
    `# TYPE ${family.name} ${family.type}`,
    ...(family.type === "histogram"
      ? family.samples.flatMap(([labels, histogram]) => histogramLines(family.name, labels, histogram))
      : family.samples.map(([labels, value]) => `${labelled(family.name, labels)} ${value}`))
  ]).join("\n") + "\n"
