/** Secrets at rest: AES-256-GCM under `MASTER_KEY`. */
import { Context, Effect, Layer, Redacted, Schema } from "effect"
import * as Crypto from "node:crypto"
import { Entropy } from "./Entropy.ts"
import { Settings } from "./Settings.ts"
import { subkeyBytes } from "./Subkey.ts"

const algorithm = "aes-256-gcm"
/** Version of the format. */
const version = 1
const keyNameBytes = 4
const nonceBytes = 12
const tagBytes = 16

/** Not sealed by this master key for this purpose: another key, or a modified value. */
export class SecretUnreadable extends Schema.TaggedError<SecretUnreadable>()("SecretUnreadable", {
  purpose: Schema.String
}) {}

interface MasterKey {
  /** Identifies the key, and reveals nothing about it. */
  readonly name: Buffer
  readonly key: Crypto.KeyObject
}

const named = (masterKey: Redacted.Redacted<Uint8Array>): MasterKey => ({
  name: Buffer.from(subkeyBytes(masterKey, "master-key-name").subarray(0, keyNameBytes)),
  key: Crypto.createSecretKey(Redacted.value(masterKey))
})

const opened = ({ key }: MasterKey, purpose: string, body: Uint8Array): Uint8Array | undefined => {
  try {
    const nonce = body.subarray(0, nonceBytes)
    const tag = body.subarray(nonceBytes, nonceBytes + tagBytes)
    const decipher = Crypto.createDecipheriv(algorithm, key, nonce, { authTagLength: tagBytes })
    decipher.setAAD(Buffer.from(purpose))
    decipher.setAuthTag(tag)
    return new Uint8Array(Buffer.concat([decipher.update(body.subarray(nonceBytes + tagBytes)), decipher.final()]))
  } catch {
    return undefined
  }
}

/**
 * Values sealed under `MASTER_KEY_PREVIOUS` are opened as well. Sealed bytes are a version byte, the key's name, the nonce, the tag and the
 * ciphertext. The purpose is bound in, so that a value cannot be moved to another column or owner.
 *
 *     const sealed = secrets.seal("api-key:17", secret)
 *     const secret = yield* secrets.openText("api-key:17", sealed)
 */
export class Secrets extends Context.Service<Secrets, {
  readonly seal: (purpose: string, plain: string | Uint8Array) => Uint8Array
  readonly open: (purpose: string, sealed: Uint8Array) => Effect.Effect<Uint8Array, SecretUnreadable>
  readonly openText: (purpose: string, sealed: Uint8Array) => Effect.Effect<string, SecretUnreadable>
  /** True when the sealed bytes name the current `MASTER_KEY`. */
  readonly isCurrent: (sealed: Uint8Array) => boolean
}>()("pitboss/platform/Secrets") {
  static readonly layer = Layer.effect(
    Secrets,
    Effect.gen(function*() {
      const { masterKey, masterKeyPrevious } = yield* Settings
      const entropy = yield* Entropy
      const current = named(masterKey)
      const keys = masterKeyPrevious === undefined ? [current] : [current, named(masterKeyPrevious)]
      const head = Buffer.concat([Buffer.of(version), current.name])

      const seal = (purpose: string, plain: string | Uint8Array): Uint8Array => {
        const nonce = entropy.bytes(nonceBytes)
        const cipher = Crypto.createCipheriv(algorithm, current.key, nonce, { authTagLength: tagBytes })
        cipher.setAAD(Buffer.from(purpose))
        const body = Buffer.concat([cipher.update(plain), cipher.final()])
        return new Uint8Array(Buffer.concat([head, nonce, cipher.getAuthTag(), body]))
      }

      const unseal = (purpose: string, sealed: Uint8Array): Uint8Array | undefined => {
        if (sealed[0] !== version) return undefined
        const key = keys.find(({ name }) => name.equals(sealed.subarray(1, 1 + keyNameBytes)))
        return key && opened(key, purpose, sealed.subarray(1 + keyNameBytes))
      }

      const open = (purpose: string, sealed: Uint8Array) =>
        Effect.suspend(() => {
          const plain = unseal(purpose, sealed)
          return plain === undefined ? Effect.fail(new SecretUnreadable({ purpose })) : Effect.succeed(plain)
        })

      const openText = (purpose: string, sealed: Uint8Array) =>
        Effect.map(open(purpose, sealed), (bytes) => Buffer.from(bytes).toString("utf8"))

      const isCurrent = (sealed: Uint8Array): boolean => head.equals(sealed.subarray(0, head.length))

      return Secrets.of({ seal, open, openText, isCurrent })
    })
  ).pipe(Layer.provide(Entropy.layer))
}

/** SHA-256 for comparisons: tokens have enough entropy to need no salt and no stretching. */
export const sha256 = (value: string | Uint8Array): Uint8Array =>
  new Uint8Array(Crypto.createHash("sha256").update(value).digest())

/** Constant-time comparison of two secrets, independent of the position of differences and of the lengths. */
export const equalSecrets = (one: string | Uint8Array, other: string | Uint8Array): boolean =>
  Crypto.timingSafeEqual(sha256(one), sha256(other))
