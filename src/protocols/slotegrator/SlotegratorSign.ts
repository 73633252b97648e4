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

const isPlainByte = Array.from({ length: 256 }, (_, byte) => isPlain.test(String.fromCharCode(byte)))
const digits = Buffer.from("0123456789ABCDEF")
const space = 0x20
const plus = 0x2b
const percent = 0x25

/** RFC 1738 encoding: a space is a plus sign, and `-`, `_` and `.` are the only unescaped punctuation. One pass over the bytes. */
const encode = (text: string): string => {
  if (isPlain.test(text)) return text
  const bytes = Buffer.from(text, "utf8")
  const encoded = Buffer.allocUnsafe(3 * bytes.length)
  let length = 0
  for (const byte of bytes) {
    if (isPlainByte[byte] === true) {
      encoded[length++] = byte
    } else if (byte === space) {
      encoded[length++] = plus
    } else {
      encoded[length++] = percent
      encoded[length++] = digits[byte >> 4] ?? 0
      encoded[length++] = digits[byte & 15] ?? 0
    }
  }
  return encoded.toString("latin1", 0, length)
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
