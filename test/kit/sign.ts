import { createHmac } from "node:crypto"

/**
 * Signs a request as callers do, from the specification alone and not with the service's code: lower-case hex HMAC-SHA256
 * over method, URI as sent, timestamp and raw body, and the nonce where there is one, joined by line feeds.
 */
export const sign = (
  secret: string,
  method: string,
  uri: string,
  timestamp: string,
  body: string | Uint8Array,
  nonce?: string
): string => {
  const head = Buffer.from(`${method}\n${uri}\n${timestamp}\n`, "utf8")
  const tail = Buffer.from(nonce === undefined ? "" : `\n${nonce}`, "utf8")
  return createHmac("sha256", secret).update(Buffer.concat([head, Buffer.from(body), tail])).digest("hex")
}
