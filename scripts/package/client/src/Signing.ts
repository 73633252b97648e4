/** Signatures and randomness by the Web Crypto API, which Node.js, Deno, Bun and browsers have. */
import type { Authorise } from "./Transport.ts"

export const bytesOf = (text: string): Uint8Array<ArrayBuffer> => new Uint8Array(new TextEncoder().encode(text))

export const hexOf = (bytes: Uint8Array): string =>
  Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")

/** 128 random bits in hexadecimal digits: nonces, idempotency keys. */
export const randomId = (): string => hexOf(crypto.getRandomValues(new Uint8Array(16)))

/** Signs with HMAC-SHA256. */
export type Mac = (message: Uint8Array<ArrayBuffer>) => Promise<Uint8Array>

export const macOf = (key: Uint8Array<ArrayBuffer>): Mac => {
  const imported = crypto.subtle.importKey("raw", key, { name: "HMAC", hash: "SHA-256" }, false, ["sign"])
  // a key that cannot be imported is told to whoever signs
  imported.catch(() => {})
  return async (message) => new Uint8Array(await crypto.subtle.sign("HMAC", await imported, message))
}

/** Compares in a time that depends on the lengths only. */
export const isEqual = (one: Uint8Array, other: Uint8Array): boolean => {
  let difference = one.length ^ other.length
  for (let at = 0; at < one.length; at++) difference |= (one[at] ?? 0) ^ (other[at] ?? 0)
  return difference === 0
}

/** Signs with a key of the operator. Each attempt has a new time and nonce: the service takes a signature once. */
export const signingWith = (key: string, secret: string): Authorise => {
  const mac = macOf(bytesOf(secret))
  return async (method, uri, body) => {
    const timestamp = String(Math.floor(Date.now() / 1000))
    const nonce = randomId()
    return {
      "x-api-key": key,
      "x-timestamp": timestamp,
      "x-nonce": nonce,
      "x-signature": hexOf(await mac(bytesOf([method, uri, timestamp, body, nonce].join("\n"))))
    }
  }
}

/** Sends a player's session token. */
export const bearing = (token: string | (() => string | Promise<string>)): Authorise => async () => ({
  authorization: `Bearer ${typeof token === "string" ? token : await token()}`
})
