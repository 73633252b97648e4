/** The signature of Slotegrator GIS, both ways: HMAC-SHA1 over parameters and headers, written as PHP writes a query. */
import * as Crypto from "node:crypto"
import type { FormEntries } from "../FormBody.ts"

/** What is sent beside the parameters. */
export interface SignedHeaders {
  readonly "X-Merchant-Id": string
  readonly "X-Timestamp": string
  readonly "X-Nonce": string
}

const headerNames = new Set(["X-Merchant-Id", "X-Timestamp", "X-Nonce"])

/** Most names and values: nothing in them is written otherwise. */
const isPlain = /^[\w.-]*$/

/** RFC 1738: a space is a plus sign, and of punctuation only `-`, `_` and `.` stand for themselves. */
const encode = (text: string): string =>
  isPlain.test(text) ? text : encodeURIComponent(text)
    .replaceAll("%20", "+")
    .replaceAll(/[!'()*~]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`)

/** The name of the list or map that a field is part of. */
const topName = (name: string): string => {
  const bracket = name.indexOf("[")
  return bracket < 0 ? name : name.slice(0, bracket)
}

/** Sorted by the names at the top only: what is nested keeps the order in which it was sent. */
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
