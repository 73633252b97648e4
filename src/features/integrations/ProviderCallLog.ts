/** The last calls of vendors, in memory: what they asked, what they were answered, and how long it took. */
import { Context, Layer } from "effect"
import type { RefusalCode } from "../../domain/Refusal.ts"

/** How many calls of a provider are kept. */
const keptCalls = 500

/** A call of a vendor that was answered. Holds no secrets and no personal data. */
export interface ProviderCall {
  /** Epoch milliseconds. */
  readonly at: number
  /** As the protocol calls it. */
  readonly method: string
  /** The player's reference; null when the call named nobody known. */
  readonly player: string | null
  readonly round: string | null
  /** As the vendor wrote it, with its sign; null where the call has none. */
  readonly amount: string | null
  /** HTTP status of the answer. */
  readonly status: number
  /** Why it was refused; null for a good answer. `signature` and `form` are refused before the wallet is asked. */
  readonly refusal: RefusalCode | "signature" | "form" | null
  readonly latencyMs: number
}

interface Ring {
  readonly calls: Array<ProviderCall>
  /** Where the next call goes: the oldest one's place when the ring is full. */
  next: number
  lastCalledAt: number
  readonly refusals: Map<string, number>
}

/** Notes are made at every call: synchronous, and without a copy. */
export class ProviderCallLog extends Context.Service<ProviderCallLog, {
  readonly note: (providerId: number, call: ProviderCall) => void
  /** The calls of a provider that are kept, the newest first. */
  readonly recent: (providerId: number) => ReadonlyArray<ProviderCall>
  /** Epoch milliseconds; undefined when it did not call since the start of the process. */
  readonly lastCalledAt: (providerId: number) => number | undefined
  /** How many calls were refused since the start of the process, by reason. */
  readonly refusals: (providerId: number) => { readonly [reason: string]: number }
}>()("pitboss/integrations/ProviderCallLog") {
  static readonly layer = Layer.sync(ProviderCallLog, () => {
    // as many rings as there are providers, which staff make
    const rings = new Map<number, Ring>()
    return ProviderCallLog.of({
      note: (providerId, call) => {
        let ring = rings.get(providerId)
        if (ring === undefined) {
          rings.set(providerId, ring = { calls: [], next: 0, lastCalledAt: 0, refusals: new Map() })
        }
        ring.calls[ring.next] = call
        ring.next = (ring.next + 1) % keptCalls
        ring.lastCalledAt = Math.max(ring.lastCalledAt, call.at)
        if (call.refusal !== null) ring.refusals.set(call.refusal, (ring.refusals.get(call.refusal) ?? 0) + 1)
      },
      recent: (providerId) => {
        const ring = rings.get(providerId)
        return ring === undefined ? [] : [...ring.calls.slice(ring.next), ...ring.calls.slice(0, ring.next)].reverse()
      },
      lastCalledAt: (providerId) => rings.get(providerId)?.lastCalledAt,
      refusals: (providerId) => Object.fromEntries(rings.get(providerId)?.refusals ?? [])
    })
  })
}
