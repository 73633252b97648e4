/** Signature of Pragmatic Play, both directions: MD5 over the sorted parameters and the secret. */
import * as Crypto from "node:crypto"
import type { FormEntries } from "../FormBody.ts"

/** All parameters except the hash itself, including unknown ones; empty ones are omitted. */
const textToHash = (entries: FormEntries): string =>
  entries
    .filter(([name, value]) => name !== "hash" && value !== "")
    .sort(([one], [other]) => (one < other ? -1 : one > other ? 1 : 0))
    .map(([name, value]) => `${name}=${value}`)
    .join("&")

/** Hash of parameters, lower-case hexadecimal. */
export const pragmaticHash = (secret: string, entries: FormEntries): string =>
  Crypto.hash("md5", textToHash(entries) + secret, "hex")
