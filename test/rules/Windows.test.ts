import { assert, describe, it } from "@effect/vitest"
import * as FastCheck from "fast-check"
import { sameWindow, type Window, windowEnd, windowStart } from "../../src/domain/state/Windows.ts"

const at = (text: string): number => Date.parse(`${text}Z`)

describe("limit windows (day, week, month, year)", () => {
  // Goal: window edges follow the calendar. Method: instants around a month that begins on a Sunday, a leap day, years whose
  // first week belongs to the year before, and the time before 1970.
  const cases: ReadonlyArray<readonly [window: Window, at: string, start: string, end: string]> = [
    ["day", "2026-11-18T12:00:00.000", "2026-11-18T00:00", "2026-11-19T00:00"],
    ["day", "2026-11-18T00:00:00.000", "2026-11-18T00:00", "2026-11-19T00:00"],
    ["day", "2026-11-17T23:59:59.999", "2026-11-17T00:00", "2026-11-18T00:00"],
    ["day", "2028-02-29T10:00:00.000", "2028-02-29T00:00", "2028-03-01T00:00"],
    ["week", "2026-11-15T23:59:59.999", "2026-11-09T00:00", "2026-11-16T00:00"],
    ["week", "2026-11-16T00:00:00.000", "2026-11-16T00:00", "2026-11-23T00:00"],
    ["week", "2027-01-01T00:00:00.000", "2026-12-28T00:00", "2027-01-04T00:00"],
    ["week", "2024-12-30T00:00:00.000", "2024-12-30T00:00", "2025-01-06T00:00"],
    ["week", "1970-01-01T00:00:00.000", "1969-12-29T00:00", "1970-01-05T00:00"],
    ["week", "1969-12-28T23:59:59.999", "1969-12-22T00:00", "1969-12-29T00:00"],
    ["month", "2026-11-30T23:59:59.999", "2026-11-01T00:00", "2026-12-01T00:00"],
    ["month", "2026-12-01T00:00:00.000", "2026-12-01T00:00", "2027-01-01T00:00"],
    ["month", "2028-02-29T23:59:59.999", "2028-02-01T00:00", "2028-03-01T00:00"],
    ["year", "2026-12-31T23:59:59.999", "2026-01-01T00:00", "2027-01-01T00:00"],
    ["year", "2027-01-01T00:00:00.000", "2027-01-01T00:00", "2028-01-01T00:00"]
  ]
  for (const [window, instant, start, end] of cases) {
    it(`follow the calendar: the ${window} of ${instant}`, () => {
      assert.strictEqual(windowStart(window, at(instant)), at(start))
      assert.strictEqual(windowEnd(window, at(instant)), at(end))
    })
  }

  // Goal: windows tile time: each instant is in exactly one, and the end of one is the start of the next.
  it("leave no gap and do not overlap", () => {
    const instants = FastCheck.integer({ min: at("1969-01-01T00:00"), max: at("2100-01-01T00:00") })
    FastCheck.assert(
      FastCheck.property(
        FastCheck.constantFrom<Window>("day", "week", "month", "year"),
        instants,
        (window, instant) => {
          const [start, end] = [windowStart(window, instant), windowEnd(window, instant)]
          assert.isTrue(start <= instant && instant < end)
          assert.strictEqual(windowStart(window, start), start)
          assert.strictEqual(windowStart(window, end), end)
          assert.isTrue(sameWindow(window, start, end - 1))
          assert.isFalse(sameWindow(window, end - 1, end))
          assert.strictEqual(new Date(start).getUTCHours(), 0)
          if (window === "week") assert.strictEqual(new Date(start).getUTCDay(), 1)
        }
      ),
      { seed: 1 }
    )
  })
})
