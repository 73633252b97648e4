/**
 * Pure checks of a signed request: its headers, key, timestamp and nonce. The middleware determines their order
 * (`docs/decisions/0003-request-pipeline.md`).
 */
import type { ApiKey, Operator } from "../domain/state/Operator.ts"
import { type Refusal, refuse } from "../domain/Refusal.ts"
import { iso } from "../platform/Time.ts"

const toleranceSeconds = 300
const maxNonceLength = 128

/** The headers of a signed request. */
export interface SignedHeaders {
  readonly key: string
  readonly timestamp: string
  readonly signature: string
  readonly nonce: string | undefined
}

type Headers = { readonly [name: string]: string | undefined }

/** Reads the headers; undefined when a required one is absent or empty. `keyHeader` in lower case. */
export const signedHeaders = (headers: Headers, keyHeader: string): SignedHeaders | undefined => {
  const key = headers[keyHeader]
  const timestamp = headers["x-timestamp"]
  const signature = headers["x-signature"]
  return key === undefined || key === "" || timestamp === undefined || timestamp === "" || signature === undefined ||
      signature === ""
    ? undefined
    : { key, timestamp, signature, nonce: headers["x-nonce"] }
}

export const missingCredentials = (keyHeader: string): Refusal<"MISSING_CREDENTIALS"> =>
  refuse("MISSING_CREDENTIALS", `The headers ${keyHeader}, X-Timestamp and X-Signature are required.`)

export const invalidKey = refuse("INVALID_API_KEY", "The key is unknown.")
export const invalidSignature = refuse("INVALID_SIGNATURE", "The signature does not match the request.")
export const addressNotAllowed = refuse("IP_NOT_ALLOWED", "The key may not be used from this address.")

const inactive = (message: string) => refuse("API_KEY_INACTIVE", message)

const revoked = inactive("The key was revoked.")
const expired = inactive("The key has expired.")
const operatorInactive = inactive("The operator is not active.")

/** Refuses a revoked or expired key, and any key of an inactive operator. `now` in epoch milliseconds. */
export const refuseInactiveKey = (
  { apiKey, operator }: { readonly apiKey: ApiKey; readonly operator: Operator },
  now: number
): Refusal<"API_KEY_INACTIVE"> | undefined => {
  if (apiKey.revokedAt !== null) return revoked
  if (apiKey.expiresAt !== null && now >= apiKey.expiresAt) return expired
  return operator.active ? undefined : operatorInactive
}

const unixSeconds = /^\d{1,15}$/

/** Refuses a timestamp that is not a Unix time or is too far from `now` (epoch milliseconds). */
export const refuseTimestamp = (timestamp: string, now: number): Refusal<"TIMESTAMP_OUT_OF_RANGE"> | undefined =>
  unixSeconds.test(timestamp) && Math.abs(Math.floor(now / 1000) - Number(timestamp)) <= toleranceSeconds
    ? undefined
    : refuse(
      "TIMESTAMP_OUT_OF_RANGE",
      `X-Timestamp must be the Unix time in seconds, at most ${toleranceSeconds} seconds from the server's.`,
      {
        server_time: iso(now)
      }
    )

const nonceTooLong = refuse("INVALID_NONCE", `X-Nonce must have at most ${maxNonceLength} characters.`, {
  max_length: maxNonceLength
})

export const refuseNonce = (nonce: string | undefined): Refusal<"INVALID_NONCE"> | undefined =>
  nonce !== undefined && nonce.length > maxNonceLength ? nonceTooLong : undefined
