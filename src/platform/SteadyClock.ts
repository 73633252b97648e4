import { Clock, Effect } from "effect"

/**
 * The clock that nobody sets: its instants mean nothing but how far they are apart. For whatever asks how long something has taken or has
 * been kept, since the time of day may step forward and back.
 *
 *     const clock = steadyClock(yield* Clock.Clock)
 */
export const steadyClock = (clock: Clock.Clock): Clock.Clock => {
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

/** Runs an effect by the clock that nobody sets. */
export const bySteadyClock = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.flatMap(Clock.Clock, (clock) => Effect.provideService(effect, Clock.Clock, steadyClock(clock)))

/** Milliseconds of the clock that nobody sets. */
export const steadyMs: Effect.Effect<number> = bySteadyClock(Clock.currentTimeMillis)
