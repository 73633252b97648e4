/** Concurrency limit for work that would otherwise starve others of connections, processors or memory. */
import { type Duration, Effect, Option, Semaphore } from "effect"

export interface ConcurrencyOptions {
  /** Maximum concurrent runs. */
  readonly maxRunning: number
  /** Maximum waiting; further ones are refused at once. */
  readonly maxWaiting: number
  /** Maximum wait, after which work is refused. Work in progress runs to its end. */
  readonly maxWait: Duration.Input
}

/** Runs work in first-in, first-out order; fails with `refusal` when too many wait, or when the wait is too long. */
export type ConcurrencyLimit = <E2>(
  refusal: E2
) => <A, E, R>(work: Effect.Effect<A, E, R>) => Effect.Effect<A, E | E2, R>

export const makeConcurrencyLimit = (
  { maxRunning, maxWait, maxWaiting }: ConcurrencyOptions
): Effect.Effect<ConcurrencyLimit> =>
  Effect.map(Semaphore.make(maxRunning), (semaphore) => {
    // Kept: waiting. Waiting reports and hashes of passwords. Several nodes: its own.
    let waiting = 0
    const enqueue = <A, E, R, E2>(work: Effect.Effect<A, E, R>, refusal: E2): Effect.Effect<A, E | E2, R> => {
      if (waiting >= maxWaiting) return Effect.fail(refusal)
      let isWaiting = true
      const leaveQueue = Effect.sync(() => {
        if (isWaiting) waiting--
        isWaiting = false
      })
      waiting++
      return Effect.raceFirst(
        semaphore.withPermits(1)(Effect.andThen(leaveQueue, work)),
        Effect.andThen(Effect.sleep(maxWait), Effect.suspend(() => isWaiting ? Effect.fail(refusal) : Effect.never))
      ).pipe(Effect.ensuring(leaveQueue))
    }
    return (refusal) => (work) =>
      Effect.flatMap(
        semaphore.withPermitsIfAvailable(1)(work),
        Option.match({ onNone: () => enqueue(work, refusal), onSome: Effect.succeed })
      )
  })
