import { describe, expect, it } from "@effect/vitest"
import { Schema } from "effect"
import { makeHistogram } from "../../bench/load/Latency.ts"
import { curveOf, figure, Result, toJson } from "../../bench/report/Result.ts"
import { renderPage } from "../../bench/report/TextReport.ts"
import { sampleResult } from "./support.ts"

const histogram = makeHistogram()
for (let value = 1; value <= 1000; value++) histogram.recordValue(value * 1000)

const result: Result = {
  ...sampleResult,
  title: "Bets: <fast> & \"safe\"",
  measurements: ["pitboss", "baseline"].map((name, index) => ({
    group: "many <players>",
    name,
    figures: [
      figure("bets", "/s", "higher", [1000 * (index + 1), 1100, 1200]),
      figure("p99", "ms", "lower", [12.5], index === 0 ? 10 : 20)
    ],
    curve: curveOf(histogram),
    timeline: {
      slot_ms: 100,
      processed: [10, 20, 0],
      failed: [0, 0, 5],
      latency_sum: [1, 1, 1],
      latency_max: [1, 1, 1]
    },
    errors: index === 0 ? { TRY_AGAIN: 1200 } : {}
  }))
}

describe("a benchmark result", () => {
  // Goal: the curve shows the tail and no unobserved percentile. Method: a thousand values, one of each millisecond.
  it("has a percentile curve that ends at the highest percentile supported by its number of values", () => {
    const curve = curveOf(histogram)
    expect(curve[0]?.[0]).toBe(0)
    expect(curve.at(-1)?.[0]).toBeCloseTo(0.999, 6)
    const atHalf = curve.find(([share]) => share >= 0.5)
    expect((atHalf?.[1] ?? 0) / 1000).toBeCloseTo(atHalf?.[0] ?? 0, 1)
    expect(curveOf(makeHistogram())).toEqual([])
  })

  it("is unchanged after encoding and decoding", () => {
    expect(Schema.decodeUnknownSync(Schema.fromJsonString(Result))(toJson(result))).toEqual(result)
  })
})

describe("the page of benchmark results", () => {
  const page = renderPage([result, { ...result, scenario: "session", title: "Sessions" }])

  // Goal: the page holds every result with its tail and its course over time. Method: a thousand latencies of 1 to 1000 ms, and a
  // timeline that ends in failures.
  it("shows every result, its latency by percentile and its course over time", () => {
    for (
      const part of ["## Bets: <fast>", "## Sessions", "1,100 (1,000–1,200)", "12.5 ✗", "12.5 ✓", "1,200 TRY_AGAIN"]
    ) {
      expect(page).toContain(part)
    }
    expect(page.match(/^pitboss +[\d.]+ +900 +990 +999$/gm)?.length).toBe(2)
    expect(page.match(/^pitboss, failed .* 50$/gm)?.length).toBe(2)
    expect(page).not.toMatch(/NaN|Infinity|undefined/)
  })
})
