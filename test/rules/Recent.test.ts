import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import {
  append,
  emptyRecent,
  hashOfName,
  indexOfName,
  newest,
  type Recent,
  remove,
  replace
} from "../../src/domain/state/Recent.ts"

interface Named {
  readonly name: string
  readonly value: number
}

const find = (recent: Recent<Named>, name: string) => {
  const place = indexOfName(recent, name, (item) => item.name === name)
  return place < 0 ? undefined : recent.items[place]
}

describe("Recent (a list of records with the hashes of their names)", () => {
  // Goal: the hashes beside the records affect only the time of a search. Method: random operations, against a plain list that is
  // searched by name; names that differ only before their last characters have equal hashes.
  it("finds the same records as a linear search in a plain list", () => {
    const name = fc.constantFrom("a", "b", "", "x-aaaaaaaaaaaa", "y-aaaaaaaaaaaa", "bet-1", "bet-2")
    const operation = fc.record({
      name,
      kind: fc.constantFrom("append", "replace", "remove", "newest"),
      value: fc.nat()
    })
    assert.strictEqual(hashOfName("x-aaaaaaaaaaaa"), hashOfName("y-aaaaaaaaaaaa"))
    fc.assert(fc.property(fc.array(operation, { maxLength: 30 }), (operations) => {
      let recent: Recent<Named> = emptyRecent
      let list: ReadonlyArray<Named> = []
      for (const { kind, name, value } of operations) {
        const place = indexOfName(recent, name, (item) => item.name === name)
        assert.strictEqual(place, list.findLastIndex((item) => item.name === name))
        if (kind === "append") {
          recent = append(recent, name, { name, value })
          list = [...list, { name, value }]
        } else if (kind === "newest") {
          recent = newest(recent, 4)
          list = list.slice(-4)
        } else if (place >= 0) {
          recent = kind === "replace" ? replace(recent, place, { name, value }) : remove(recent, place)
          list = kind === "replace" ? list.with(place, { name, value }) : list.toSpliced(place, 1)
        }
        assert.deepStrictEqual(recent.items, list)
        assert.deepStrictEqual(recent.hashes, list.map((item) => hashOfName(item.name)))
      }
      for (const { name } of operations) {
        assert.deepStrictEqual(find(recent, name), list.findLast((item) => item.name === name))
      }
    }))
  })
})
