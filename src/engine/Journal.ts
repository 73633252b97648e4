/**
 * Group commit. Units that arrive during a commit go together into the next one; otherwise a unit is committed at once. There is no timer:
 * the store's pace is the clock.
 *
 * A rejected batch is halved until the rejected unit is alone: it costs the others a few round trips.
 */
import { Clock, Effect, Exit, Metric, type Scope } from "effect"
import { updaterOf } from "../platform/Metrics.ts"
import type { CommitFailure } from "./Failures.ts"

export interface Journal<in Unit> {
  /** Accepts a unit unless the journal is full. `complete` is called once, when the unit is durable or has failed; it must not throw. */
  readonly append: (unit: Unit, complete: (exit: Exit.Exit<void, CommitFailure>) => void) => boolean
  /** Completes when nothing waits and nothing runs. */
  readonly idle: Effect.Effect<void>
}

const batchUnits = Metric.histogram("journal_batch_units", {
  description: "Units in one group commit: the commands of one actor that are written together",
  boundaries: Metric.exponentialBoundaries({ start: 1, factor: 2, count: 13 })
})
/** Repeated parts of a rejected commit included. */
const commitSeconds = Metric.histogram("journal_commit_seconds", {
  description: "Time of one group commit",
  boundaries: Metric.exponentialBoundaries({ start: 0.0005, factor: 2, count: 15 })
})

export interface JournalOptions<in out Unit> {
  readonly commit: (units: ReadonlyArray<Unit>) => Effect.Effect<void, CommitFailure>
  /** Maximum weight of one commit. */
  readonly maxWeight: number
  /** Weight of a unit, at least 1. */
  readonly weigh: (unit: Unit) => number
  /** Maximum of waiting units; one more is not accepted. */
  readonly capacity: number
}

/** Time for accepted units when the scope closes. Longer than a healthy store needs. */
export const drainTime = "8 seconds"

interface Waiting<out Unit> {
  readonly unit: Unit
  readonly complete: (exit: Exit.Exit<void, CommitFailure>) => void
}

/** Makes a journal; closing the scope waits for its last commit. */
export const make = Effect.fnUntraced(function*<Unit>(
  options: JournalOptions<Unit>
): Effect.fn.Return<Journal<Unit>, never, Scope.Scope> {
  const clock = yield* Clock.Clock
  const whenIdle: Array<() => void> = []
  const context = yield* Effect.context<never>()
  const fork = Effect.runForkWith(context)
  const observeUnits = updaterOf(batchUnits, context)
  const observeSeconds = updaterOf(commitSeconds, context)
  let waiting: Array<Waiting<Unit>> = []
  let isRunning = false

  const commit = (batch: ReadonlyArray<Waiting<Unit>>): Effect.Effect<void> =>
    Effect.flatMap(Effect.exit(Effect.suspend(() => options.commit(batch.map(({ unit }) => unit)))), (exit) => {
      const failure = Exit.findErrorOption(exit)
      if (batch.length > 1 && failure._tag === "Some" && failure.value._tag === "Rejected") {
        const middle = batch.length >> 1
        return Effect.andThen(commit(batch.slice(0, middle)), commit(batch.slice(middle)))
      }
      for (const { complete } of batch) complete(exit)
      return Effect.void
    })

  const takeBatch = (): ReadonlyArray<Waiting<Unit>> => {
    let weight = 0
    let length = 0
    while (length < waiting.length) {
      weight += options.weigh(waiting[length]!.unit)
      if (length > 0 && weight > options.maxWeight) break
      length++
    }
    const batch = length === waiting.length ? waiting : waiting.slice(0, length)
    waiting = length === waiting.length ? [] : waiting.slice(length)
    return batch
  }

  /** Commits what waits, batch after batch. A loop, since a store in memory may be done before the fork returns. */
  const run = (): void => {
    while (waiting.length > 0) {
      const batch = takeBatch()
      const startedAt = clock.monotonicTimeNanosUnsafe()
      const observe = () => {
        observeUnits(batch.length)
        observeSeconds(Number(clock.monotonicTimeNanosUnsafe() - startedAt) / 1e9)
      }
      const fiber = fork(commit(batch), { uninterruptible: true })
      if (fiber.pollUnsafe() === undefined) {
        fiber.addObserver(() => {
          observe()
          run()
        })
        return
      }
      observe()
    }
    isRunning = false
    for (const resume of whenIdle.splice(0)) resume()
  }

  const idle = Effect.callback<void>((resume) => {
    if (isRunning) whenIdle.push(() => resume(Effect.void))
    else resume(Effect.void)
  })

  yield* Effect.addFinalizer(() => Effect.timeoutOption(Effect.interruptible(idle), drainTime))

  const append: Journal<Unit>["append"] = (unit, complete) => {
    if (waiting.length >= options.capacity) return false
    waiting.push({ unit, complete })
    if (!isRunning) {
      isRunning = true
      run()
    }
    return true
  }

  return { append, idle }
})
