import { describe, expect, it } from "@effect/vitest"
import type { RoundResult } from "../../bench/load/Round.ts"
import { Books, findMismatches } from "../../bench/report/Balances.ts"
import { filesystemOf } from "../../bench/report/Machine.ts"
import { parseMachineStat, parseProcessStat } from "../../bench/report/ProcessorTime.ts"
import { parseCommitCounts, parseWork, waitOf, waitsBetween } from "../../bench/report/Prometheus.ts"
import { measureBeforeAndAfter } from "../../bench/report/BeforeAndAfter.ts"
import { measureTraffic } from "../../bench/report/TrafficReport.ts"
import { makeHistogram } from "../../bench/load/Latency.ts"

const emptyResult: RoundResult = {
  perSecond: 1,
  processed: 1,
  latency: makeHistogram(),
  operations: {},
  served: makeHistogram(),
  writing: undefined,
  waits: undefined,
  phases: [],
  timeline: { slot_ms: 100, processed: [], failed: [], latency_sum: [], latency_max: [] },
  sendDelayP99_ms: 0,
  errors: {},
  serviceMicros: 1,
  postgresMicros: 1,
  generatorMicros: 1,
  foreignShare: 0,
  repeated: 0,
  unitsPerCommit: undefined,
  moved: [],
  leastUnknown: [],
  mostUnknown: []
}

describe("the bench report", () => {
  // Goal: a lost or an invented bet cannot pass. Method: one minor unit off in each direction, and a missing balance.
  it("reports players' balances that the acknowledged bets do not explain", () => {
    const check = (balance: number, least: number, most = 0) =>
      findMismatches([1000], [balance], { moved: [-300], leastUnknown: [least], mostUnknown: [most] }).length
    expect(check(700, 0)).toBe(0)
    expect(check(701, 0)).toBe(1)
    expect(check(699, 0)).toBe(1)
    expect(check(690, -10)).toBe(0)
    expect(check(689, -10)).toBe(1)
    expect(check(701, -10)).toBe(1)
    expect(check(710, -10, 10)).toBe(0)
    expect(findMismatches([1000], [], { moved: [0], leastUnknown: [0], mostUnknown: [0] })).toHaveLength(1)
  })

  // Goal: the sums of several rounds are compared with the balances. Method: two rounds, the second of fewer players.
  it("combines measurement rounds with different numbers of players", () => {
    const books = new Books(3)
    books.add({ moved: [-10, -20, -30], leastUnknown: [-10, 0, 0], mostUnknown: [0, 0, 5] })
    books.add({ moved: [-1], leastUnknown: [-2], mostUnknown: [3] })
    expect([books.moved, books.leastUnknown, books.mostUnknown]).toEqual([[-11, -20, -30], [-12, 0, 0], [3, 0, 5]])
  })

  // Goal: the kernel's figures are read from the right columns. Method: lines as the kernel writes them, with a name
  // that holds what separates fields.
  it("reads processor time from /proc", () => {
    const fields = ["S", "42", ...Array.from({ length: 9 }, () => "7"), "100", "20", "3", "4", "20", "0"]
    expect(parseProcessStat(`17 (postgres: a) b) ${fields.join(" ")}\n`)).toEqual({ parent: 42, own: 120, children: 7 })
    expect(parseMachineStat("cpu  10 1 5 1000 50 2 3 4 9 0\ncpu0 1 1 1 1 1 1 1 1 1 1\n")).toEqual({
      busy: 210_000,
      stolen: 40_000
    })
  })

  // Goal: the group commit is recognised among other histograms. Method: a text with a duration histogram first.
  it("reads the mean size of a group commit from a histogram in Prometheus text", () => {
    const text = [
      "# TYPE pitboss_journal_commit_seconds histogram",
      "pitboss_journal_commit_seconds_sum 1.5",
      "pitboss_journal_commit_seconds_count 3",
      "pitboss_journal_commit_units_bucket{le=\"1\"} 1",
      "pitboss_journal_commit_units_sum{lane=\"a\"} 40",
      "pitboss_journal_commit_units_sum{lane=\"b\"} 2",
      "pitboss_journal_commit_units_count{lane=\"a\"} 2",
      "pitboss_journal_commit_units_count{lane=\"b\"} 1"
    ].join("\n")
    expect(parseCommitCounts(text)).toEqual({ commits: 3, units: 42 })
    expect(parseCommitCounts("http_requests_total 5\n")).toBeUndefined()
  })

  it("computes from two Prometheus scrapes what requests waited for", () => {
    const text = (one: number, two: number, all: number) =>
      [
        "# TYPE pitboss_journal_wait_seconds histogram",
        `pitboss_journal_wait_seconds_bucket{le="0.001"} ${one}`,
        `pitboss_journal_wait_seconds_bucket{le="0.002"} ${two}`,
        `pitboss_journal_wait_seconds_bucket{le="+Inf"} ${all}`,
        `nodejs_gc_duration_seconds_bucket{kind="minor",le="0.01"} 4`,
        `nodejs_gc_duration_seconds_bucket{kind="major",le="0.01"} 1`,
        "pitboss_journal_batch_units_sum 40",
        "pitboss_journal_batch_units_count 20"
      ].join("\n")
    const [before, after] = [parseWork(text(5, 6, 6)), parseWork(text(5, 106, 107))]
    const waits = waitsBetween(before?.waits.get("commit before") ?? [], after?.waits.get("commit before") ?? [])
    expect(waits).toEqual([[0.001, 0], [0.002, 100], [Infinity, 101]])
    expect(waitOf(waits, 0.5)).toBeCloseTo(1.505)
    expect(waitOf(waits, 1)).toBe(2)
    expect(waitOf([[0.001, 0], [Infinity, 0]], 0.5)).toBeUndefined()
    expect(after?.waits.get("scavenge")).toEqual([[0.01, 4]])
    expect(after?.waits.get("mark-compact")).toEqual([[0.01, 1]])
  })

  it("finds the innermost mount that contains a folder", () => {
    const mounts = "/dev/vda / ext4 rw 0 0\ntmpfs /data tmpfs rw 0 0\ntmpfs /data/a xfs rw 0 0\n"
    expect(filesystemOf(mounts, "/data/ab")).toBe("tmpfs")
    expect(filesystemOf(mounts, "/data/a/b")).toBe("xfs")
    expect(filesystemOf(mounts, "/home")).toBe("ext4")
  })

  // Goal: a slow spell of the machine that met both targets of a round leaves the ratio alone. Method: two rounds, the
  // second at half speed for both; the ratio of medians taken over differently disturbed rounds would differ.
  it("compares targets within each measurement round", () => {
    const result = (perSecond: number): RoundResult => ({
      ...emptyResult,
      perSecond,
      errors: perSecond === 400 ? { TRY_AGAIN: 2 } : {}
    })
    const rows = measureTraffic([
      { round: 1, group: "many", target: "pitboss", result: result(800) },
      { round: 1, group: "many", target: "baseline", result: result(200) },
      { round: 2, group: "many", target: "pitboss", result: result(400) },
      { round: 2, group: "many", target: "baseline", result: result(100) }
    ], "bets")
    expect(rows.map(({ name }) => name)).toEqual(["pitboss", "baseline"])
    const valuesOf = (name: string) => rows[0]?.figures.find((figure) => figure.name === name)?.values
    expect(valuesOf("bets")).toEqual([800, 400])
    expect(valuesOf("× baseline")).toEqual([4, 4])
    expect(valuesOf("× ceiling")).toBeUndefined()
    expect(rows[0]?.errors).toEqual({ TRY_AGAIN: 2 })
  })

  // Goal: a change is judged by the processor time of service and PostgreSQL, pair by pair. Method: rounds whose machine became ever slower, so that
  // ratios of the medians would say nothing, in one group that only this checkout served and two with known ratios.
  it("compares the processor time of two checkouts within each measurement round", () => {
    const pairOf = (group: string, [service, postgres]: readonly [number, number]) =>
      [1, 2, 3, 4, 5].flatMap((round) => {
        const before = { ...emptyResult, serviceMicros: 60 * round, postgresMicros: 40 * round }
        const after = {
          ...before,
          serviceMicros: (60 + service * round) * round,
          postgresMicros: (40 + postgres) * round
        }
        return [
          { round, group, target: "pitboss", result: after },
          ...(group === "alone" ? [] : [{ round, group, target: "before", result: before }])
        ]
      })
    const { headlines, measurements } = measureBeforeAndAfter([
      ...pairOf("alone", [0, 0]),
      ...pairOf("dearer", [6, 0]),
      ...pairOf("alike", [3, -9])
    ])
    expect(measurements.map(({ name }) => name)).toEqual([
      "dearer",
      "dearer, service alone",
      "alike",
      "alike, service alone"
    ])
    const valuesOf = (row: number) => measurements[row]?.figures.map(({ values }) => values)
    expect(valuesOf(0)).toEqual([[106, 224, 354, 496, 650], [100, 200, 300, 400, 500], [1.06, 1.12, 1.18, 1.24, 1.3], [
      1.12
    ], [1.24]])
    expect(valuesOf(3)?.slice(1)).toEqual([[60, 120, 180, 240, 300], [1.05, 1.1, 1.15, 1.2, 1.25], [1.1], [1.2]])
    expect(headlines).toEqual([
      { value: "1.180×", label: "the processor time of before, dearer (quartiles 1.120–1.240): not shown" },
      { value: "1.000×", label: "the processor time of before, alike (quartiles 0.970–1.030): not slower" }
    ])
  })

  // Goal: the required figures of an open loop are in its row. Method: known latencies of two targets at a share of their peaks, of
  // which the answers to the slower one's slowest are ten times as late, and a commit of 2 ms.
  it("compares the latencies of an open loop with the duration of a commit and with the latencies of the baseline", () => {
    const latencyOf = (...latencies_ms: ReadonlyArray<number>) => {
      const histogram = makeHistogram()
      for (const ms of latencies_ms) histogram.recordValue(ms * 1000)
      return histogram
    }
    const result = (...latencies_ms: ReadonlyArray<number>) => ({
      ...emptyResult,
      latency: latencyOf(...latencies_ms),
      served: latencyOf(...latencies_ms.map((ms) => ms - 1))
    })
    const group = "many, open loop"
    const rows = measureTraffic(
      [
        { round: 1, group: "many", target: "pitboss", result: emptyResult },
        { round: 1, group, target: "pitboss", result: result(5, 5, 10), commit_ms: 2 },
        { round: 1, group, target: "baseline", result: result(20, 20, 100), commit_ms: 2 }
      ],
      "bets",
      { bars: (of, target, name) => of === group && target === "pitboss" && name === "p99 ÷ baseline" ? 1 : undefined }
    )
    const figureOf = (target: string, name: string) =>
      rows.find((row) => row.group === group && row.name === target)?.figures.find((figure) => figure.name === name)
    expect(figureOf("pitboss", "p50 ÷ one commit")?.values[0]).toBeCloseTo(2, 1)
    expect(figureOf("pitboss", "p99 ÷ baseline")?.values[0]).toBeCloseTo(0.1, 1)
    expect(figureOf("pitboss", "p99 ÷ baseline")?.limit).toBe(1)
    expect(figureOf("pitboss", "p50")?.limit).toBeUndefined()
    expect(figureOf("baseline", "p99 ÷ baseline")).toBeUndefined()
    expect(figureOf("pitboss", "× many")).toBeUndefined()
  })
})
