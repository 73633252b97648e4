/** Comparison of signatures. */
import * as Crypto from "node:crypto"

/** Whether two digests in hexadecimal are the same, in a time that does not depend on where they differ. */
export const isSameDigest = (expected: string, given: string): boolean => {
  const one = Buffer.from(expected, "latin1")
  const other = Buffer.from(given, "latin1")
  return one.length === other.length && Crypto.timingSafeEqual(one, other)
}
