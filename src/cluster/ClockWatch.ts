/**
 * Watches a node's clock: while it differs from PostgreSQL's and another node's clock agrees, the node hands its players over to the others
 * (`docs/decisions/0016-scheduler.md`).
 */
import { Effect } from "effect"

/** Pause between two checks. */
const pause = "1 second"

/**
 * Checks in a row without a node whose clock is right, until one whose clock is not serves by itself. The others may be late with an answer: one that is
 * missing does not make a clock right.
 */
const maxMisses = 10

/** Body of an answer of a node whose clock agrees, on a time that is not settled. */
export const unsettled = "unsettled"

/**
 * Whether answers contradict a node whose clock does not agree: another one's does. One that has only begun, with a time that nobody knew, does not
 * contradict a node that goes on from a settled one.
 */
export const areContradicting = (
  answers: ReadonlyArray<{ readonly node: string; readonly status: number; readonly body: string }>,
  self: string,
  isSettled: boolean
): boolean =>
  answers.some(({ body, node, status }) => node !== self && status === 200 && !(isSettled && body === unsettled))

/** The watch of one node. */
export const makeClockWatch = ({ isAgreed, othersAgree, standAside }: {
  /** Whether this node's clock agrees with PostgreSQL's. */
  readonly isAgreed: () => boolean
  /** Whether another node has answered that its clock does. */
  readonly othersAgree: Effect.Effect<boolean>
  /** Gives this node's players to others until it is called with false. */
  readonly standAside: (isAside: boolean) => Effect.Effect<void>
}) => {
  // Kept: isAside, misses. Whether this node is the one whose clock is wrong, and how often no other one has contradicted it. Several nodes: its own.
  let isAside = false
  let misses = 0

  /** Whether this node is the one that is wrong. Where all differ from PostgreSQL, or there is no other, it serves, and does nothing that cannot be undone. */
  const isWrong = (wasWrong: boolean) =>
    Effect.gen(function*() {
      const isRight = isAgreed()
      const isContradicted = !isRight && (yield* othersAgree)
      misses = isRight || isContradicted ? 0 : misses + 1
      return isContradicted || !isRight && wasWrong && misses < maxMisses
    })

  const check = Effect.gen(function*() {
    const is = yield* isWrong(isAside)
    if (is === isAside) return
    isAside = is
    yield* is
      ? Effect.logWarning("handing players over to other nodes: the clock of this node differs from the database's")
      : Effect.logInfo(
        "serving players again: the clock of this node agrees with the database's, or no other node's does"
      )
    yield* standAside(is)
  })

  return {
    isAside: () => isAside,
    /** Ends when the clock is right, or no other node's has been found that is. */
    awaitRight: Effect.gen(function*() {
      isAside = yield* isWrong(true)
      while (isAside) {
        yield* Effect.sleep(pause)
        isAside = yield* isWrong(true)
      }
    }),
    /** Checks the clock for ever. */
    watch: Effect.forever(Effect.andThen(Effect.sleep(pause), check))
  }
}
