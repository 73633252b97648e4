/**
 * Limits on unauthenticated callers: unsigned requests and failed authentications by address, and the bytes of bodies read before their
 * signature is checked. A properly signed request never counts, however many come from one address.
 */
import { Clock, Context, Effect, Layer } from "effect"
import ipaddr from "ipaddr.js"
import { clientAddress, isWithin, networks } from "../auth/Addresses.ts"
import { type Refusal, refuse } from "../domain/Refusal.ts"
import { Settings } from "../platform/Settings.ts"
import { monotonicClock } from "../platform/MonotonicClock.ts"
import { RecentMap } from "../platform/RecentMap.ts"

/** Token bucket of an address: its size, and its rate. */
const burst = 2000
const perSecond = 100

/** Bound on counted addresses. A dropped one starts anew. */
const maxAddresses = 20_000

/** Smaller bodies are not counted: they come in one packet with their head. */
export const uncountedBytes = 4096

/** Bytes of larger bodies read at a time for unauthenticated callers, of one address and of all. */
const maxAddressBytes = 8 * 1024 * 1024
const maxBytes = 64 * 1024 * 1024

/** Origin of a request by its connection and its proxies. */
export interface Origin {
  readonly peer: string | undefined
  readonly forwardedFor: string | undefined
}

/** A body that takes longer makes room for others of its address. */
const patienceMs = 1000

/** A body that is being read. */
interface Reading {
  readonly bytes: number
  /** Monotonic milliseconds. */
  readonly since: number
  /** Ends its connection. */
  readonly cut: () => void
}

/** The bodies of one caller, longest read first. */
interface Readings {
  bytes: number
  readonly bodies: Set<Reading>
}

interface Bucket {
  left: number
  /** Monotonic milliseconds. */
  at: number
}

/** An IPv6 network of 64 bits is one caller: addresses within it cost nothing. */
const networkOf = (address: string): string => {
  if (!ipaddr.isValid(address)) return address
  const parsed = ipaddr.process(address)
  return parsed instanceof ipaddr.IPv6
    ? parsed.parts.slice(0, 4).map((part) => part.toString(16)).join(":")
    : parsed.toString()
}

export const tooManyBodies = refuse("TRY_AGAIN", "Too many large bodies are being read. Send the same request again.")

const tooManyRequests = (seconds: number): Refusal<"RATE_LIMITED"> =>
  refuse("RATE_LIMITED", "Too many requests of this address were not signed or failed authentication.", {
    retry_after_seconds: seconds
  })

export class AnonymousLimits extends Context.Service<AnonymousLimits, {
  /** The client's address by `TRUST_PROXY`, for the log. */
  readonly addressOf: (origin: Origin) => string
  /** The key of a caller's count: its address, or its IPv6 network. */
  readonly callerOf: (origin: Origin) => string
  /** Counts an unauthenticated request, by its weight; gives the refusal when its address has none left. */
  readonly take: (origin: Origin, weight?: number) => Refusal<"RATE_LIMITED"> | undefined
  /** As `take`, without counting. */
  readonly look: (origin: Origin) => Refusal<"RATE_LIMITED"> | undefined
  /**
   * Reserves bytes for a body while it is read; gives the release, undefined without room. To make room, the caller's own bodies older than
   * a second are cut, and beyond the total those of the caller with the largest share.
   */
  readonly reserve: (origin: Origin, bytes: number, cut: () => void) => (() => void) | undefined
}>()("pitboss/http/AnonymousLimits") {
  static readonly layer = Layer.effect(
    AnonymousLimits,
    Effect.gen(function*() {
      const clock = monotonicClock(yield* Clock.Clock)
      const proxies = networks((yield* Settings).trustProxy)
      /** Counts of the callers seen last. */
      const buckets = new RecentMap<string, Bucket>(maxAddresses / 2)
      const readingsByCaller = new Map<string, Readings>()
      let bytesInAll = 0

      const addressOf = ({ forwardedFor, peer }: Origin): string =>
        clientAddress(peer, forwardedFor, proxies) ?? "unknown"

      /**
       * Requests that a proxy forwarded which is not trusted are counted apart from the proxy's own: callers behind it must not use up
       * what its health checks need.
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

      /** Cuts a body of the caller that holds the most, if that is more than the newcomer would. */
      const cutLargest = (most: number): boolean => {
        let largest: string | undefined
        for (const [caller, { bytes }] of readingsByCaller) {
          if (bytes > most) [largest, most] = [caller, bytes]
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
        look: (origin) => refusalOf(bucketOf(callerOf(origin)), 1),
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
