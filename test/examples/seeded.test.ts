import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { Entropy } from "../../src/platform/Entropy.ts"

/** A source of bytes that a seed determines. */
const seeded = (seed: number) => {
  let state = seed
  const bytes = (length: number) =>
    Uint8Array.from({ length }, () => {
      state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
      return state >> 16 & 255
    })
  return Layer.succeed(Entropy, Entropy.fromBytes(bytes))
}

// Goal: random draws are repeatable. Method: two sources with the same seed, side by side.
layer(seeded(42))("seeded randomness", (it) => {
  it.effect("draws the same secrets from the same seed", () =>
    Effect.gen(function*() {
      const entropy = yield* Entropy
      const again = yield* Effect.provide(Effect.service(Entropy), seeded(42))
      assert.strictEqual(entropy.token("sk_", 32), again.token("sk_", 32))
    }))
})
