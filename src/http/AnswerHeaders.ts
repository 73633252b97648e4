/** Security headers of every response: no caching, no sniffing, no referrer. */
import { isWithin, type Networks } from "../auth/Addresses.ts"

export type Headers = { readonly [name: string]: string }

const plain: Headers = {
  "cache-control": "no-store",
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer"
}

const overTls: Headers = { ...plain, "strict-transport-security": "max-age=31536000" }

/** Maximum number of peers with a cached trust decision. */
const maxPeers = 1000

/** `peerOf` is called only when trusted proxies are configured. */
export type AnswerHeaders = (peerOf: () => string | undefined, forwardedProto: string | undefined) => Headers

/** Headers of responses; `X-Forwarded-Proto` is believed from these proxies only. */
export const makeAnswerHeaders = (proxies: Networks): AnswerHeaders => {
  if (proxies.length === 0) return () => plain
  // Kept: trusted. Addresses that are trusted proxies by the settings. Several nodes: the same everywhere: a matter of the settings.
  const trusted = new Map<string, boolean>()
  const isTrusted = (peer: string): boolean => {
    const known = trusted.get(peer)
    if (known !== undefined) return known
    if (trusted.size >= maxPeers) trusted.clear()
    const found = isWithin(proxies, peer)
    trusted.set(peer, found)
    return found
  }
  return (peerOf, forwardedProto) => {
    if (forwardedProto?.toLowerCase() !== "https") return plain
    const peer = peerOf()
    return peer !== undefined && isTrusted(peer) ? overTls : plain
  }
}

/** Headers of answers without a request. */
export const plainAnswerHeaders = plain

const none: ReadonlySet<string> = new Set()

/** Header lines, each with its line end, except those named in `without`. */
export const linesOf = (headers: Headers, without = none): string => {
  let lines = ""
  for (const name of Object.keys(headers)) if (!without.has(name)) lines += `${name}: ${headers[name]}\r\n`
  return lines
}

const plainLines = linesOf(plain)
const overTlsLines = linesOf(overTls)

/** Precomputed lines of {@link AnswerHeaders}. */
export const preparedLines = (headers: Headers): string => headers === plain ? plainLines : overTlsLines
