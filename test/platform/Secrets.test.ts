import { assert, describe, it, layer } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { Entropy } from "../../src/platform/Entropy.ts"
import { equalSecrets, Secrets, sha256 } from "../../src/platform/Secrets.ts"
import { Settings } from "../../src/platform/Settings.ts"

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex")

layer(Secrets.layer.pipe(Layer.provide(Settings.layerTest())))("Secrets", (it) => {
  // Goal: sealed text can be opened again, and reveals nothing. Method: seal the same text twice.
  it.effect("decrypts its own ciphertexts, which differ even for equal texts", () =>
    Effect.gen(function*() {
      const secrets = yield* Secrets
      const one = secrets.seal("key:1", "s3cret ünïcode")
      const two = secrets.seal("key:1", "s3cret ünïcode")
      assert.strictEqual(yield* secrets.openText("key:1", one), "s3cret ünïcode")
      assert.strictEqual(yield* secrets.openText("key:1", two), "s3cret ünïcode")
      assert.notStrictEqual(hex(one), hex(two))
      assert.isFalse(Buffer.from(one).includes("s3cret"))
    }))

  // Goal: a changed byte and another purpose are detected. Method: flip each byte of a sealed value in turn.
  it.effect("refuses a changed ciphertext and another purpose", () =>
    Effect.gen(function*() {
      const secrets = yield* Secrets
      const sealed = secrets.seal("key:1", "secret")
      assert.strictEqual((yield* Effect.flip(secrets.open("key:2", sealed)))._tag, "SecretUnreadable")
      assert.strictEqual((yield* Effect.flip(secrets.open("key:1", sealed.subarray(0, 20))))._tag, "SecretUnreadable")
      assert.strictEqual((yield* Effect.flip(secrets.open("key:1", new Uint8Array())))._tag, "SecretUnreadable")
      for (let index = 0; index < sealed.length; index++) {
        const changed = sealed.map((byte, at) => at === index ? byte ^ 1 : byte)
        assert.strictEqual((yield* Effect.flip(secrets.open("key:1", changed)))._tag, "SecretUnreadable")
      }
    }))

  // Goal: another master key reads nothing. Method: a second service under another key.
  it.effect("refuses another master key", () =>
    Effect.gen(function*() {
      const sealed = (yield* Secrets).seal("key:1", "secret")
      const other = Layer.fresh(Secrets.layer).pipe(
        Layer.provide(Settings.layerTest({ masterKey: Redacted.make(new Uint8Array(32).fill(7)) }))
      )
      const error = yield* Secrets.pipe(
        Effect.flatMap((secrets) => secrets.open("key:1", sealed)),
        Effect.provide(other),
        Effect.flip
      )
      assert.strictEqual(error._tag, "SecretUnreadable")
    }))
})

// Goal: values sealed under the previous key are opened in either form, and distinguished from current ones. Method: a
// service with both keys, one with the old key only, and a value in the form of before keys had names, made by hand.
it.effect("a service with a new and the previous master key decrypts ciphertexts of both, and encrypts under the new one", () =>
  Effect.gen(function*() {
    const [old, fresh] = [Redacted.make(new Uint8Array(32).fill(1)), Redacted.make(new Uint8Array(32).fill(2))]
    const under = (settings: Parameters<typeof Settings.layerTest>[0]) =>
      Effect.provide(
        Effect.service(Secrets),
        Layer.fresh(Secrets.layer).pipe(Layer.provide(Settings.layerTest(settings)))
      )
    const before = yield* under({ masterKey: old })
    const both = yield* under({ masterKey: fresh, masterKeyPrevious: old })
    const after = yield* under({ masterKey: fresh })

    const sealed = before.seal("key:1", "secret")
    assert.strictEqual(yield* both.openText("key:1", sealed), "secret")
    assert.strictEqual((yield* Effect.flip(after.open("key:1", sealed)))._tag, "SecretUnreadable")
    assert.deepStrictEqual([before.isCurrent(sealed), both.isCurrent(sealed)], [true, false])
    const anew = both.seal("key:1", "secret")
    assert.strictEqual(yield* after.openText("key:1", anew), "secret")
    assert.isTrue(after.isCurrent(anew))
  }))

describe("hashing and comparing", () => {
  // Goal: the hash is SHA-256 and nothing home-made. Method: the published value for "abc".
  it("sha256 yields the published digest of its test vector", () => {
    assert.strictEqual(hex(sha256("abc")), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
  })

  // Goal: equality is that of contents. Method: equal, different, and different in length.
  it("equalSecrets is true only for equal secrets", () => {
    assert.isTrue(equalSecrets("token", Buffer.from("token")))
    assert.isFalse(equalSecrets("token", "tokem"))
    assert.isFalse(equalSecrets("token", "token2"))
  })
})

describe("Entropy", () => {
  // Goal: tokens have the asked-for form and every character is possible and none favoured.
  // Method: a source that yields every byte value once; 248 of 256 are used, so each character comes up 4 times.
  it("spreads bytes evenly over the alphabet", () => {
    const entropy = Entropy.fromBytes((count) => Uint8Array.from({ length: count }, (_, index) => index % 256))
    const counts = new Map<string, number>()
    for (const character of entropy.token("", 248)) counts.set(character, (counts.get(character) ?? 0) + 1)
    assert.strictEqual(counts.size, 62)
    assert.deepStrictEqual([...new Set(counts.values())], [4])
    assert.match(entropy.token("pbs_", 40), /^pbs_[0-9A-Za-z]{40}$/)
  })
})
