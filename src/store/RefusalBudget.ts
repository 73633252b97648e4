/**
 * Byte budget, per scope and minute, of the refusals stored to answer repeated requests, so that invalid requests with ever new idempotency keys
 * cannot fill the table.
 */

/** Largest refusal stored. */
const maxRefusalBytes = 16 * 1024

const windowMs = 60_000

/** Maximum scopes tracked. One evicted for lack of room starts anew. */
const maxScopes = 10_000

interface Window {
  readonly startedAt: number
  bytes: number
}

export interface RefusalBudget {
  /** True, and counted, when a refusal of `bytes` may still be stored in this minute. `now` in epoch milliseconds. */
  readonly take: (scope: string, bytes: number, bytesPerMinute: number, now: number) => boolean
}

export const makeRefusalBudget = (): RefusalBudget => {
  // Kept: windows. Bytes of stored refusals and kept calls a minute and scope. Several nodes: its own: what is stored is bounded by the limit times
  // the nodes that the scope's requests reach.
  const windows = new Map<string, Window>()

  const windowOf = (scope: string, now: number): Window => {
    const known = windows.get(scope)
    // a clock set back also ends a window
    if (known !== undefined && known.startedAt <= now && now < known.startedAt + windowMs) return known
    windows.delete(scope)
    for (const first of windows.keys()) {
      if (windows.size < maxScopes) break
      windows.delete(first)
    }
    const window = { startedAt: now, bytes: 0 }
    windows.set(scope, window)
    return window
  }

  return {
    take: (scope, bytes, bytesPerMinute, now) => {
      if (bytes > maxRefusalBytes) return false
      const window = windowOf(scope, now)
      if (window.bytes + bytes > bytesPerMinute) return false
      window.bytes += bytes
      return true
    }
  }
}
