/** Signature of Slotegrator GIS, both directions: HMAC-SHA1 over parameters and headers, encoded like a PHP query. */
import * as Crypto from "node:crypto"
import type { FormEntries } from "../FormBody.ts"

/** Signed headers, sent beside the parameters. */
export interface SignedHeaders {
  readonly "X-Merchant-Id": string
  readonly "X-Timestamp": string
  readonly "X-Nonce": string
}

const headerNames = new Set(["X-Merchant-Id", "X-Timestamp", "X-Nonce"])

/** Characters that need no encoding, as in most names and values. */
const isPlain = /^[\w.-]*$/

/** Left by `encodeURIComponent`, but not by PHP. */
const escapes = ["!", "'", "(", ")", "*", "~"].map((sign) =>
  [sign, `%${sign.charCodeAt(0).toString(16).toUpperCase()}`] as const
)

/** RFC 1738 encoding: a space is a plus sign, and `-`, `_` and `.` are the only unescaped punctuation. */
const encode = (text: string): string => {
  if (isPlain.test(text)) return text
  let encoded = encodeURIComponent(text).replaceAll("%20", "+")
  for (const [sign, escape] of escapes) encoded = encoded.replaceAll(sign, escape)
  return encoded
}

/** Name of the list or map that contains a field. */
const topName = (name: string): string => {
  const bracket = name.indexOf("[")
  return bracket < 0 ? name : name.slice(0, bracket)
}

/** Sorted by top-level names only: nested fields keep the order sent. */
export const textToSign = (entries: FormEntries, headers: SignedHeaders): string =>
  [...entries.filter(([name]) => !headerNames.has(name)), ...Object.entries(headers)]
    .map(([name, value]) => ({ top: topName(name), text: `${encode(name)}=${encode(value)}` }))
    .sort((one, other) => (one.top < other.top ? -1 : one.top > other.top ? 1 : 0))
    .map(({ text }) => text)
    .join("&")

export const slotegratorSign = (
  key: Crypto.KeyObject,
  entries: FormEntries,
  headers: SignedHeaders
): string => Crypto.createHmac("sha1", key).update(textToSign(entries, headers)).digest("hex")
