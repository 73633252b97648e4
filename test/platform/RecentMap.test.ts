import { assert, describe, it } from "@effect/vitest"
import { RecentMap } from "../../src/platform/RecentMap.ts"

describe("RecentMap", () => {
  // Goal: memory is bounded. Method: a hundred times more keys than the capacity.
  it("holds at most twice its capacity, and always the latest entries", () => {
    const map = new RecentMap<number, number>(10)
    for (let key = 0; key < 1000; key++) {
      map.set(key, key)
      assert.isAtMost(map.size, 20)
      for (let recent = Math.max(0, key - 9); recent <= key; recent++) {
        assert.strictEqual(new Map(map.values().map((value) => [value, value])).get(recent), recent)
      }
    }
    assert.isUndefined(map.get(0))
  })

  // Goal: recently used entries stay. Method: one key is read now and then while many others pass through.
  it("keeps recently used entries", () => {
    const map = new RecentMap<string, number>(10)
    map.set("kept", 1)
    for (let key = 0; key < 1000; key++) {
      map.set(`${key}`, key)
      if (key % 5 === 0) assert.strictEqual(map.get("kept"), 1)
    }
  })

  it("is empty after clear", () => {
    const map = new RecentMap<number, number>(2)
    for (const key of [1, 2, 3]) map.set(key, key)
    map.clear()
    assert.strictEqual(map.size, 0)
    assert.isUndefined(map.get(3))
  })
})
