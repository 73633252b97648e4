import { Clock, Effect } from "effect"
import { steadyClock } from "./SteadyClock.ts"

/**
 * Makes what runs an effect at most once in so many milliseconds, and leaves it out in between: for lines of the log that say the
 * same of every request while something is broken. The effect is told how often it was left out.
 */
export const makeSparingly = (everyMs: number) =>
  Effect.map(Effect.map(Clock.Clock, steadyClock), (clock) => {
    let lastAt = Number.NEGATIVE_INFINITY
    let leftOut = 0
    return (what: (leftOut: number) => Effect.Effect<void>): Effect.Effect<void> =>
      Effect.suspend(() => {
        const now = clock.currentTimeMillisUnsafe()
        if (now - lastAt < everyMs) {
          leftOut++
          return Effect.void
        }
        const others = leftOut
        lastAt = now
        leftOut = 0
        return what(others)
      })
  })
