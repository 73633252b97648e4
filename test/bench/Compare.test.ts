import { describe, expect, it } from "@effect/vitest"
import { compareResults, renderComparison, reservations } from "../../bench/report/Compare.ts"
import { figure, type Result } from "../../bench/report/Result.ts"
import { chanceOfDifference } from "../../bench/report/Statistics.ts"
import { sampleResult } from "./support.ts"

/** A result with one row whose throughput and latency are these. */
const resultOf = (perSecond: ReadonlyArray<number>, p99: ReadonlyArray<number> = [1, 1, 1, 1, 1]): Result => ({
  ...sampleResult,
  measurements: [{
    group: "many",
    name: "pitboss",
    figures: [
      figure("bets", "/s", "higher", perSecond),
      figure("p99", "ms", "lower", p99),
      figure("foreign load", "%", "neither", perSecond.map(() => 2))
    ],
    errors: {}
  }]
})

const wordsOf = (before: Result, after: Result) =>
  compareResults(before, after).map(({ figure, word }) => [figure, word])

describe("the comparison of two results", () => {
  // Goal: the significance test is exact. Method: values from tables of the Mann-Whitney distribution, two-sided, and
  // all arrangements of five values counted by hand.
  it("computes the exact probability of a difference", () => {
    expect(chanceOfDifference([1, 2, 3], [4, 5, 6])).toBeCloseTo(0.1, 10)
    expect(chanceOfDifference([1, 2, 3, 4], [5, 6, 7, 8])).toBeCloseTo(2 / 70, 10)
    expect(chanceOfDifference([1, 2, 3, 4, 5], [6, 7, 8, 9, 10])).toBeCloseTo(2 / 252, 10)
    expect(chanceOfDifference([6, 7, 8, 9, 10], [1, 2, 3, 4, 5])).toBeCloseTo(2 / 252, 10)
    // U = 1 of 3 and 2 values: 2 of 10 arrangements are as clear on that side
    expect(chanceOfDifference([1, 2, 4], [3, 5])).toBeCloseTo(0.4, 10)
    expect(chanceOfDifference([1, 2, 3], [1, 2, 3])).toBe(1)
    expect(chanceOfDifference([], [1])).toBe(1)
  })

  // Goal: a verdict is given only when the figures support it, in the direction that is good for the figure. Method: clear, unclear,
  // tiny and weakly supported differences.
  it("calls a difference better or worse only beyond the noise", () => {
    const base = resultOf([100, 101, 102, 103, 104], [10, 10.1, 10.2, 10.3, 10.4])
    expect(wordsOf(base, resultOf([120, 121, 122, 123, 124], [20, 21, 22, 23, 24]))).toEqual([
      ["bets/s", "better"],
      ["p99, ms", "worse"]
    ])
    expect(wordsOf(base, resultOf([90, 100, 102, 110, 120], [5, 5.1, 5.2, 5.3, 5.4]))).toEqual([
      ["bets/s", "within the noise"],
      ["p99, ms", "better"]
    ])
    expect(wordsOf(base, resultOf([104.1, 104.2, 104.3, 104.2, 104.1])).at(0)).toEqual(["bets/s", "better"])
    expect(wordsOf(base, resultOf([103.1, 103.2, 103.3, 104.5, 104.6])).at(0)).toEqual(["bets/s", "within the noise"])
    const thin = resultOf([100, 101, 102], [1, 1, 1])
    expect(wordsOf(thin, resultOf([200, 201, 202], [1, 1, 1]))).toEqual([
      ["bets/s", "too few rounds to tell"],
      ["p99, ms", "within the noise"]
    ])
  })

  it("reports the ratio of the medians, and the lowest and highest ratio of single results", () => {
    const [bets] = compareResults(resultOf([100, 110, 120, 130, 140]), resultOf([200, 220, 240, 260, 300]))
    expect([bets?.ratio, bets?.lowest, bets?.highest]).toEqual([2, 200 / 140, 3])
  })

  // Goal: runs that cannot be compared say so. Method: another scenario, machine, option, and a disturbed run.
  it("lists reasons why two results are not comparable", () => {
    const base = resultOf([100])
    expect(reservations(base, base)).toEqual([])
    const [row] = base.measurements
    const other: Result = {
      ...base,
      scenario: "session",
      machine: { ...base.machine, cores: 64 },
      options: { ...base.options, players: 7 },
      measurements: row === undefined ? [] : [{ ...row, figures: [figure("foreign load", "%", "neither", [30])] }]
    }
    expect(reservations(base, other)).toEqual([
      "these are different scenarios: bets, session",
      "another machine: cores 2, then 64",
      "other options: players",
      "the second was disturbed: foreign load above 10% in 1 rows"
    ])
    expect(renderComparison(base, base)).toContain("1.00× (1.00–1.00)")
  })
})
