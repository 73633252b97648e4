import { build, decodeFromCompressedBase64, encodeIntoCompressedBase64, type Histogram } from "hdr-histogram-js"

/** An empty histogram of µs: 1 µs to a minute and more, three significant digits. */
export const makeHistogram = (): Histogram =>
  build({
    bitBucketSize: 32,
    lowestDiscernibleValue: 1,
    highestTrackableValue: 60_000_000,
    autoResize: true,
    numberOfSignificantValueDigits: 3
  })

/** At least 1, the lowest value a histogram takes. */
export const micros = (ms: number): number => Math.max(1, Math.round(ms * 1000))

export const encodeHistogram = (histogram: Histogram): string => encodeIntoCompressedBase64(histogram)

/** The sum of encoded histograms. Percentiles cannot be averaged; counts can be added. */
export const mergeHistograms = (encoded: ReadonlyArray<string>): Histogram => {
  const sum = makeHistogram()
  for (const text of encoded) sum.add(decodeFromCompressedBase64(text))
  return sum
}

/** Summary of a distribution, in milliseconds. */
export interface LatencySummary {
  readonly p50_ms: number
  readonly p99_ms: number
  readonly p999_ms: number
  readonly max_ms: number
}

export const summarize = (histogram: Histogram): LatencySummary => ({
  p50_ms: histogram.getValueAtPercentile(50) / 1000,
  p99_ms: histogram.getValueAtPercentile(99) / 1000,
  p999_ms: histogram.getValueAtPercentile(99.9) / 1000,
  max_ms: histogram.maxValue / 1000
})
