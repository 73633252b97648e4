import { describe, expect, it } from "@effect/vitest"
import type { Timeline } from "../../bench/load/Job.ts"
import { backAtRate, longestSilence } from "../../bench/scenarios/ColdStart.ts"
import { recoveryMs } from "../../bench/scenarios/Overload.ts"
import { betsAfter } from "../../bench/scenarios/Recovery.ts"

const timeline = (
  processed: ReadonlyArray<number>,
  means: ReadonlyArray<number>,
  failed: ReadonlyArray<number> = []
): Timeline => ({
  slot_ms: 100,
  processed,
  failed: processed.map((_, slot) => failed[slot] ?? 0),
  latency_sum: processed.map((count, slot) => count * (means[slot] ?? 0)),
  latency_max: processed.map(() => 0)
})

const repeat = (count: number, value: number) => Array.from({ length: count }, () => value)

describe("recovery measured on a timeline", () => {
  // Goal: recovery ends at the first lasting calm, not at the first good moment. Method: five calm slots, five overloaded ones,
  // then late answers, one calm slot, a refusal, and calm to the end.
  it("finds the end of the recovery", () => {
    const means = [...repeat(5, 2000), ...repeat(5, 90_000), 50_000, 2000, 2000, ...repeat(6, 4000)]
    const failed = [...repeat(5, 0), ...repeat(5, 9), 0, 0, 1]
    expect(recoveryMs(timeline(repeat(19, 10), means, failed), 500, 1000)).toBe(300)
    expect(recoveryMs(timeline(repeat(19, 10), repeat(19, 2000)), 500, 1000)).toBe(0)
    expect(recoveryMs(timeline(repeat(12, 10), [...repeat(5, 2000), ...repeat(7, 90_000)]), 500, 1000)).toBeUndefined()
    // a slot without answers is not calm
    expect(recoveryMs(timeline([...repeat(10, 10), ...repeat(5, 0)], repeat(15, 2000)), 500, 1000)).toBeUndefined()
  })

  // Goal: an outage lasts as long as no request was answered, and recovery ends at the previous rate. Method: a kill after one second,
  // 700 ms of silence, and half of the rate at first.
  it("finds an outage and its end", () => {
    const killed = timeline([...repeat(10, 50), ...repeat(7, 0), ...repeat(4, 25), ...repeat(9, 48)], repeat(30, 1))
    expect(longestSilence(killed)).toBe(700)
    expect(backAtRate(killed, 1000)).toBe(1100)
    // from the kill, during which a slot still has answers of before it, and from a moment within the silence or after it
    expect([1050, 1500, 1850].map((from) => betsAfter(killed, 1000, from))).toEqual([650, 200, 0])
    const late = timeline([...repeat(10, 50), 20, ...repeat(6, 0), ...repeat(4, 25)], repeat(21, 1))
    expect(betsAfter(late, 1020, 1020)).toBe(680)
    // a node that dies later
    const paused = timeline([...repeat(10, 50), 0, 20, ...repeat(6, 0), ...repeat(4, 25)], repeat(22, 1))
    expect(betsAfter(paused, 1000, 1000)).toBe(800)
    expect(betsAfter(timeline(repeat(19, 50), repeat(19, 1)), 1000, 1000)).toBeUndefined()
    expect(backAtRate(timeline([...repeat(10, 50), ...repeat(9, 0)], repeat(19, 1)), 1000)).toBeUndefined()
  })
})
