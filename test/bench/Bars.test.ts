import { describe, expect, it } from "@effect/vitest"
import { barsOf, type BarRun, renderBars, type Side } from "../../bench/report/Bars.ts"
import { figure } from "../../bench/report/Result.ts"
import { sampleResult } from "./support.ts"

/** A run of one side with a ratio, a latency and a figure without a limit; its revision is the side. */
const run = (side: Side, ratio: number, ms: number): BarRun => ({
  side,
  scenario: "bets",
  outcome: {
    ...sampleResult,
    revision: side,
    measurements: [{
      group: "many",
      name: "pitboss",
      figures: [
        figure("× baseline", "×", "higher", [ratio], 5),
        figure("p99", "ms", "lower", [ms], 20),
        figure("bets", "/s", "higher", [1000])
      ],
      errors: {}
    }]
  }
})

const lineOf = (runs: ReadonlyArray<BarRun>, start: string) =>
  renderBars(runs).split("\n").find((line) => line.startsWith(start))?.split(/ {2,}/)

describe("the bars", () => {
  // Goal: every figure with a limit is a bar, with the values of all rounds. Method: three rounds of both sides, of which one is an outlier.
  it("hold the values of each side's runs, the change of the median and the range of the rounds", () => {
    const [ratio, p99, ...others] = barsOf([
      run("today", 6, 20),
      run("before", 4, 10),
      run("before", 5, 11),
      run("today", 5, 40),
      run("today", 7, 30),
      run("before", 6, 12)
    ])
    expect(others).toEqual([])
    expect([ratio?.name, ratio?.today.values, ratio?.before.values]).toEqual([
      "bets: many, pitboss, × baseline",
      [6, 5, 7],
      [4, 5, 6]
    ])
    expect([ratio?.change, ratio?.noise]).toEqual([expect.closeTo(0.2, 10), 0.4])
    expect([p99?.change, p99?.noise]).toEqual([expect.closeTo(30 / 11 - 1, 10), expect.closeTo(2 / 3, 10)])
  })

  it("call a change inside the noise none, and another one better or worse in the direction of the figure", () => {
    const runs = [
      run("today", 6, 30),
      run("before", 5, 10),
      run("today", 5, 31),
      run("before", 5.5, 10)
    ]
    expect(lineOf(runs, "bets: many, pitboss, ×")?.slice(1)).toEqual(
      ["≥ 5.00×", "5.50× (5.00×–6.00×)", "5.25× (5.00×–5.50×)", "none", "18%", "met"]
    )
    expect(lineOf(runs, "bets: many, pitboss, p99")?.slice(1)).toEqual(
      ["≤ 20.0 ms", "30.5 (30.0–31.0)", "10.0", "205% worse", "3%", "missed"]
    )
    expect(renderBars(runs)).toContain("today: revision today; before: revision before")
  })

  // Goal: one round says nothing of the noise, and one checkout nothing of a change. Method: a round of both, and rounds of one.
  it("leave out what the runs cannot tell", () => {
    expect(lineOf([run("today", 6, 10), run("before", 5, 10)], "bets: many, pitboss, ×")?.slice(2)).toEqual(
      ["6.00×", "5.00×", "20% better?", "?", "met"]
    )
    expect(lineOf([run("today", 4, 10), run("today", 5, 10)], "bets: many, pitboss, ×")?.slice(2)).toEqual(
      ["4.50× (4.00×–5.00×)", "22%", "missed"]
    )
    const atZero = [run("today", 5, 0), run("today", 5, 0), run("before", 5, 0), run("before", 5, 0)]
    expect(renderBars(atZero)).not.toMatch(/NaN|Infinity|undefined/)
  })

  it("name a scenario that failed on one side, and why, beside the figures of the other", () => {
    const runs: ReadonlyArray<BarRun> = [
      run("today", 6, 10),
      { side: "before", scenario: "bets", outcome: "the ledger has violations" }
    ]
    expect(lineOf(runs, "bets: many, pitboss, ×")?.[2]).toBe("6.00×")
    expect(renderBars(runs)).toMatch(/^bets +failed$/m)
    expect(renderBars(runs)).toContain("bets, before: the ledger has violations")
  })
})
