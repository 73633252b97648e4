/**
 * Password hashes. Chosen passwords use Argon2id with OWASP's first recommendation: 19 MiB, two passes, one
 * lane, about 30 ms of one core. Random passwords of 256 bits cannot be guessed and need no slow hash.
 */
import { Context, Effect, Layer } from "effect"
import * as Crypto from "node:crypto"
import { type Refusal, refuse } from "../domain/Refusal.ts"
import { Entropy } from "../platform/Entropy.ts"
import { makeConcurrencyLimit } from "../platform/ConcurrencyLimit.ts"

const parameters = { memory: 19_456, passes: 2, parallelism: 1, tagLength: 32 }
const saltBytes = 16

/** Concurrency and queue limits: each hash occupies a core and 19 MiB. About one second of work may queue. */
const hashConcurrency = { maxRunning: 2, maxWaiting: 62, maxWait: "10 seconds" } as const

const tooManyHashes = refuse("TRY_AGAIN", "Too many registrations are waiting. Send the same request again.", {
  retry: "same_request"
})

/** Separate queue for staff sign-ins, so that registrations and sign-ins do not delay each other. */
const verifyConcurrency = { maxRunning: 1, maxWaiting: 30, maxWait: "10 seconds" } as const

const tooManySignIns = refuse("TRY_AGAIN", "Too many sign-ins are waiting. Send the same request again.", {
  retry: "same_request"
})

const phc = /^\$argon2id\$v=19\$m=19456,t=2,p=1\$([A-Za-z0-9+/]{22})\$([A-Za-z0-9+/]{43})$/

const unpadded = (bytes: Uint8Array): string => Buffer.from(bytes).toString("base64").replaceAll("=", "")

export class PasswordHashes extends Context.Service<PasswordHashes, {
  /** Hash of a chosen password, in PHC format: `$argon2id$v=19$m=19456,t=2,p=1$<salt>$<hash>`. */
  readonly hash: (password: string) => Effect.Effect<string, Refusal<"TRY_AGAIN">>
  /**
   * Whether a password matches a hash of {@link hash}. Without a hash, or with one of another form, takes the same time and returns
   * false.
   */
  readonly verify: (password: string, hash: string | undefined) => Effect.Effect<boolean, Refusal<"TRY_AGAIN">>
  /** Hash of a random password, which is discarded. */
  readonly random: Effect.Effect<string>
}>()("pitboss/auth/PasswordHashes") {
  static readonly layer = Layer.effect(
    PasswordHashes,
    Effect.gen(function*() {
      const entropy = yield* Entropy
      const limitHashes = yield* makeConcurrencyLimit(hashConcurrency)
      const limitVerifications = yield* makeConcurrencyLimit(verifyConcurrency)

      const argon2id = (password: string, salt: Uint8Array) =>
        Effect.callback<Buffer>((resume) => {
          Crypto.argon2("argon2id", { message: password, nonce: salt, ...parameters }, (error, key) =>
            resume(error === null ? Effect.succeed(key) : Effect.die(error)))
        })

      const hash = (password: string) =>
        Effect.suspend(() => {
          const salt = entropy.bytes(saltBytes)
          const { memory, parallelism, passes } = parameters
          return argon2id(password, salt).pipe(
            limitHashes(tooManyHashes),
            Effect.map((key) =>
              `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${unpadded(salt)}$${unpadded(key)}`
            )
          )
        })

      const verify = (password: string, hash: string | undefined) =>
        Effect.suspend(() => {
          const [, salt, expected] = phc.exec(hash ?? "") ?? []
          const known = expected === undefined ? undefined : Buffer.from(expected, "base64")
          return argon2id(password, salt === undefined ? new Uint8Array(saltBytes) : Buffer.from(salt, "base64")).pipe(
            limitVerifications(tooManySignIns),
            Effect.map((key) => known !== undefined && Crypto.timingSafeEqual(key, known))
          )
        })

      const random = Effect.sync(() =>
        `$sha256$${unpadded(Crypto.createHash("sha256").update(entropy.bytes(32)).digest())}`
      )

      return PasswordHashes.of({ hash, verify, random })
    })
  ).pipe(Layer.provide(Entropy.layer))
}
