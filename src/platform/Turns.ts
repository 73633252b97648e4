/** Turns for work of which too much at once would take from others what they need: connections, processors, memory. */
import { type Duration, Effect, Option, Semaphore } from "effect"

export interface TurnsOptions {
  /** How many run at once. */
  readonly atOnce: number
  /** How many may wait for their turn: one more is refused at once. */
  readonly maxWaiting: number
  /** Work that has not begun after so long is refused. What has begun runs to its end. */
  readonly longestWait: Duration.Input
}

/** Runs work in its turn, in the order of asking; fails with `refusal` when too many wait, or when its turn does not come in time. */
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
