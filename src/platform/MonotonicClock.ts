/** Monotonic time for durations and time-outs, since the wall clock may be set. */
import { Clock, Effect } from "effect"

/**
 * Only differences between instants are meaningful.
 *
 *     const clock = monotonicClock(yield* Clock.Clock)
 */
export const monotonicClock = (clock: Clock.Clock): Clock.Clock => {
  const nanos = () => clock.monotonicTimeNanosUnsafe()
  const millis = () => Number(nanos() / 1_000_000n)
  return {
    currentTimeMillisUnsafe: millis,
    currentTimeMillis: Effect.sync(millis),
    currentTimeNanosUnsafe: nanos,
    currentTimeNanos: Effect.sync(nanos),
    monotonicTimeNanosUnsafe: nanos,
    monotonicTimeNanos: Effect.sync(nanos),
    sleep: (duration) => clock.sleep(duration)
  }
}

/** Runs an effect with monotonic time as its clock. */
export const withMonotonicClock = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.flatMap(Clock.Clock, (clock) => Effect.provideService(effect, Clock.Clock, monotonicClock(clock)))

/** Monotonic milliseconds. */
export const monotonicMs: Effect.Effect<number> = withMonotonicClock(Clock.currentTimeMillis)
