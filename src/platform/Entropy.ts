import { Context, Layer } from "effect"
import * as Crypto from "node:crypto"

const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

/** 248 is the largest multiple of 62 in a byte: larger bytes are rejected, so that all characters are equally likely. */
const bound = 248

/**
 * Cryptographic randomness for keys, tokens, nonces and game seeds. A service, so that a run can be replayed from a seed.
 *
 *     const entropy = yield* Entropy
 *     const token = entropy.token("pbs_", 40) // "pbs_" and 40 characters of 0-9A-Za-z
 */
export class Entropy extends Context.Service<Entropy, {
  /** `count` random bytes. */
  readonly bytes: (count: number) => Uint8Array
  /** `prefix` followed by `length` characters of 0-9A-Za-z; 22 of them carry 130 bits. */
  readonly token: (prefix: string, length: number) => string
}>()("pitboss/platform/Entropy") {
  /** Builds the service on any source of random bytes. */
  static readonly fromBytes = (bytes: (count: number) => Uint8Array): Entropy["Service"] => ({
    bytes,
    token: (prefix, length) => {
      let text = ""
      while (text.length < length) {
        for (const byte of bytes(length - text.length)) {
          if (byte < bound) text += alphabet[byte % alphabet.length]
        }
      }
      return prefix + text
    }
  })

  /** The operating system's generator. */
  static readonly layer = Layer.succeed(Entropy, Entropy.fromBytes((count) => Crypto.randomBytes(count)))
}
