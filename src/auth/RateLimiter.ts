import { Clock, Context, Effect, Layer, Schema } from "effect"
import { Forwarder } from "../cluster/Forwarder.ts"
import { RecentMap } from "../platform/RecentMap.ts"

const windowMs = 60_000

/** Maximum number of windows. A key whose window is evicted starts a new one. */
const maxWindows = 100_000

/** Use of a rate limit in its current window. */
export interface RateLimitStatus {
  readonly isAllowed: boolean
  readonly limit: number
  readonly remaining: number
  /** Epoch milliseconds. */
  readonly resetsAt: number
}

interface Window {
  readonly startedAt: number
  taken: number
}

/** Windows by key id or player id. `now` in epoch milliseconds. */
export const makeRateWindows = () => {
  const windows = new RecentMap<number, Window>(maxWindows / 2)

  const running = (id: number, now: number): Window | undefined => {
    const window = windows.get(id)
    // a clock set back ends a window, which would otherwise last until that time recurs
    return window !== undefined && window.startedAt <= now && now < window.startedAt + windowMs ? window : undefined
  }

  const status = (window: Window | undefined, limit: number, now: number, isAllowed: boolean): RateLimitStatus => ({
    isAllowed,
    limit,
    remaining: Math.max(0, limit - (window?.taken ?? 0)),
    resetsAt: (window?.startedAt ?? now) + windowMs
  })

  const start = (id: number, now: number): Window => {
    const window = { startedAt: now, taken: 0 }
    windows.set(id, window)
    return window
  }

  return {
    /** Counts a request, unless the window is exhausted. */
    take: (id: number, limit: number, now: number): RateLimitStatus => {
      const window = running(id, now) ?? start(id, now)
      if (window.taken >= limit) return status(window, limit, now, false)
      window.taken++
      return status(window, limit, now, true)
    },
    /** Status without counting. */
    peek: (id: number, limit: number, now: number): RateLimitStatus => status(running(id, now), limit, now, true),
    /** Adopts the count of another node. */
    note: (id: number, { limit, remaining, resetsAt }: RateLimitStatus): void => {
      const startedAt = resetsAt - windowMs
      start(id, startedAt).taken = limit - remaining
    }
  }
}

/** Share of a key's rate limit for one player: a fifth, at least thirty requests a minute, at most the key's limit. */
export const playerShare = (keyLimit: number): number => Math.min(keyLimit, Math.max(30, Math.ceil(keyLimit / 5)))

const channel = "rate"

/** Time limit of a count by another node, in ms. */
const timeoutMs = 400

const Status = Schema.fromJsonString(Schema.Struct({
  isAllowed: Schema.Boolean,
  limit: Schema.Number,
  remaining: Schema.Number,
  resetsAt: Schema.Number
}))
const decodeStatus = Schema.decodeUnknownOption(Status)

/**
 * Rate limits per key and per player, in windows of 60 seconds that start with a request. Counts are in memory and lost by a restart. With
 * several nodes, a key is counted by the node that owns the key's number, a player by the player's node; when the owner does not answer,
 * a node counts locally.
 *
 *     const status = yield* limiter.take(apiKey.id, apiKey.rateLimitPerMinute, now)
 */
export class RateLimiter extends Context.Service<RateLimiter, {
  /** Counts a request, unless the window is exhausted. `now` in epoch milliseconds. */
  readonly take: (keyId: number, limit: number, now: number) => Effect.Effect<RateLimitStatus>
  /** As `take`, synchronously; undefined with several nodes, since another one may count. */
  readonly takeAtOnce: ((keyId: number, limit: number, now: number) => RateLimitStatus) | undefined
  /** Last known status, without counting. */
  readonly peek: (keyId: number, limit: number, now: number) => RateLimitStatus
  /** As `take`, for a player of this node, whichever of the operator's keys issued the token. */
  readonly takeOfPlayer: (playerId: number, limit: number, now: number) => RateLimitStatus
}>()("pitboss/auth/RateLimiter") {
  static readonly layer = Layer.effect(
    RateLimiter,
    Effect.gen(function*() {
      const forwarder = yield* Forwarder
      const clock = yield* Clock.Clock
      const { peek, note, take } = makeRateWindows()
      const takeOfPlayer = makeRateWindows().take
      if (forwarder.node === undefined) {
        return RateLimiter.of({
          take: (keyId, limit, now) => Effect.sync(() => take(keyId, limit, now)),
          takeAtOnce: take,
          peek,
          takeOfPlayer
        })
      }

      /** Windows counted by this node for all nodes. */
      const counted = makeRateWindows()
      forwarder.serve(channel, ({ head }, done) => {
        const [keyId = 0, limit = 0] = head.split(" ").map(Number)
        const status = counted.take(keyId, limit, clock.currentTimeMillisUnsafe())
        done({ status: 200, head: "", body: JSON.stringify(status) })
      })

      return RateLimiter.of({
        take: (keyId, limit, now) =>
          Effect.match(
            forwarder.send(keyId, channel, { head: `${keyId} ${limit}`, body: "" }, { isRepeatable: false, timeoutMs }),
            {
              onFailure: () => take(keyId, limit, now),
              onSuccess: ({ body }) => {
                const status = decodeStatus(body)
                if (status._tag === "None") return take(keyId, limit, now)
                note(keyId, status.value)
                return status.value
              }
            }
          ),
        takeAtOnce: undefined,
        peek,
        takeOfPlayer
      })
    })
  )
}
