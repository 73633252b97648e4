import { Context, Effect, Layer, Redacted, Schema } from "effect"
import * as Crypto from "node:crypto"
import { Entropy } from "./Entropy.ts"
import { Settings } from "./Settings.ts"

const algorithm = "aes-256-gcm"
const version = 1
const nonceBytes = 12
const tagBytes = 16

/** What was stored is not what this master key sealed for this purpose: another key, or a changed value. */
export class SecretUnreadable extends Schema.TaggedError<SecretUnreadable>()("SecretUnreadable", {
  purpose: Schema.String
}) {}

/**
 * Secrets at rest: AES-256-GCM under `MASTER_KEY`. Sealed bytes are a version byte, the nonce, the tag and the
 * ciphertext. The purpose is bound in, so that a value cannot be moved from one column or owner to another.
 *
 *     const sealed = secrets.seal("api-key:17", secret)
 *     const secret = yield* secrets.openText("api-key:17", sealed)
 */
export class Secrets extends Context.Service<Secrets, {
  readonly seal: (purpose: string, plain: string | Uint8Array) => Uint8Array
  readonly open: (purpose: string, sealed: Uint8Array) => Effect.Effect<Uint8Array, SecretUnreadable>
  readonly openText: (purpose: string, sealed: Uint8Array) => Effect.Effect<string, SecretUnreadable>
}>()("pitboss/platform/Secrets") {
  static readonly layer = Layer.effect(
    Secrets,
    Effect.gen(function*() {
      const { masterKey } = yield* Settings
      const entropy = yield* Entropy
      const key = Crypto.createSecretKey(Redacted.value(masterKey))

      const seal = (purpose: string, plain: string | Uint8Array): Uint8Array => {
        const nonce = entropy.bytes(nonceBytes)
        const cipher = Crypto.createCipheriv(algorithm, key, nonce, { authTagLength: tagBytes })
        cipher.setAAD(Buffer.from(purpose))
        const body = Buffer.concat([cipher.update(plain), cipher.final()])
        return new Uint8Array(Buffer.concat([Buffer.of(version), nonce, cipher.getAuthTag(), body]))
      }

      const open = (purpose: string, sealed: Uint8Array) =>
        Effect.try({
          try: () => {
            if (sealed[0] !== version) throw new Error("unknown version")
            const nonce = sealed.subarray(1, 1 + nonceBytes)
            const tag = sealed.subarray(1 + nonceBytes, 1 + nonceBytes + tagBytes)
            const decipher = Crypto.createDecipheriv(algorithm, key, nonce, { authTagLength: tagBytes })
            decipher.setAAD(Buffer.from(purpose))
            decipher.setAuthTag(tag)
            const body = sealed.subarray(1 + nonceBytes + tagBytes)
            return new Uint8Array(Buffer.concat([decipher.update(body), decipher.final()]))
          },
          catch: () => new SecretUnreadable({ purpose })
        })

      const openText = (purpose: string, sealed: Uint8Array) =>
        Effect.map(open(purpose, sealed), (bytes) => Buffer.from(bytes).toString("utf8"))

      return Secrets.of({ seal, open, openText })
    })
  ).pipe(Layer.provide(Entropy.layer))
}

/** SHA-256, for what need only be compared: tokens have enough entropy to need no salt and no stretching. */
export const sha256 = (value: string | Uint8Array): Uint8Array =>
  new Uint8Array(Crypto.createHash("sha256").update(value).digest())

/** Whether two secrets are equal, in a time that does not depend on where they differ or on their lengths. */
export const equalSecrets = (one: string | Uint8Array, other: string | Uint8Array): boolean =>
  Crypto.timingSafeEqual(sha256(one), sha256(other))
