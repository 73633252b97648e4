import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import * as fc from "fast-check"
import { PlayerTokens } from "../../src/auth/PlayerTokens.ts"
import { layerSingleNode } from "../../src/cluster/SingleNode.ts"
import { Entropy } from "../../src/platform/Entropy.ts"
import { Ids } from "../../src/platform/Ids.ts"
import { Settings } from "../../src/platform/Settings.ts"
import { make as makeStore } from "../kit/MemoryPlayerStore.ts"
import { PlayerActors } from "../../src/store/PlayerActors.ts"
import { newPlayer } from "../kit/players.ts"

// Goal: a player token carries its claims, and cannot be changed or forged. Method: issue over players in memory, then
// verify issued tokens, every single change of them, and random text.

const now = Date.parse("2026-11-20T12:00:00.000Z")

const actors = PlayerActors.layerOver(Effect.gen(function*() {
  const store = makeStore()
  yield* store.add(newPlayer({ id: 7, operatorId: 3 }))
  yield* store.add(newPlayer({ id: Number.MAX_SAFE_INTEGER, operatorId: Number.MAX_SAFE_INTEGER - 1 }))
  yield* store.add(newPlayer({ id: 8, operatorId: 3, status: "locked" }))
  return store
}))

const live = PlayerTokens.layer.pipe(
  Layer.provideMerge(actors),
  Layer.provideMerge(Layer.mergeAll(Entropy.layer, Settings.layerTest(), Ids.layerTest(), layerSingleNode)),
  Layer.provideMerge(Layer.effectDiscard(TestClock.setTime(now)))
)

layer(live)("PlayerTokens", (it) => {
  it.effect("accepts the tokens that it has issued", () =>
    Effect.gen(function*() {
      const tokens = yield* PlayerTokens
      for (const key of ["k", "pk_live_abcdefghijklmnopqrstuvwx", "x".repeat(128)]) {
        const { expiresAt, token } = yield* tokens.issue(3, key, 7, 30)
        assert.strictEqual(expiresAt, now + 30 * 60_000)
        assert.notInclude(Buffer.from(token.slice(3), "base64url").toString("latin1"), key.slice(0, 8).padEnd(8))
        assert.deepStrictEqual(tokens.read(token), { playerId: 7, operatorId: 3, key, issuedAt: now, expiresAt })
      }
      const largest = { playerId: Number.MAX_SAFE_INTEGER, operatorId: Number.MAX_SAFE_INTEGER - 1 }
      const { token } = yield* tokens.issue(largest.operatorId, "k", largest.playerId, 720)
      assert.deepInclude(tokens.read(token), largest)
    }))

  it.effect("issues no token for a restricted player or another operator's player", () =>
    Effect.gen(function*() {
      const tokens = yield* PlayerTokens
      assert.strictEqual((yield* Effect.flip(tokens.issue(3, "k", 8, 30))).code, "PLAYER_RESTRICTED")
      assert.strictEqual((yield* Effect.flip(tokens.issue(4, "k", 7, 30))).code, "NOT_FOUND")
    }))

  it.effect("rejects changed tokens, other encodings of a token and tokens of other services", () =>
    Effect.gen(function*() {
      const tokens = yield* PlayerTokens
      const { token } = yield* tokens.issue(3, "pk_live_1", 7, 30)
      for (let at = 0; at < token.length; at++) {
        for (const other of ["A", "z", "_", "=", " "].filter((character) => character !== token[at])) {
          assert.isUndefined(tokens.read(`${token.slice(0, at)}${other}${token.slice(at + 1)}`), `${at} ${other}`)
        }
      }
      for (const other of [`${token}=`, `${token}A`, token.slice(0, -1), token.toUpperCase(), ` ${token}`]) {
        assert.isUndefined(tokens.read(other))
      }
      fc.assert(fc.property(fc.string({ unit: "binary" }), (text) => {
        assert.isUndefined(tokens.read(text))
        assert.isUndefined(tokens.read(`pt_${Buffer.from(text).toString("base64url")}`))
      }))
      const again = Layer.fresh(PlayerTokens.layer).pipe(
        Layer.provide(Layer.succeed(PlayerActors, yield* PlayerActors)),
        Layer.provide([Entropy.layer, Settings.layerTest({ masterKey: (yield* Settings).masterKey })])
      )
      // another process of the service reads it, because the key comes from the master key
      const read = yield* Effect.provide(Effect.map(PlayerTokens, (others) => others.read(token)), again)
      assert.strictEqual(read?.playerId, 7)
    }))
})
