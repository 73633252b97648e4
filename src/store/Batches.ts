import { Cause, Deferred, Effect, Exit, FiberSet, type Scope } from "effect"

interface Waiting<Item, A, E> {
  readonly item: Item
  readonly done: (exit: Exit.Exit<A, E>) => void
}

export interface Batches<Item, A, E> {
  /** Adds an item to the next batch at once; the effect waits for its outcome. */
  readonly put: (item: Item) => Effect.Effect<A, E>
  /** Like `put`, without a fiber: `done` is called once, later, or at once when too many wait. */
  readonly post: (item: Item, done: (exit: Exit.Exit<A, E>) => void) => void
}

/** Maximum number of items waiting for the next batch, and the failure of those above it. */
interface WaitingLimit<out E> {
  readonly maxWaiting: number
  readonly overload: E
}

/**
 * Batches items that arrive while a statement runs into the next one: one batch at a time, of at most `maxBatch` items. `run` returns the outcome of
 * each item; its defect is the outcome of all. Without a limit, the caller bounds the number waiting.
 */
export const makeBatches = <Item, A, E>(
  maxBatch: number,
  run: (items: ReadonlyArray<Item>) => Effect.Effect<(item: Item) => Exit.Exit<A, E>>,
  limit?: WaitingLimit<E>
): Effect.Effect<Batches<Item, A, E>, never, Scope.Scope> =>
  Effect.map(FiberSet.makeRuntime<never>(), (fork) => {
    let waiting: Array<Waiting<Item, A, E>> = []
    let isRunning = false

    /** The result of `act`; a defect is logged, since it must affect neither the other items nor the next batch. */
    const contain = <B>(act: () => B): Exit.Exit<B> => {
      try {
        return Exit.succeed(act())
      } catch (defect) {
        fork(Effect.logError("answer failed", Cause.die(defect)))
        return Exit.die(defect)
      }
    }

    const settle = ({ done, item }: Waiting<Item, A, E>, outcomeOf: (item: Item) => Exit.Exit<A, E>): void => {
      const outcome = contain(() => outcomeOf(item))
      contain(() => done(Exit.isSuccess(outcome) ? outcome.value : Exit.failCause(outcome.cause)))
    }

    const runBatch = (batch: ReadonlyArray<Waiting<Item, A, E>>) =>
      Effect.matchCause(Effect.suspend(() => run(batch.map(({ item }) => item))), {
        onSuccess: (outcomeOf) => {
          for (const one of batch) settle(one, outcomeOf)
        },
        onFailure: (cause) => {
          for (const one of batch) settle(one, () => Exit.failCause(cause))
        }
      })

    const runAll = Effect.whileLoop({
      while: () => isRunning = waiting.length > 0,
      body: () => {
        const batch = waiting.slice(0, maxBatch)
        waiting = waiting.slice(maxBatch)
        return runBatch(batch)
      },
      step: () => {}
    })

    const post: Batches<Item, A, E>["post"] = (item, done) => {
      if (limit !== undefined && waiting.length >= limit.maxWaiting) return done(Exit.fail(limit.overload))
      waiting.push({ item, done })
      if (!isRunning) {
        isRunning = true
        fork(runAll)
      }
    }

    return {
      put: (item) => {
        const deferred = Deferred.makeUnsafe<A, E>()
        post(item, (exit) => Deferred.doneUnsafe(deferred, exit))
        return Deferred.await(deferred)
      },
      post
    }
  })
