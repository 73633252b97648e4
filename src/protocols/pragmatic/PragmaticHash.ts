/** The signature of Pragmatic Play, both ways: MD5 over the sorted parameters and the secret. */
import * as Crypto from "node:crypto"
import type { FormEntries } from "../FormBody.ts"

/** Every parameter but the hash itself, also those nobody knows; empty ones are left out. */
const textToHash = (entries: FormEntries): string =>
  entries
    .filter(([name, value]) => name !== "hash" && value !== "")
    .sort(([one], [other]) => (one < other ? -1 : one > other ? 1 : 0))
    .map(([name, value]) => `${name}=${value}`)
    .join("&")

/** The hash of parameters, lower-case hexadecimal. */
export const pragmaticHash = (secret: string, entries: FormEntries): string =>
  Crypto.hash("md5", textToHash(entries) + secret, "hex")
