/** The signature of 01.tech's aggregator and of what came before it, both ways: HMAC-SHA256 of the raw body. */
import * as Crypto from "node:crypto"
import { isSameDigest } from "./Digests.ts"

export interface RequestSigner {
  /** The signature of a body, lower-case hexadecimal. */
  readonly sign: (body: string | Buffer) => string
  /** Whether a signature is the body's. */
  readonly verify: (body: Buffer, signature: string) => boolean
}

/** The header that the signature comes in. */
export const signatureHeader = "x-request-sign"

export const requestSigner = (authToken: string): RequestSigner => {
  const key = Crypto.createSecretKey(authToken, "utf8")
  const sign = (body: string | Buffer): string => Crypto.createHmac("sha256", key).update(body).digest("hex")
  return { sign, verify: (body, signature) => isSameDigest(sign(body), signature) }
}
