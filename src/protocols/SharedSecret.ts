/** Comparison of secrets that a vendor sends as they are. */
import * as Crypto from "node:crypto"

const digest = (text: string): Buffer => Crypto.createHash("sha256").update(text, "utf8").digest()

/** Whether a text is the secret, in a time that does not depend on where it differs, or on its length. */
export const secretCheck = (secret: string): (given: string) => boolean => {
  const expected = digest(secret)
  return (given) => Crypto.timingSafeEqual(expected, digest(given))
}
