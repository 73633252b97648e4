import { assert, describe, it } from "@effect/vitest"
import { countPlay, emptyCounters, limitFields, roll } from "../../src/domain/limit/Limits.ts"
import { limitsResource } from "../../src/domain/limit/LimitUsage.ts"
import { day, hour, noon } from "../kit/Messages.ts"
import { newPlayer } from "../kit/players.ts"

// Cases that LimitTraffic.test.ts does not reach. It proves windows, sums, refusals, pending raises and every figure of the limits resource
// against a plain model.

describe("the limits resource", () => {
  it("has all sixteen limits, null where there is none", () => {
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
      until: "2026-11-18T12:00:00.001Z"
    })
    assert.deepInclude(at(null), { until: null })
    assert.isNull(at(noon))
  })
})

describe("counters", () => {
  it("keep what was counted when the clock is set back", () => {
    const counted = countPlay(emptyCounters, noon, 5, 5, noon)
    assert.deepStrictEqual(roll(counted, noon - 2 * day), counted)
    const later = countPlay(counted, noon - hour, 1, 1, noon - hour)
    assert.deepStrictEqual([later.betDay, later.betWeek, later.betMonth, later.at], [6, 6, 6, noon])
  })
})
