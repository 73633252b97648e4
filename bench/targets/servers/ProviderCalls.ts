import { createHmac, createSecretKey, type KeyObject, timingSafeEqual } from "node:crypto"
import type { IncomingHttpHeaders } from "node:http"

/** How far a caller's clock may be off, seconds. */
const toleranceSeconds = 300

/**
 * Checks signed provider calls as the service does: HMAC-SHA256 over method, URI, timestamp and the raw bytes of the
 * body, compared in constant time. Shared by the baseline and the ceiling, so that both pay the same for it.
 */
export class ProviderCalls {
  readonly #secrets: ReadonlyMap<string, KeyObject>

  constructor(secrets: Iterable<readonly [key: string, secret: string]>) {
    this.#secrets = new Map([...secrets].map(([key, secret]) => [key, createSecretKey(secret, "utf8")]))
  }

  /** The error code of a call that must be refused, undefined when it is authentic. */
  refusal(method: string, uri: string, headers: IncomingHttpHeaders, body: Buffer): string | undefined {
    const key = headers["x-provider-key"]
    const timestamp = headers["x-timestamp"]
    const signature = headers["x-signature"]
    if (typeof key !== "string" || typeof timestamp !== "string" || typeof signature !== "string") {
      return "MISSING_CREDENTIALS"
    }
    const secret = this.#secrets.get(key)
    if (secret === undefined) return "INVALID_API_KEY"
    if (!(Math.abs(Date.now() / 1000 - Number(timestamp)) <= toleranceSeconds)) return "TIMESTAMP_OUT_OF_RANGE"
    const expected = createHmac("sha256", secret).update(`${method}\n${uri}\n${timestamp}\n`).update(body).digest("hex")
    if (signature.length !== expected.length) return "INVALID_SIGNATURE"
    return timingSafeEqual(Buffer.from(signature, "latin1"), Buffer.from(expected, "latin1"))
      ? undefined
      : "INVALID_SIGNATURE"
  }
}
