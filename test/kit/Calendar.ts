/**
 * Clock set by the test. Days pass at once, and jobs are not woken for each of their seconds, as by advancing a
 * test clock. Waits take real time, with long limits, so that a busy machine does not fail a test.
 */
import { Clock, Context, Duration, Effect, Layer } from "effect"
import { noon } from "./Noon.ts"

/** How many times as long as asked for a wait takes. */
const patience = 10

/** The time of the test. */
export class Calendar extends Context.Service<Calendar, {
  /** Goes to an instant, ISO 8601. */
  readonly goTo: (instant: string) => Effect.Effect<void>
  /** Lets time pass. */
  readonly pass: (milliseconds: number) => Effect.Effect<void>
}>()("pitboss/test/Calendar") {
  /** Begins at noon, on a Friday. */
  static readonly layer = Layer.effectContext(
    Effect.map(Clock.Clock, (real) => {
      let now = Date.parse(noon)
      const read = <A>(value: () => A) => Effect.sync(value)
      const nanos = () => BigInt(now) * 1_000_000n
      const clock: Clock.Clock = {
        currentTimeMillisUnsafe: () => now,
        currentTimeMillis: read(() => now),
        currentTimeNanosUnsafe: nanos,
        currentTimeNanos: read(nanos),
        monotonicTimeNanosUnsafe: () => real.monotonicTimeNanosUnsafe(),
        monotonicTimeNanos: real.monotonicTimeNanos,
        sleep: (duration) => real.sleep(Duration.times(duration, patience))
      }
      return Context.make(Clock.Clock, clock).pipe(Context.add(Calendar, {
        goTo: (instant) => Effect.sync(() => void (now = Date.parse(instant))),
        pass: (milliseconds) => Effect.sync(() => void (now += milliseconds))
      }))
    })
  )
}

export const secondMs = 1000
export const minuteMs = 60 * secondMs
export const hourMs = 60 * minuteMs
export const dayMs = 24 * hourMs

/** Lets time pass. */
export const pass = (milliseconds: number) => Effect.flatMap(Calendar, (calendar) => calendar.pass(milliseconds))

/** Goes to an instant, ISO 8601. */
export const goTo = (instant: string) => Effect.flatMap(Calendar, (calendar) => calendar.goTo(instant))

/** Runs a scene in which time passes, and sets the clock back for the next one. */
export const whileTimePasses = <A, E, R>(scene: Effect.Effect<A, E, R>) => Effect.ensuring(scene, goTo(noon))
