import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { layerBothServers, runHere } from "../kit/Backoffice.ts"

// Goal: who waits at a terminal for a long command sees that it works, and nobody else gets a byte more. Method: the command line's
// own function, with and without somebody who waits.

layer(layerBothServers, { excludeTestServices: true })("long commands", (it) => {
  for (
    const [line, words] of [["ledger verify", "Proving the ledger"], ["secret list", "Opening every secret"]] as const
  ) {
    it.effect(`${line} tells who waits at a terminal that it works`, () =>
      Effect.gen(function*() {
        const told: Array<string> = []
        const waited = yield* runHere(line.split(" "), { progress: (text) => void told.push(text) })
        const piped = yield* runHere(line.split(" "))
        assert.strictEqual(told[0], `${words} … 0 s`)
        assert.strictEqual(told.at(-1), "", "nothing is left of it")
        assert.deepStrictEqual(waited, piped)
        assert.deepStrictEqual([piped.exitCode, piped.stderr], [0, ""])
        assert.doesNotThrow(() => JSON.parse(piped.stdout))
      }))
  }

  it.effect("a quick one says nothing", () =>
    Effect.gen(function*() {
      const told: Array<string> = []
      yield* runHere(["operator", "list"], { progress: (text) => void told.push(text) })
      assert.deepStrictEqual(told, [])
    }))
})
