import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { instantOf, namedRanges, rangeAround, rangeNamed, wallTime } from "../../src/domain/ZonedTime.ts"

// Goal: a time that staff type is the instant at which their clocks showed it, also where clocks are set. Method: days of change by hand, and the
// way there and back for any instant.

const iso = (at: number | undefined): string | undefined => at === undefined ? undefined : new Date(at).toISOString()

const zones = [
  "UTC",
  "Europe/Berlin",
  "America/St_Johns",
  "Asia/Kathmandu",
  "Australia/Lord_Howe",
  "Pacific/Kiritimati"
]

describe("times in a time zone", () => {
  it("are those of the zone's clocks, in summer and in winter", () => {
    assert.strictEqual(wallTime(Date.parse("2026-11-27T20:40:59Z"), "Europe/Berlin"), "2026-11-27T21:40")
    assert.strictEqual(wallTime(Date.parse("2026-07-27T22:40:00Z"), "Europe/Berlin"), "2026-07-28T00:40")
    assert.strictEqual(iso(instantOf("2026-11-27T21:40", "Europe/Berlin")), "2026-11-27T20:40:00.000Z")
    assert.strictEqual(iso(instantOf("2026-07-28T00:40", "Europe/Berlin")), "2026-07-27T22:40:00.000Z")
  })

  it("move an hour later where the clock skips them, and are the first of two where the clock repeats them", () => {
    assert.strictEqual(iso(instantOf("2026-03-29T02:30", "Europe/Berlin")), "2026-03-29T01:30:00.000Z")
    assert.strictEqual(iso(instantOf("2026-10-25T02:30", "Europe/Berlin")), "2026-10-25T00:30:00.000Z")
  })

  it("are undefined while they are incomplete", () => {
    for (const text of ["", "2026-11-27", "0002-11-27T21:40", "2026-13-01T00:00", "2026-11-27T21:40:10"]) {
      assert.isUndefined(instantOf(text, "Europe/Berlin"), text)
    }
  })

  it.prop(
    "are converted back to their instant",
    [Schema.Literals(zones), Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 2_000_000_000 }))],
    ([zone, seconds]) => {
      const at = Math.floor(seconds / 60) * 60_000
      const back = instantOf(wallTime(at, zone), zone) ?? NaN
      // what is shown twice is the first of two
      assert.isTrue(
        back === at || (back < at && wallTime(back, zone) === wallTime(at, zone)),
        `${iso(at)} ${iso(back)}`
      )
    }
  )

  it("yield the named ranges, such as yesterday and last month", () => {
    // Wednesday, the first of a month, half past midnight in Berlin
    const now = Date.parse("2026-03-31T22:30:00Z")
    const ranges = Object.fromEntries(namedRanges.map((name) => {
      const { from, to } = rangeNamed(name, now, "Europe/Berlin")
      return [name, [wallTime(from, "Europe/Berlin"), wallTime(to, "Europe/Berlin")]]
    }))
    assert.deepStrictEqual(ranges, {
      today: ["2026-04-01T00:00", "2026-04-01T23:59"],
      yesterday: ["2026-03-31T00:00", "2026-03-31T23:59"],
      last_24_hours: ["2026-03-31T00:30", "2026-04-01T00:30"],
      last_week: ["2026-03-23T00:00", "2026-03-29T23:59"],
      this_month: ["2026-04-01T00:00", "2026-04-30T23:59"],
      last_month: ["2026-03-01T00:00", "2026-03-31T23:59"]
    })
    assert.deepStrictEqual(rangeAround(now), { from: now - 1_800_000, to: now + 1_800_000 })
  })
})
