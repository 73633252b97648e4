/** Signature of SOFTSWISS protocols (`a8r` and `gcp`), both directions: HMAC-SHA256 of the raw body. */
import * as Crypto from "node:crypto"
import { isSameDigest } from "./Digests.ts"

export interface RequestSigner {
  /** Signature of a body, lower-case hexadecimal. */
  readonly sign: (body: string | Buffer) => string
  /** Verifies the signature of a body. */
  readonly verify: (body: Buffer, signature: string) => boolean
}

/** Header of the signature. */
export const signatureHeader = "x-request-sign"

export const requestSigner = (authToken: string): RequestSigner => {
  const key = Crypto.createSecretKey(authToken, "utf8")
  const sign = (body: string | Buffer): string => Crypto.createHmac("sha256", key).update(body).digest("hex")
  return { sign, verify: (body, signature) => isSameDigest(sign(body), signature) }
}
