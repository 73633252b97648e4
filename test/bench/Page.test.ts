import { describe, expect, it } from "@effect/vitest"
import { Schema } from "effect"
import { makeHistogram } from "../../bench/load/Latency.ts"
import { renderHtml } from "../../bench/report/Html.ts"
import { curveOf, figure, Result, toJson } from "../../bench/report/Result.ts"
import { renderText } from "../../bench/report/TextReport.ts"
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

describe("a result", () => {
  // Goal: the curve shows the tail and nothing that was not seen. Method: a thousand values, one of each millisecond.
  it("has a percentile curve up to what its number of values can tell", () => {
    const curve = curveOf(histogram)
    expect(curve[0]?.[0]).toBe(0)
    expect(curve.at(-1)?.[0]).toBeCloseTo(0.999, 6)
    const atHalf = curve.find(([share]) => share >= 0.5)
    expect((atHalf?.[1] ?? 0) / 1000).toBeCloseTo(atHalf?.[0] ?? 0, 1)
    expect(curveOf(makeHistogram())).toEqual([])
  })

  it("is the same after it was written and read", () => {
    expect(Schema.decodeUnknownSync(Schema.fromJsonString(Result))(toJson(result))).toEqual(result)
  })

  it("is printed with its spread, its targets and its errors", () => {
    const text = renderText(result)
    expect(text).toContain("1,100 (1,000–1,200)")
    expect(text).toContain("12.5 ✗")
    expect(text).toContain("12.5 ✓")
    expect(text).toContain("1,200 TRY_AGAIN")
  })
})

describe("the page", () => {
  const page = renderHtml([result, { ...result, scenario: "session" }])

  // Goal: the page stands alone and shows what was measured. Method: no address but anchors, every element closed, a chart of each
  // kind, every number a number.
  it("needs nothing beside itself", () => {
    expect(page).not.toMatch(/(src|href)="(?!#)/)
    expect(page).not.toMatch(/https?:|<script|@import|url\(/)
    expect(page).not.toMatch(/NaN|Infinity|undefined/)
    for (const tag of ["section", "figure", "svg", "table", "details", "main"]) {
      const count = (pattern: string) => page.match(new RegExp(pattern, "g"))?.length ?? 0
      expect([tag, count(`<${tag}[ >]`)]).toEqual([tag, count(`</${tag}>`)])
    }
    const ratios = (group: string) => ({
      group,
      name: "pitboss",
      figures: [figure("× baseline", "×", "higher", [4, 5, 6])],
      errors: {}
    })
    expect(renderHtml([{ ...result, measurements: ["many", "one"].map(ratios) }])).toContain(
      "Throughput in relation to the baseline"
    )
    for (const title of ["Latency by percentile", "Answers per second", "bets/s"]) expect(page).toContain(title)
    expect(page.match(/<path class="line c0/g)?.length).toBeGreaterThanOrEqual(2)
  })

  it("shows text as text", () => {
    expect(page).toContain("Bets: &lt;fast&gt; &amp; &quot;safe&quot;")
    expect(page).not.toContain("<fast>")
  })
})
