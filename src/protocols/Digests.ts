/** Constant-time comparison of signature digests. */
import * as Crypto from "node:crypto"

/** Constant-time comparison of two hexadecimal digests. */
export const isSameDigest = (expected: string, given: string): boolean => {
  const one = Buffer.from(expected, "latin1")
  const other = Buffer.from(given, "latin1")
  return one.length === other.length && Crypto.timingSafeEqual(one, other)
}
