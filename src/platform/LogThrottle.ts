/** Throttles a repeated log line, which every request would otherwise write during a failure. */
import { Clock, Effect } from "effect"
import { monotonicClock } from "./MonotonicClock.ts"

/**
 * Limits a line to one per `everyMs` milliseconds. It gets the number suppressed since the last one.
 */
export const makeLogThrottle = (everyMs: number) =>
  Effect.map(Effect.map(Clock.Clock, monotonicClock), (clock) => {
    // Kept: lastAt, suppressed. Log lines that were held back. Several nodes: its own.
    let lastAt = Number.NEGATIVE_INFINITY
    let suppressed = 0
    return (line: (suppressed: number) => Effect.Effect<void>): Effect.Effect<void> =>
      Effect.suspend(() => {
        const now = clock.currentTimeMillisUnsafe()
        if (now - lastAt < everyMs) {
          suppressed++
          return Effect.void
        }
        const others = suppressed
        lastAt = now
        suppressed = 0
        return line(others)
      })
  })
