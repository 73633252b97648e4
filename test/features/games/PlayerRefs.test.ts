import { assert, layer } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { SealedSecrets } from "../../../src/auth/SealedSecrets.ts"
import { PlayerRefs } from "../../../src/features/games/PlayerRefs.ts"
import { Settings } from "../../../src/platform/Settings.ts"

const live = PlayerRefs.layer.pipe(Layer.provide([SealedSecrets.layerMemory, Settings.layerTest()]))

layer(live)("PlayerRefs", (it) => {
  // Goal: a ref identifies one player to one provider, with the same text for ever.
  // Method: make it twice and in two instances; read it as its provider and as another.
  it.effect("a reference is stable, and only its own provider can resolve it", () =>
    Effect.gen(function*() {
      const refs = yield* PlayerRefs
      const other = Context.get(yield* Layer.build(Layer.fresh(live)), PlayerRefs)
      for (const playerId of [1, 1001, Number.MAX_SAFE_INTEGER]) {
        const ref = refs.playerRef(7, playerId)
        assert.match(ref, /^pr_[A-Za-z0-9_-]{32}$/)
        assert.strictEqual(other.playerRef(7, playerId), ref)
        assert.strictEqual(other.parse(7, ref), playerId)
        assert.strictEqual(other.parse(7, ref), playerId, "the second look, from memory")
        assert.isUndefined(refs.parse(8, ref), "another provider, never seen before")
        assert.isUndefined(other.parse(8, ref), "another provider, after it was remembered")
      }
    }))

  // Goal: two providers cannot tell from their refs that they have the same player.
  // Method: the refs of neighbouring players at two providers share no run of bytes at the position of the id.
  it.effect("a reference does not reveal the player's id", () =>
    Effect.gen(function*() {
      const refs = yield* PlayerRefs
      const masked = (ref: string) => Buffer.from(ref.slice(3), "base64url").subarray(16).toString("hex")
      const seen = new Set(
        [1, 2].flatMap((providerId) =>
          [1001, 1002, 1003].map((playerId) => masked(refs.playerRef(providerId, playerId)))
        )
      )
      assert.strictEqual(seen.size, 6)
      for (const text of seen) assert.isFalse(text.startsWith("000000"), text)
    }))

  it.effect("an altered or invented reference resolves to no player", () =>
    Effect.gen(function*() {
      const refs = yield* PlayerRefs
      const ref = refs.playerRef(7, 1001)
      for (let index = 0; index < ref.length; index++) {
        for (const character of ["A", "b", "-", "+", "="]) {
          if (ref[index] === character) continue
          assert.isUndefined(refs.parse(7, ref.slice(0, index) + character + ref.slice(index + 1)))
        }
      }
      for (const text of ["", "pr_", "1001", `${ref}A`, ref.slice(0, -1)]) assert.isUndefined(refs.parse(7, text))
    }))
})
