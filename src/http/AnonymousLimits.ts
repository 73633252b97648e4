/**
 * Limits on unauthenticated callers: unsigned requests and failed authentications by address, and the bytes of bodies read before their
 * signature is checked. Correctly signed requests are never counted.
 */
import { Clock, Context, Effect, Layer } from "effect"
import ipaddr from "ipaddr.js"
import { clientAddress, isWithin, networks } from "../auth/Addresses.ts"
import { type Refusal, refuse } from "../domain/Refusal.ts"
import { Settings } from "../platform/Settings.ts"
import { monotonicClock } from "../platform/MonotonicClock.ts"
import { RecentMap } from "../platform/RecentMap.ts"

/** Token bucket of an address: size and refill rate. */
const burst = 2000
const perSecond = 100

/** Maximum number of counted addresses. An evicted address starts with a full bucket. */
const maxAddresses = 20_000

/** Smaller bodies are not counted: they arrive in one packet with the request head. */
export const uncountedBytes = 4096

/** Maximum bytes of larger bodies being read at once for unauthenticated callers: per address, and in total. */
const maxAddressBytes = 8 * 1024 * 1024
const maxBytes = 64 * 1024 * 1024

/** Origin of a request: peer address and forwarding headers. */
export interface Origin {
  readonly peer: string | undefined
  readonly forwardedFor: string | undefined
}

/** A body read for longer may be cut to make room for others of its address. */
const patienceMs = 1000

/** A body that is being read. */
interface Reading {
  readonly bytes: number
  /** Monotonic milliseconds. */
  readonly since: number
  /** Closes the connection. */
  readonly cut: () => void
}

/** Bodies of one caller, oldest first. */
interface Readings {
  bytes: number
  readonly bodies: Set<Reading>
}

interface Bucket {
  left: number
  /** Monotonic milliseconds. */
  at: number
}

/** IPv6 callers are counted per /64 network: addresses within one are free to its holder. */
const networkOf = (address: string): string => {
  if (!ipaddr.isValid(address)) return address
  const parsed = ipaddr.process(address)
  return parsed instanceof ipaddr.IPv6
    ? parsed.parts.slice(0, 4).map((part) => part.toString(16)).join(":")
    : parsed.toString()
}

export const tooManyBodies = refuse("TRY_AGAIN", "Too many large bodies are being read. Send the same request again.")

const tooManyRequests = (seconds: number): Refusal<"RATE_LIMITED"> =>
  refuse("RATE_LIMITED", "Too many requests from this address were unsigned or failed authentication.", {
    retry_after_seconds: seconds
  })

export class AnonymousLimits extends Context.Service<AnonymousLimits, {
  /** The client's address by `TRUST_PROXY`, for the log. */
  readonly addressOf: (origin: Origin) => string
  /** Counting key of a caller: its address, or its IPv6 /64 network. */
  readonly callerOf: (origin: Origin) => string
  /** Counts an unauthenticated request by its weight; returns the refusal when the bucket of its address is empty. */
  readonly take: (origin: Origin, weight?: number) => Refusal<"RATE_LIMITED"> | undefined
  /** As `take`, without counting. */
  readonly peek: (origin: Origin) => Refusal<"RATE_LIMITED"> | undefined
  /**
   * Reserves bytes for a body while it is read; returns the release, undefined without room. To make room, the caller's own bodies older than
   * a second are cut and, above the total, those of the caller with the largest share.
   */
  readonly reserve: (origin: Origin, bytes: number, cut: () => void) => (() => void) | undefined
}>()("pitboss/http/AnonymousLimits") {
  static readonly layer = Layer.effect(
    AnonymousLimits,
    Effect.gen(function*() {
      const clock = monotonicClock(yield* Clock.Clock)
      const proxies = networks((yield* Settings).trustProxy)
      // Kept: buckets, readingsByCaller, bytesInAll. Requests without a signature by address, bytes of bodies being read. Several nodes: its own
      // (docs/architecture.md, Limits that each node counts for itself).
      /** Buckets of the most recent callers. */
      const buckets = new RecentMap<string, Bucket>(maxAddresses / 2)
      const readingsByCaller = new Map<string, Readings>()
      let bytesInAll = 0

      const addressOf = ({ forwardedFor, peer }: Origin): string =>
        clientAddress(peer, forwardedFor, proxies) ?? "unknown"

      /**
       * Requests forwarded by an untrusted proxy are counted apart from the proxy's own, so that callers behind it cannot
       * exhaust the allowance of its health checks.
       */
      const callerOf = (origin: Origin): string => {
        const network = networkOf(addressOf(origin))
        const isForwarded = origin.forwardedFor !== undefined && !isWithin(proxies, origin.peer)
        return isForwarded ? `${network} forwarded` : network
      }

      const bucketOf = (caller: string): Bucket => {
        const now = clock.currentTimeMillisUnsafe()
        const known = buckets.get(caller)
        if (known !== undefined) {
          known.left = Math.min(burst, known.left + (now - known.at) * perSecond / 1000)
          known.at = now
          return known
        }
        const bucket = { left: burst, at: now }
        buckets.set(caller, bucket)
        return bucket
      }

      const refusalOf = ({ left }: Bucket, weight: number) =>
        left >= weight ? undefined : tooManyRequests(Math.max(1, Math.ceil((weight - left) / perSecond)))

      const release = (caller: string, body: Reading): void => {
        const readings = readingsByCaller.get(caller)
        if (readings?.bodies.delete(body) !== true) return
        bytesInAll -= body.bytes
        readings.bytes -= body.bytes
        if (readings.bodies.size === 0) readingsByCaller.delete(caller)
      }

      const cutFirst = (caller: string, beganBefore: number): boolean => {
        for (const body of readingsByCaller.get(caller)?.bodies ?? []) {
          if (body.since > beganBefore) return false
          release(caller, body)
          body.cut()
          return true
        }
        return false
      }

      /** Cuts a body of the caller with the largest share, if that share exceeds the new caller's. */
      const cutLargest = (above: number): boolean => {
        let largest: string | undefined
        for (const [caller, { bytes }] of readingsByCaller) {
          if (bytes > above) [largest, above] = [caller, bytes]
        }
        return largest !== undefined && cutFirst(largest, Infinity)
      }

      return AnonymousLimits.of({
        addressOf,
        callerOf,
        take: (origin, weight = 1) => {
          const bucket = bucketOf(callerOf(origin))
          const refusal = refusalOf(bucket, weight)
          if (refusal === undefined) bucket.left -= weight
          return refusal
        },
        peek: (origin) => refusalOf(bucketOf(callerOf(origin)), 1),
        reserve: (origin, bytes, cut) => {
          const caller = callerOf(origin)
          const since = clock.currentTimeMillisUnsafe()
          const held = () => (readingsByCaller.get(caller)?.bytes ?? 0) + bytes
          const inAll = () => bytesInAll + bytes
          while (held() > maxAddressBytes) if (!cutFirst(caller, since - patienceMs)) return undefined
          while (inAll() > maxBytes) if (!cutLargest(held())) return undefined
          const body = { bytes, since, cut }
          const readings = readingsByCaller.get(caller) ?? { bytes: 0, bodies: new Set() }
          readingsByCaller.set(caller, readings)
          readings.bodies.add(body)
          readings.bytes += bytes
          bytesInAll += bytes
          return () => release(caller, body)
        }
      })
    })
  )
}
