/** Concurrency limit for work that would otherwise starve others of connections, processors or memory. */
import { type Duration, Effect, Option, Semaphore } from "effect"

export interface TurnsOptions {
  /** Maximum concurrent runs. */
  readonly atOnce: number
  /** Maximum waiting; further ones are refused at once. */
  readonly maxWaiting: number
  /** Maximum wait, after which work is refused. Work in progress runs to its end. */
  readonly longestWait: Duration.Input
}

/** Runs work in first-in, first-out order; fails with `refusal` when too many wait, or when the wait is too long. */
export type InTurn = <E2>(refusal: E2) => <A, E, R>(work: Effect.Effect<A, E, R>) => Effect.Effect<A, E | E2, R>

export const makeTurns = ({ atOnce, longestWait, maxWaiting }: TurnsOptions): Effect.Effect<InTurn> =>
  Effect.map(Semaphore.make(atOnce), (turns) => {
    let waiting = 0
    const later = <A, E, R, E2>(work: Effect.Effect<A, E, R>, refusal: E2): Effect.Effect<A, E | E2, R> => {
      if (waiting >= maxWaiting) return Effect.fail(refusal)
      let isWaiting = true
      const leave = Effect.sync(() => {
        if (isWaiting) waiting--
        isWaiting = false
      })
      waiting++
      return Effect.raceFirst(
        turns.withPermits(1)(Effect.andThen(leave, work)),
        Effect.andThen(Effect.sleep(longestWait), Effect.suspend(() => isWaiting ? Effect.fail(refusal) : Effect.never))
      ).pipe(Effect.ensuring(leave))
    }
    return (refusal) => (work) =>
      Effect.flatMap(
        turns.withPermitsIfAvailable(1)(work),
        Option.match({ onNone: () => later(work, refusal), onSome: Effect.succeed })
      )
  })
