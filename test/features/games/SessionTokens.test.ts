import { assert, layer } from "@effect/vitest"
import { Context, Effect, Layer, Redacted } from "effect"
import { SessionTokens, type WalletSession } from "../../../src/features/games/SessionTokens.ts"
import { Settings } from "../../../src/platform/Settings.ts"

const session: WalletSession = {
  sessionId: 4097,
  playerId: 1001,
  operatorId: 1000,
  gameId: 1002,
  providerId: 1003,
  mode: "real",
  expiresAt: 1_795_219_200_123
}

/** A service without state of another: everything it knows comes from the token. */
const anotherService = (masterKey?: Uint8Array) =>
  Layer.build(
    Layer.fresh(SessionTokens.layer).pipe(
      Layer.provide(Settings.layerTest(masterKey === undefined ? {} : { masterKey: Redacted.make(masterKey) }))
    )
  ).pipe(Effect.map((context) => Context.get(context, SessionTokens)))

layer(SessionTokens.layer.pipe(Layer.provide(Settings.layerTest())))("SessionTokens", (it) => {
  // Goal: a token carries the whole session, readable by any process with the same master key.
  // Method: issue here, verify in a second instance, for both modes and for the largest possible ids.
  it.effect("a token carries its session", () =>
    Effect.gen(function*() {
      const tokens = yield* SessionTokens
      const other = yield* anotherService()
      const sessions: ReadonlyArray<WalletSession> = [
        session,
        { ...session, mode: "demo" },
        { ...session, playerId: Number.MAX_SAFE_INTEGER, sessionId: Number.MAX_SAFE_INTEGER }
      ]
      for (const one of sessions) {
        const token = tokens.issue(one)
        assert.match(token, /^gs_[A-Za-z0-9_-]{84}$/)
        assert.deepStrictEqual(other.verify(token), one)
        assert.deepStrictEqual(other.verify(token), one, "the second look, from memory")
      }
    }))

  // Goal: only issued tokens verify. Method: replace every character in turn, in every way a lenient decoder might accept;
  // cut it, lengthen it, encode it in the other base64 alphabet, issue it under another key.
  it.effect("a changed, cut or foreign token is not valid", () =>
    Effect.gen(function*() {
      const tokens = yield* SessionTokens
      const token = tokens.issue(session)
      for (let index = 0; index < token.length; index++) {
        for (const character of ["A", "b", "-", "_", "+", "/", "=", " ", "\u0000", "é"]) {
          if (token[index] === character) continue
          const changed = token.slice(0, index) + character + token.slice(index + 1)
          assert.isUndefined(tokens.verify(changed), changed)
        }
      }
      for (
        const text of ["", "gs_", token.slice(0, -1), `${token}A`, ` ${token}`, token.slice(3), token.toLowerCase()]
      ) {
        assert.isUndefined(tokens.verify(text), text)
      }
      const foreign = yield* anotherService(new Uint8Array(32).fill(1))
      assert.isUndefined(tokens.verify(foreign.issue(session)))
      assert.deepStrictEqual(tokens.verify(token), session)
    }))

  // Goal: an expired session is distinguished from an unknown one: the caller decides what it still allows.
  it.effect("a token still yields its session after the session's expiry", () =>
    Effect.gen(function*() {
      const tokens = yield* SessionTokens
      const over = { ...session, expiresAt: 0 }
      assert.deepStrictEqual(tokens.verify(tokens.issue(over)), over)
    }))
})
