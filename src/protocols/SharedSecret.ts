/** Constant-time comparison of shared secrets sent in clear. */
import * as Crypto from "node:crypto"

const digest = (text: string): Buffer => Crypto.createHash("sha256").update(text, "utf8").digest()

/** Constant-time comparison with the secret, independent of the position of differences and of the length. */
export const secretCheck = (secret: string): (given: string) => boolean => {
  const expected = digest(secret)
  return (given) => Crypto.timingSafeEqual(expected, digest(given))
}
