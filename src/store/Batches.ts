/** Collects items into batches: the items of one event-loop turn, or those that arrive while the maximum number of batches is running. */
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
  /** Items of a batch at most: always as many, or by how many wait. */
  readonly maxBatch: number | ((waiting: number) => number)
  /** How long items are gathered before a batch begins; those of one turn of the event loop when left out. */
  readonly gatherMs?: number
  /** Batches that run at the same time; one when left out. */
  readonly maxRunning?: number
  /** Maximum number of items waiting, and the failure of those above it. When left out, the caller bounds them. */
  readonly limit?: { readonly maxWaiting: number; readonly overload: E }
}

const missing = Exit.die(new Error("an item has no outcome"))

/**
 * When the scope closes, batches that run are awaited unless `run` can be interrupted, and items that wait are interrupted.
 */
export const makeBatches = <Item, A, E>(
  { gatherMs, limit, maxBatch, maxRunning = 1, mayBeCausedByOne = () => false, run }: BatchOptions<Item, A, E>
): Effect.Effect<Batches<Item, A, E>, never, Scope.Scope> =>
  Effect.gen(function*() {
    // Kept: fork, isClosed, waiting, running. What gathers for one statement: signatures, look-ups, loads, pages. Several nodes: its own.
    const fork = yield* FiberSet.makeRuntime<never>()
    let isClosed = false
    let waiting: Array<Waiting<Item, A, E>> = []
    let running = 0

    /** A defect of who waits is logged: it must affect neither the other items nor the next batch. */
    const settle = ({ done }: Waiting<Item, A, E>, outcome: Exit.Exit<A, E>): void => {
      try {
        done(outcome)
      } catch (defect) {
        fork(Effect.logError("batch completion callback threw", Cause.die(defect)))
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
      const size = typeof maxBatch === "number" ? maxBatch : maxBatch(waiting.length)
      const batch = waiting.slice(0, size)
      waiting = waiting.slice(size)
      return batch.length === 0 ? Effect.void : runBatch(batch)
    })

    const ended = Effect.sync(() => {
      running--
      start()
    })

    const gathered = gatherMs === undefined ? Effect.yieldNow : Effect.sleep(gatherMs)

    const start = (): void => {
      if (waiting.length === 0 || running >= maxRunning) return
      running++
      fork(Effect.ensuring(Effect.andThen(gathered, runNext), ended), { uninterruptible: true })
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
