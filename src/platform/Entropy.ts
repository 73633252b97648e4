/** Cryptographic randomness for keys, tokens, nonces and game seeds. */
import { Context, Layer } from "effect"
import * as Crypto from "node:crypto"

const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

/** 248 is the largest multiple of 62 in a byte: larger bytes are rejected, so that all characters are equally likely. */
const bound = 248

/** A version 4 UUID of 16 random bytes. */
const uuidOf = (bytes: Uint8Array): string => {
  const digits = Buffer.from(bytes)
  digits.writeUInt8((digits.readUInt8(6) & 0x0f) | 0x40, 6)
  digits.writeUInt8((digits.readUInt8(8) & 0x3f) | 0x80, 8)
  return digits.toString("hex").replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5")
}

/**
 * A service, so that a run can be replayed from a seed.
 *
 *     const entropy = yield* Entropy
 *     const token = entropy.token("pbs_", 40) // "pbs_" and 40 characters of 0-9A-Za-z
 */
export class Entropy extends Context.Service<Entropy, {
  /** `count` random bytes. */
  readonly bytes: (count: number) => Uint8Array
  /** `prefix` followed by `length` characters of 0-9A-Za-z; 22 of them carry 130 bits. */
  readonly token: (prefix: string, length: number) => string
  /** A version 4 UUID. */
  readonly uuid: () => string
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
    },
    uuid: () => uuidOf(bytes(16))
  })

  /** The operating system's generator. */
  static readonly layer = Layer.succeed(Entropy, Entropy.fromBytes((count) => Crypto.randomBytes(count)))
}
