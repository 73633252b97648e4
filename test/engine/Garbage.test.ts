import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import { Placement } from "../../src/engine/Placement.ts"
import { Ids } from "../../src/platform/Ids.ts"
import { type AccountStep, makeActors, makeStore } from "../kit/ToyMachine.ts"

setFlagsFromString("--expose-gc")
const collect: (options?: { readonly type: "minor" }) => void = runInNewContext("gc")
setFlagsFromString("--no-expose-gc")

const keys = Array.from({ length: 500 }, (_, index) => index + 1)
const payloadBytes = 16_000

/** A step that holds an array of its own. */
const holding = (key: number): AccountStep<number, never> => {
  const payload = Array.from({ length: payloadBytes / 8 }, () => key)
  return (state) => ({ _tag: "Accept", state, reply: payload.length, change: null, idsUsed: 0 })
}

describe("memory of answered commands", () => {
  // Goal: request and response of a command are garbage for the next collection of the young generation, however long its actor was idle: whatever
  // an idle actor keeps is in the old generation, and what refers from there to a command keeps it, even when it is garbage itself.
  // Method: actors idle over full collections get a second command of 16 KB each; a collection of the young generation must free these.
  it.effect("is not kept reachable by an idle actor", () =>
    Effect.gen(function*() {
      const actors = yield* makeActors(makeStore(Object.fromEntries(keys.map((key) => [key, 0]))))
      const askAll = Effect.forEach(keys, (key) => actors.ask(key, holding(key)), { discard: true })
      yield* askAll
      for (let time = 0; time < 3; time++) collect()
      const before = process.memoryUsage().heapUsed
      yield* askAll
      collect({ type: "minor" })
      assert.isBelow(process.memoryUsage().heapUsed - before, keys.length * payloadBytes / 4)
    }).pipe(Effect.provide(Layer.mergeAll(Ids.layerTest(), Placement.layerHere))))
})
