import { Context, Layer } from "effect"

const windowMs = 60_000

/** Bound on windows. A key whose window is dropped starts a new one. */
const maxWindows = 100_000

/** The use of a rate in its current window. */
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

/** Windows by id: of keys, or of players. */
const makeWindows = () => {
  /** In the order of their starts: expired ones come first. */
  const windows = new Map<number, Window>()

  const running = (id: number, now: number): Window | undefined => {
    const window = windows.get(id)
    // a clock that was set back ends a window: it would otherwise last until that time comes again
    return window !== undefined && window.startedAt <= now && now < window.startedAt + windowMs ? window : undefined
  }

  const status = (window: Window | undefined, limit: number, now: number, isAllowed: boolean): RateLimitStatus => ({
    isAllowed,
    limit,
    remaining: Math.max(0, limit - (window?.taken ?? 0)),
    resetsAt: (window?.startedAt ?? now) + windowMs
  })

  const start = (id: number, now: number): Window => {
    windows.delete(id)
    for (const [first, window] of windows) {
      if (windows.size < maxWindows && now < window.startedAt + windowMs) break
      windows.delete(first)
    }
    const window = { startedAt: now, taken: 0 }
    windows.set(id, window)
    return window
  }

  return {
    take: (id: number, limit: number, now: number): RateLimitStatus => {
      const window = running(id, now) ?? start(id, now)
      if (window.taken >= limit) return status(window, limit, now, false)
      window.taken++
      return status(window, limit, now, true)
    },
    look: (id: number, limit: number, now: number): RateLimitStatus => status(running(id, now), limit, now, true)
  }
}

/** The share of a key's rate that one player may use: a fifth, or thirty requests a minute where that is more. */
export const playerShare = (keyLimit: number): number => Math.min(keyLimit, Math.max(30, Math.ceil(keyLimit / 5)))

/**
 * Rate limits per key and per player, in windows of 60 seconds that start with a request. Counted in memory: each process gives a key its
 * full rate, and a restart starts anew.
 *
 *     const status = limiter.take(apiKey.id, apiKey.rateLimitPerMinute, now)
 */
export class RateLimiter extends Context.Service<RateLimiter, {
  /** Counts a request, unless the window is used up. `now` in epoch milliseconds. */
  readonly take: (keyId: number, limit: number, now: number) => RateLimitStatus
  /** The status without counting anything. */
  readonly look: (keyId: number, limit: number, now: number) => RateLimitStatus
  /** As `take`, of a player, whichever of the operator's keys issued the token. */
  readonly takeOfPlayer: (playerId: number, limit: number, now: number) => RateLimitStatus
}>()("pitboss/auth/RateLimiter") {
  static readonly layer = Layer.sync(RateLimiter, () => {
    const { look, take } = makeWindows()
    return { take, look, takeOfPlayer: makeWindows().take }
  })
}
