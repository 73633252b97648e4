import { Cause, Deferred, Effect, Exit, FiberSet, type Scope } from "effect"

interface Waiting<Item, A, E> {
  readonly item: Item
  readonly done: Deferred.Deferred<A, E>
}

export interface Batches<Item, A, E> {
  /** Puts an item into the next batch at once; the effect waits for its outcome. */
  readonly put: (item: Item) => Effect.Effect<A, E>
  /** Items that wait for the next batch. */
  readonly waiting: () => number
}

/**
 * Handles items with one statement for all that came while the last one was under way: one batch at a time, of `maxBatch` items at most.
 * `run` gives the outcome of each item; its defect is the outcome of all of them. The caller bounds how many wait.
 */
export const makeBatches = <Item, A, E>(
  maxBatch: number,
  run: (items: ReadonlyArray<Item>) => Effect.Effect<(item: Item) => Exit.Exit<A, E>>
): Effect.Effect<Batches<Item, A, E>, never, Scope.Scope> =>
  Effect.map(FiberSet.makeRuntime<never>(), (fork) => {
    let waiting: Array<Waiting<Item, A, E>> = []
    let isRunning = false

    /** What goes on with an outcome runs in here: its defect must not keep the others from theirs. */
    const settle = ({ done, item }: Waiting<Item, A, E>, outcomeOf: (item: Item) => Exit.Exit<A, E>): void => {
      try {
        Deferred.doneUnsafe(done, outcomeOf(item))
      } catch (defect) {
        fork(Effect.logError("answer failed", Cause.die(defect)))
        Deferred.doneUnsafe(done, Exit.die(defect))
      }
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

    return {
      put: (item) => {
        const done = Deferred.makeUnsafe<A, E>()
        waiting.push({ item, done })
        if (!isRunning) {
          isRunning = true
          fork(runAll)
        }
        return Deferred.await(done)
      },
      waiting: () => waiting.length
    }
  })
