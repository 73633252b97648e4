import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { instant } from "../../src/contract/common/Fields.ts"

// Goal: every accepted time can be stored and returned. Method: times at the ends of the calendar, which an
// offset carries across, against what the ISO form of them is.

describe("an instant", () => {
  const isInstant = Schema.is(instant)

  it("has a four-digit year in UTC, whatever its offset", () => {
    const written = (time: string) => /^(?!0000)\d{4}-/.test(new Date(time).toISOString())
    for (const offset of ["Z", "+14:00", "-14:00", "+23:59", "-23:59"]) {
      for (const day of ["0001-01-01T00:00:00", "0001-01-02T00:00:00", "9999-12-30T23:59:59", "9999-12-31T23:59:59"]) {
        assert.strictEqual(isInstant(day + offset), written(day + offset), day + offset)
      }
    }
    assert.deepStrictEqual(["9999-12-31T23:59:59-00:01", "0001-01-01T00:00:00+00:01"].map(isInstant), [false, false])
    assert.isTrue(isInstant("9999-12-31T23:59:59.999999999Z"))
    assert.isFalse(isInstant("2026-02-30T00:00:00Z"))
  })
})
