import { assert, describe, it } from "@effect/vitest"
import { percentile } from "../../src/domain/Figures.ts"

// Goal: a percentile is one of the values, and that share of them does not exceed it.

describe("percentile", () => {
  it("is the value that the given share of the values does not exceed, whatever their order", () => {
    const values = Array.from({ length: 200 }, (_, index) => (index * 37) % 200 + 1)
    assert.deepStrictEqual([percentile(values, 99), percentile(values, 50), percentile(values, 100)], [198, 100, 200])
  })

  it("is the only value of a list of one, and undefined for an empty list", () => {
    assert.deepStrictEqual([percentile([7], 99), percentile([], 99)], [7, undefined])
  })
})
