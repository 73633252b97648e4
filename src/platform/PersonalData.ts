/**
 * Personal data at rest: values that identify a person or a bank account are stored encrypted, with a keyed digest where they are compared. A bare
 * hash would not protect a personal number, since all numbers can be enumerated. The key of the digests is stored encrypted under the master key, so
 * that digests survive a change of that key.
 */
import { Context, Effect, Layer, Schema } from "effect"
import * as Crypto from "node:crypto"
import { Secrets } from "./Secrets.ts"
import { makeLogThrottle } from "./LogThrottle.ts"

/** Key of the digests. */
export class DigestKey extends Context.Service<DigestKey, Crypto.KeyObject>()("pitboss/platform/DigestKey") {
  static readonly layerTest = Layer.succeed(DigestKey, Crypto.createSecretKey(new Uint8Array(32)))
}

const Fields = Schema.fromJsonString(Schema.Record(Schema.String, Schema.NullOr(Schema.String)))
const decodeFields = Schema.decodeUnknownEffect(Fields)

/** Texts by field name. */
export interface PersonalFields {
  readonly [name: string]: string | null
}

const digestBytes = 16

export class PersonalData extends Context.Service<PersonalData, {
  /** Seals fields for one row; null when all are null. */
  readonly seal: (purpose: string, fields: PersonalFields) => Uint8Array | null
  /** Decrypts the fields of a row. Unreadable ones are absent and logged. */
  readonly open: (purpose: string, sealed: Uint8Array | null) => Effect.Effect<PersonalFields>
  /** Keyed digest of a value, for equality searches. */
  readonly digest: (kind: string, value: string) => Uint8Array
  /** Stored form of a request's bare SHA-256. */
  readonly fingerprint: (bare: Uint8Array) => Uint8Array
  /** Stored form of a bare digest of a fact about a player. */
  readonly fact: (bare: Uint8Array) => Uint8Array
}>()("pitboss/platform/PersonalData") {
  static readonly layer = Layer.effect(
    PersonalData,
    Effect.gen(function*() {
      const key = yield* DigestKey
      const secrets = yield* Secrets
      const throttle = yield* makeLogThrottle(5000)

      const hmac = (purpose: string, value: string | Uint8Array): Buffer =>
        Crypto.createHmac("sha256", key).update(`${purpose}\n`).update(value).digest()

      const unreadable = (purpose: string) =>
        Effect.as(
          throttle((others) =>
            Effect.logError("personal data cannot be decrypted with this MASTER_KEY").pipe(
              Effect.annotateLogs({
                purpose,
                others,
                remedy: "start with the MASTER_KEY it was encrypted with, or set that key as MASTER_KEY_PREVIOUS"
              })
            )
          ),
          {}
        )

      return PersonalData.of({
        seal: (purpose, fields) =>
          Object.values(fields).every((value) => value === null) ? null : secrets.seal(purpose, JSON.stringify(fields)),
        open: (purpose, sealed) =>
          sealed === null
            ? Effect.succeed({})
            : secrets.openText(purpose, sealed).pipe(
              Effect.flatMap(decodeFields),
              Effect.catch(() => unreadable(purpose))
            ),
        digest: (kind, value) => new Uint8Array(hmac(kind, value).subarray(0, digestBytes)),
        fingerprint: (bare) => new Uint8Array(hmac("fingerprint", bare)),
        fact: (bare) => new Uint8Array(hmac("fact", bare).subarray(0, digestBytes))
      })
    })
  )
}
