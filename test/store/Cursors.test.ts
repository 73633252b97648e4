import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import type { Refusal } from "../../src/domain/Refusal.ts"
import { cursorsOfKeys, cursorsOfShape, moment, numberCursors, timedCursors } from "../../src/store/Cursors.ts"

// Goal: cursors stay valid across upgrades, and a cursor of another list or a forged one is refused. Method: cursors as callers hold
// them today, written down here.

const typed = cursorsOfKeys(["integer"], true)
const timed = cursorsOfKeys(["instant", "integer"])
const named = cursorsOfKeys(["text", "integer"])
const shapes = cursorsOfShape(Schema.Tuple([moment, Schema.Int, Schema.String]))

describe("cursors", () => {
  it.effect("have stable texts, so that stored cursors stay valid", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual([numberCursors.write(1500), yield* numberCursors.read("15o")], ["15o", 1500])
      assert.deepStrictEqual([typed.write([9001]), yield* typed.read("9001")], ["9001", [9001]])
      const at = 1_795_176_000_000
      assert.deepStrictEqual(
        [timedCursors.write({ at, id: 35 }), yield* timedCursors.read("mwoxfuo0-z")],
        ["mwoxfuo0-z", { at, id: 35 }]
      )
      assert.deepStrictEqual([timed.write([at, 35]), yield* timed.read("mwoxfuo0-z")], ["mwoxfuo0-z", [at, 35]])
      const name = Buffer.from(`["Éclair",7]`).toString("base64url")
      assert.deepStrictEqual([named.write(["Éclair", 7]), yield* named.read(name)], [name, ["Éclair", 7]])
      const text = Buffer.from(`[${at},7,"r 1"]`).toString("base64url")
      assert.deepStrictEqual([shapes.write([at, 7, "r 1"]), yield* shapes.read(text)], [text, [at, 7, "r 1"]])
      for (const one of [numberCursors, typed, timed, named, timedCursors, shapes]) {
        assert.deepStrictEqual([yield* one.read(undefined), yield* one.read("")], [undefined, undefined])
      }
    }))

  it.effect("of another list are refused with the field cursor in the details", () =>
    Effect.gen(function*() {
      const sealed = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url")
      const wrong: ReadonlyArray<Effect.Effect<unknown, Refusal>> = [
        numberCursors.read("A"),
        numberCursors.read("zzzzzzzzzzz"),
        typed.read("0"),
        typed.read("15o"),
        timed.read("15o"),
        timed.read("1-2-3"),
        timed.read("zzzzzzzzzz-1"),
        named.read("15o"),
        named.read(sealed(["a", "b"])),
        named.read(sealed(["a\u0000", 1])),
        named.read(sealed(["a", 1, 2])),
        timedCursors.read("15o"),
        timedCursors.read("1-2-3"),
        shapes.read("15o"),
        shapes.read(sealed([1, 2])),
        shapes.read(sealed([-1, 7, "r"])),
        shapes.read(sealed([1e20, 7, "r"]))
      ]
      for (const [index, read] of wrong.entries()) {
        const refusal = yield* Effect.flip(read)
        assert.deepStrictEqual(Object.keys(refusal.details), ["cursor"], `cursor ${index}`)
      }
    }))

  it("continue after the last row returned or examined, and are null at the end", () => {
    const self = (id: number) => [id]
    assert.deepStrictEqual(typed.part([5, 4, 3], 2, self), { items: [5, 4], next: "4" })
    assert.deepStrictEqual(typed.part([5, 4], 2, self), { items: [5, 4], next: null })
    assert.deepStrictEqual(typed.part([5], 2, self, [3]), { items: [5], next: "3" })
    assert.deepStrictEqual(typed.part([5, 4, 3], 2, self, [1]), { items: [5, 4], next: "4" })
    assert.deepStrictEqual(typed.part([], 2, self), { items: [], next: null })
  })
})
