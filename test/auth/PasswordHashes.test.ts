import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import * as Crypto from "node:crypto"
import { PasswordHashes } from "../../src/auth/PasswordHashes.ts"

layer(PasswordHashes.layer)("PasswordHashes", (it) => {
  // Goal: the text is a true Argon2id hash in PHC format. Method: recompute it with its own salt.
  it.effect("hashes with Argon2id and a salt of its own", () =>
    Effect.gen(function*() {
      const passwords = yield* PasswordHashes
      const text = yield* passwords.hash("pässwört9")
      const [, name, version, settings, salt = "", hash = ""] = text.split("$")
      assert.deepStrictEqual([name, version, settings], ["argon2id", "v=19", "m=19456,t=2,p=1"])
      const again = Crypto.argon2Sync("argon2id", {
        message: "pässwört9",
        nonce: Buffer.from(salt, "base64"),
        memory: 19_456,
        passes: 2,
        parallelism: 1,
        tagLength: 32
      })
      assert.isTrue(again.equals(Buffer.from(hash, "base64")))
      assert.notStrictEqual(yield* passwords.hash("pässwört9"), text)
    }))

  it.effect("accepts only the password that a hash was made of", () =>
    Effect.gen(function*() {
      const passwords = yield* PasswordHashes
      const text = yield* passwords.hash("pässwört9")
      const tried = [["pässwört9", text], ["pässwört8", text], ["pässwört9", undefined], [
        "",
        yield* passwords.random
      ]] as const
      const found = yield* Effect.forEach(tried, ([password, hash]) => passwords.verify(password, hash))
      assert.deepStrictEqual(found, [true, false, false, false])
    }))

  // Goal: a burst of registrations cannot take all memory. Method: ask for more than may wait, all at once.
  it.effect("refuses callers when too many wait, and works again afterwards", () =>
    Effect.gen(function*() {
      const passwords = yield* PasswordHashes
      const outcomes = yield* Effect.forEach(
        Array.from({ length: 70 }),
        () => Effect.match(passwords.hash("abcdefg1"), { onFailure: ({ code }) => code, onSuccess: () => "hashed" }),
        { concurrency: "unbounded" }
      )
      assert.strictEqual(outcomes.filter((outcome) => outcome === "TRY_AGAIN").length, 6)
      assert.strictEqual(outcomes.filter((outcome) => outcome === "hashed").length, 64)
      assert.match(yield* passwords.hash("abcdefg1"), /^\$argon2id\$/)
    }))

  it.effect("makes a different random hash each time for accounts without a password", () =>
    Effect.gen(function*() {
      const passwords = yield* PasswordHashes
      assert.match(yield* passwords.random, /^\$sha256\$[A-Za-z0-9+/]{43}$/)
      assert.notStrictEqual(yield* passwords.random, yield* passwords.random)
    }))
})
