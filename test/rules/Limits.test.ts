import { assert, describe, it } from "@effect/vitest"
import { limitFields } from "../../src/domain/LimitFields.ts"
import {
  breakMs,
  countDeposit,
  countPlay,
  countWithdrawal,
  emptyCounters,
  playSince,
  recordPlay,
  refusePlay,
  roll
} from "../../src/domain/state/Limits.ts"
import { limitsResource } from "../../src/domain/limit/LimitUsage.ts"
import { day, hour, minute, noon } from "../kit/Messages.ts"
import { newPlayer } from "../kit/players.ts"

// Cases that LimitTraffic.test.ts does not reach. It proves windows, sums, refusals, pending raises and every figure of the limits resource
// against a plain model.

describe("the limits resource", () => {
  it("has all sixteen limits, null where no limit is set", () => {
    const resource = limitsResource(newPlayer({ id: 7, limits: { max_daily_bet: 0, max_session_minutes: 60 } }), noon)
    assert.deepStrictEqual([resource.player_id, resource.currency], [7, "EUR"])
    assert.deepStrictEqual(Object.keys(resource.limits), [...limitFields])
    assert.deepStrictEqual(Object.keys(resource.usage), [...limitFields])
    for (const field of limitFields) {
      const expected = field === "max_daily_bet" ? 0 : field === "max_session_minutes" ? 60 : null
      assert.strictEqual(resource.limits[field], expected, field)
      assert.strictEqual(resource.usage[field].remaining, expected, field)
    }
    assert.deepStrictEqual(resource.pending_changes, [])
    assert.isNull(resource.self_exclusion)
  })

  it("shows an exclusion while it lasts", () => {
    const at = (until: number | null) =>
      limitsResource(newPlayer({ exclusion: { type: "self_closure", since: noon - 5, until } }), noon).self_exclusion
    assert.deepStrictEqual(at(noon + 1), {
      type: "self_closure",
      since: "2026-11-18T11:59:59.995Z",
      until: "2026-11-18T12:00:00.001Z",
      ends: "by_itself",
      return_at: null,
      source: "operator"
    })
    assert.deepInclude(at(null), { until: null })
    assert.isNull(at(noon))
  })
})

// Goal: what a clock that was ahead counted is not kept for the days until then, and what was counted in the same window stays. Method: counts at a
// time to come, then at the right one.

const noonOf = (date: string): number => Date.parse(`${date}T12:00:00Z`)

describe("limit counters", () => {
  it("keep their sums when the clock is set back within the day", () => {
    const counted = countPlay(emptyCounters, noon, 5, 5, noon)
    const later = countPlay(counted, noon - hour, 1, 1, noon - hour)
    assert.deepStrictEqual([later.betDay, later.betWeek, later.betMonth, later.at], [6, 6, 6, noon])
  })

  it("drop bets counted on a future day after the clock is corrected, but keep them in the sums of week and month if these are current", () => {
    const ahead = noon + 3 * day
    const wrong = countPlay(emptyCounters, ahead, 1000, 1000, ahead)
    const right = countPlay(wrong, noon, 1, 1, noon)
    assert.deepInclude(right, { at: noon, betDay: 1, lossDay: 1, betWeek: 1001, betMonth: 1001 })
    const next = countPlay(right, noon + day, 1, 1, noon + day)
    assert.deepInclude(next, { at: noon + day, betDay: 1, lossDay: 1, betWeek: 1002, betMonth: 1002 })
  })

  it("drop deposits counted in a future week after the clock is corrected, but keep them in the sum of the month", () => {
    const wrong = countDeposit(emptyCounters, noonOf("2026-11-23"), 700)
    const right = countDeposit(wrong, noonOf("2026-11-22"), 2)
    assert.deepInclude(right, { depositDay: 2, depositWeek: 2, depositMonth: 702, depositYear: 702 })
  })

  it("drop sums counted in a future year after the clock is corrected, but keep the sum of the week that both years share", () => {
    const wrong = countWithdrawal(countDeposit(emptyCounters, noonOf("2027-01-01"), 700), noonOf("2027-01-01"), 50)
    const right = roll(wrong, noonOf("2026-12-31"))
    assert.deepInclude(right, { depositDay: 0, depositWeek: 700, depositMonth: 0, depositYear: 0, withdrawalDay: 0 })
    assert.deepInclude(roll(wrong, noonOf("2026-11-30")), { depositWeek: 0, depositMonth: 0, depositYear: 0 })
  })
})

describe("the play time since the last break", () => {
  it("restarts after a clock that was days ahead is corrected", () => {
    const ahead = noon + 3 * day
    const wrong = recordPlay(emptyCounters, ahead, true)
    assert.isNull(playSince(wrong, noon))
    const opened = recordPlay(wrong, noon, false)
    assert.strictEqual(playSince(opened, noon + minute), noon)
    assert.isNull(playSince(opened, noon + breakMs))
    const limits = { max_session_minutes: 10 }
    assert.isUndefined(refusePlay(limits, opened, noon + 9 * minute))
    assert.strictEqual(refusePlay(limits, opened, noon + 10 * minute)?.details.limit, "max_session_minutes")
  })

  it("continues when the clock goes back a little", () => {
    const begun = recordPlay(recordPlay(emptyCounters, noon, true), noon + 14 * minute, true)
    assert.strictEqual(playSince(begun, noon + 14 * minute - 100), noon)
    assert.strictEqual(playSince(recordPlay(begun, noon + 14 * minute - 100, false), noon + 20 * minute), noon)
  })
})
