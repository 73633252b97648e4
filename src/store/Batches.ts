import { Cause, Deferred, Effect, Exit, FiberSet, type Scope } from "effect"

interface Waiting<Item, A, E> {
  readonly item: Item
  readonly done: (exit: Exit.Exit<A, E>) => void
}

export interface Batches<Item, A, E> {
  /** Adds an item to the next batch at once; the effect waits for its outcome. */
  readonly put: (item: Item) => Effect.Effect<A, E>
  /** Like `put`, without a fiber: `done` is called once, later, or at once when too many wait or the scope has closed. */
  readonly post: (item: Item, done: (exit: Exit.Exit<A, E>) => void) => void
}

export interface BatchOptions<Item, A, E> {
  /** Outcomes in the order of the items. A failure, or a defect, is the outcome of all of them. */
  readonly run: (items: ReadonlyArray<Item>) => Effect.Effect<ReadonlyArray<Exit.Exit<A, E>>, E>
  /** Whether one item may have caused the failure: each is then run alone. Never, when left out. */
  readonly mayBeCausedByOne?: (cause: Cause.Cause<E>) => boolean
  readonly maxBatch: number
  /** Batches that run at the same time; one when left out. */
  readonly maxRunning?: number
  /** Maximum number of items waiting, and the failure of those above it. When left out, the caller bounds them. */
  readonly limit?: { readonly maxWaiting: number; readonly overload: E }
}

const missing = Exit.die(new Error("an item has no outcome"))

/**
 * Batches the items of one turn of the event loop, and those that arrive while as many batches run as may. When its scope closes, batches that run are
 * awaited unless `run` can be interrupted, and items that wait are interrupted.
 */
export const makeBatches = <Item, A, E>(
  { limit, maxBatch, maxRunning = 1, mayBeCausedByOne = () => false, run }: BatchOptions<Item, A, E>
): Effect.Effect<Batches<Item, A, E>, never, Scope.Scope> =>
  Effect.gen(function*() {
    const fork = yield* FiberSet.makeRuntime<never>()
    let isClosed = false
    let waiting: Array<Waiting<Item, A, E>> = []
    let running = 0

    /** A defect of who waits is logged: it must affect neither the other items nor the next batch. */
    const settle = ({ done }: Waiting<Item, A, E>, outcome: Exit.Exit<A, E>): void => {
      try {
        done(outcome)
      } catch (defect) {
        fork(Effect.logError("answer failed", Cause.die(defect)))
      }
    }

    const fail = (batch: ReadonlyArray<Waiting<Item, A, E>>, cause: Cause.Cause<E>): Cause.Cause<E> => {
      for (const one of batch) settle(one, Exit.failCause(cause))
      return cause
    }

    /** Tells the items their outcomes; the cause when it failed. */
    const runBatch = (batch: ReadonlyArray<Waiting<Item, A, E>>): Effect.Effect<Cause.Cause<E> | undefined> =>
      Effect.matchCauseEffect(Effect.suspend(() => run(batch.map(({ item }) => item))), {
        onSuccess: (outcomes) =>
          Effect.sync(() => {
            for (const [index, one] of batch.entries()) settle(one, outcomes[index] ?? missing)
            return undefined
          }),
        onFailure: (cause) =>
          batch.length > 1 && mayBeCausedByOne(cause) ? runEach(batch) : Effect.sync(() => fail(batch, cause))
      })

    /** Runs each item alone, up to a failure that none of them caused. */
    const runEach = Effect.fnUntraced(function*(batch: ReadonlyArray<Waiting<Item, A, E>>) {
      for (const [index, one] of batch.entries()) {
        const cause = yield* runBatch([one])
        if (cause !== undefined && !mayBeCausedByOne(cause)) return fail(batch.slice(index + 1), cause)
      }
      return undefined
    })

    const runNext = Effect.suspend(() => {
      const batch = waiting.slice(0, maxBatch)
      waiting = waiting.slice(maxBatch)
      return batch.length === 0 ? Effect.void : runBatch(batch)
    })

    const ended = Effect.sync(() => {
      running--
      start()
    })

    const start = (): void => {
      if (waiting.length === 0 || running >= maxRunning) return
      running++
      fork(Effect.ensuring(Effect.andThen(Effect.yieldNow, runNext), ended), { uninterruptible: true })
    }

    const post: Batches<Item, A, E>["post"] = (item, done) => {
      if (isClosed) return done(Exit.interrupt())
      if (limit !== undefined && waiting.length >= limit.maxWaiting) return done(Exit.fail(limit.overload))
      waiting.push({ item, done })
      start()
    }

    // before the fibers of running batches are awaited: what waits would begin when they end
    yield* Effect.addFinalizer(() =>
      Effect.sync(() => {
        isClosed = true
        const left = waiting
        waiting = []
        for (const one of left) settle(one, Exit.interrupt())
      })
    )
    return {
      put: (item) => {
        const deferred = Deferred.makeUnsafe<A, E>()
        post(item, (exit) => Deferred.doneUnsafe(deferred, exit))
        return Deferred.await(deferred)
      },
      post
    }
  })
