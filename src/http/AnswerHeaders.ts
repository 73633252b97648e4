/** Security headers of every response: no caching, no sniffing, no referrer. */
import { isWithin, type Networks } from "../auth/Addresses.ts"

export type Headers = { readonly [name: string]: string }

const plain: Headers = {
  "cache-control": "no-store",
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer"
}

const overTls: Headers = { ...plain, "strict-transport-security": "max-age=31536000" }

/** Peers whose trust is remembered. */
const maxPeers = 1000

/** `peerOf` is asked only where proxies are trusted. */
export type AnswerHeaders = (peerOf: () => string | undefined, forwardedProto: string | undefined) => Headers

/** The headers for these proxies, whose word alone is taken that the caller came over TLS. */
export const makeAnswerHeaders = (proxies: Networks): AnswerHeaders => {
  if (proxies.length === 0) return () => plain
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

/** For answers without a request. */
export const plainAnswerHeaders = plain

const none: ReadonlySet<string> = new Set()

/** Headers as lines, each with its line end, without some. */
export const linesOf = (headers: Headers, without = none): string => {
  let lines = ""
  for (const name of Object.keys(headers)) if (!without.has(name)) lines += `${name}: ${headers[name]}\r\n`
  return lines
}

const plainLines = linesOf(plain)
const overTlsLines = linesOf(overTls)

/** The lines of {@link AnswerHeaders}, made once. */
export const preparedLines = (headers: Headers): string => headers === plain ? plainLines : overTlsLines
