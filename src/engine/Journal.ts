/**
 * Group commit. Units that arrive during a commit go together into the next one; otherwise a unit is committed at once. There is no timer:
 * the store's pace is the clock.
 *
 * Of a rejected batch the store says in one round trip which units are to blame (`docs/decisions/0036-rejected-commits.md`). The others are
 * committed together at once; those to blame end with what the store said. Only a batch that was refused without anybody to blame is
 * halved.
 */
import { Clock, Effect, Exit, Metric, type Scope } from "effect"
import { updaterOf } from "../platform/Metrics.ts"
import { type CommitFailure, OutcomeUnknown, type Rejected, StoreUnavailable } from "./Failures.ts"
import type { CommitEnd, Verdict } from "./Machine.ts"

export interface Journal<in Unit, out Knowledge> {
  /** Accepts a unit unless the journal is full. `complete` is called once, when the unit is durable or has failed; it must not throw. */
  readonly append: (unit: Unit, complete: (end: CommitEnd<Knowledge>) => void) => boolean
  /** Completes when nothing waits and nothing runs. */
  readonly idle: Effect.Effect<void>
}

const batchUnits = Metric.histogram("journal_batch_units", {
  description: "Units in one group commit: the commands of one actor that are written together",
  boundaries: Metric.exponentialBoundaries({ start: 1, factor: 2, count: 13 })
})
/** With the search for those to blame, when it was rejected. */
const commitSeconds = Metric.histogram("journal_commit_seconds", {
  description: "Time of one group commit",
  boundaries: Metric.exponentialBoundaries({ start: 0.0005, factor: 2, count: 15 })
})

export interface JournalOptions<in out Unit, out Knowledge> {
  readonly commit: (units: ReadonlyArray<Unit>) => Effect.Effect<void, CommitFailure>
  readonly examine: (
    units: ReadonlyArray<Unit>,
    because: Rejected["because"]
  ) => Effect.Effect<ReadonlyArray<Verdict<Knowledge>>, StoreUnavailable>
  /** Maximum weight of one commit. */
  readonly maxWeight: number
  /** Weight of a unit, at least 1. */
  readonly weigh: (unit: Unit) => number
  /** Maximum of waiting units; one more is not accepted. */
  readonly capacity: number
}

/** Time for accepted units when the scope closes. Longer than a healthy store needs. */
export const drainTime = "8 seconds"

interface Waiting<out Unit, in Knowledge> {
  readonly unit: Unit
  readonly complete: (end: CommitEnd<Knowledge>) => void
}

interface Batch<out Unit, in Knowledge> {
  readonly entries: ReadonlyArray<Waiting<Unit, Knowledge>>
  /** How often it was rejected because a row was held that is none of its units'. */
  readonly timesBusy: number
  /** Divisions that are left of the batch it is a part of, when it was divided for such a row. */
  readonly divisions?: { left: number }
}

/** How a batch ended: all of it in one way, or rejected with a verdict for each unit. */
type BatchEnd<Knowledge> =
  | CommitEnd<Knowledge>
  | {
    readonly _tag: "Judged"
    readonly rejected: Rejected
    readonly verdicts: ReadonlyArray<Verdict<Knowledge>>
  }

const committed: BatchEnd<never> = { _tag: "Committed" }
const fenced: BatchEnd<never> = { _tag: "Fenced" }
const busy: BatchEnd<never> = { _tag: "Busy" }

/** Tries of a batch that waits for a row of many, such as the sums of a report: the journal waits with it. */
const maxTimesBusy = 5

/** Divisions of such a batch: enough to find one unit of a thousand, few where the row is one of all. */
const maxDivisions = 12

/** Makes a journal; closing the scope waits for its last commit. */
export const make = Effect.fnUntraced(function*<Unit, Knowledge>(
  options: JournalOptions<Unit, Knowledge>
): Effect.fn.Return<Journal<Unit, Knowledge>, never, Scope.Scope> {
  type Entry = Waiting<Unit, Knowledge>

  const clock = yield* Clock.Clock
  const whenIdle: Array<() => void> = []
  const context = yield* Effect.context<never>()
  const fork = Effect.runForkWith(context)
  const observeUnits = updaterOf(batchUnits, context)
  const observeSeconds = updaterOf(commitSeconds, context)
  let waiting: Array<Entry> = []
  /** What is left of rejected batches, before all that waits. */
  const ahead: Array<Batch<Unit, Knowledge>> = []
  let isRunning = false

  const judge = (units: ReadonlyArray<Unit>, rejected: Rejected): Effect.Effect<BatchEnd<Knowledge>> => {
    const [first] = units
    if (units.length === 1 && first !== undefined && rejected.because !== "clash") {
      return Effect.succeed(rejected.because === "fenced" ? fenced : busy)
    }
    return Effect.matchCause(Effect.suspend(() => options.examine(units, rejected.because)), {
      onSuccess: (verdicts): BatchEnd<Knowledge> => ({ _tag: "Judged", rejected, verdicts }),
      // nothing was written, and who is to blame is not known
      onFailure: (cause) => {
        const failure = Exit.findErrorOption(Exit.failCause(cause))
        return failure._tag === "Some" ? failure.value : new StoreUnavailable({ reason: "the store failed" })
      }
    })
  }

  const commit = (batch: Batch<Unit, Knowledge>): Effect.Effect<BatchEnd<Knowledge>> => {
    const units = batch.entries.map(({ unit }) => unit)
    return Effect.matchCauseEffect(Effect.suspend(() => options.commit(units)), {
      onSuccess: () => Effect.succeed<BatchEnd<Knowledge>>(committed),
      onFailure: (cause): Effect.Effect<BatchEnd<Knowledge>> => {
        const failure = Exit.findErrorOption(Exit.failCause(cause))
        // a defect of the store says nothing about what it wrote
        if (failure._tag === "None") return Effect.succeed(new OutcomeUnknown({ reason: "the commit failed" }))
        return failure.value._tag === "Rejected" ? judge(units, failure.value) : Effect.succeed(failure.value)
      }
    })
  }

  /** Nobody is to blame for a rejection. */
  const divide = (
    { divisions = { left: maxDivisions }, entries, timesBusy }: Batch<Unit, Knowledge>,
    { because, reason }: Rejected
  ): void => {
    const completeAll = (end: CommitEnd<Knowledge>) => {
      for (const { complete } of entries) complete(end)
    }
    if (because === "fenced") return completeAll({ _tag: "Fenced" })
    if (because === "busy") {
      // it was free again by then; or a row that all of them need is held
      if (timesBusy + 1 < maxTimesBusy) return void ahead.push({ entries, timesBusy: timesBusy + 1 })
      // one of them may need what the store does not look for, such as a key that another transaction has written
      if (divisions.left-- <= 0) {
        return completeAll(new StoreUnavailable({ reason: "another transaction holds a row of many" }))
      }
    }
    if (entries.length === 1) return completeAll({ _tag: "Impossible", reason })
    const middle = entries.length >> 1
    ahead.push(
      { entries: entries.slice(0, middle), timesBusy, divisions },
      { entries: entries.slice(middle), timesBusy, divisions }
    )
  }

  const ended = (batch: Batch<Unit, Knowledge>, end: BatchEnd<Knowledge>): void => {
    const { entries } = batch
    if (end._tag !== "Judged") {
      for (const { complete } of entries) complete(end)
      return
    }
    const sound: Array<Entry> = []
    const later: Array<Entry> = []
    for (const [index, entry] of entries.entries()) {
      const verdict = end.verdicts[index]
      if (verdict === undefined || verdict._tag === "Sound") sound.push(entry)
      else if (verdict._tag === "Later") later.push(entry)
      else entry.complete(verdict)
    }
    if (sound.length === entries.length) return divide(batch, end.rejected)
    if (sound.length > 0) ahead.push({ entries: sound, timesBusy: 0 })
    if (later.length > 0) ahead.push({ entries: later, timesBusy: 0 })
  }

  const takeBatch = (): Batch<Unit, Knowledge> | undefined => {
    if (waiting.length === 0) return undefined
    let weight = 0
    let length = 0
    while (length < waiting.length) {
      weight += options.weigh(waiting[length]!.unit)
      if (length > 0 && weight > options.maxWeight) break
      length++
    }
    const entries = length === waiting.length ? waiting : waiting.slice(0, length)
    waiting = length === waiting.length ? [] : waiting.slice(length)
    return { entries, timesBusy: 0 }
  }

  /** Commits what waits, batch after batch. A loop, since a store in memory may be done before the fork returns. */
  const run = (): void => {
    for (;;) {
      const batch = ahead.shift() ?? takeBatch()
      if (batch === undefined) {
        isRunning = false
        for (const resume of whenIdle.splice(0)) resume()
        return
      }
      const startedAt = clock.monotonicTimeNanosUnsafe()
      const finish = (exit: Exit.Exit<BatchEnd<Knowledge>>) => {
        observeUnits(batch.entries.length)
        observeSeconds(Number(clock.monotonicTimeNanosUnsafe() - startedAt) / 1e9)
        ended(batch, Exit.isSuccess(exit) ? exit.value : new OutcomeUnknown({ reason: "the commit failed" }))
      }
      const fiber = fork(commit(batch), { uninterruptible: true })
      const exit = fiber.pollUnsafe()
      if (exit === undefined) {
        fiber.addObserver((later) => {
          finish(later)
          run()
        })
        return
      }
      finish(exit)
    }
  }

  const idle = Effect.callback<void>((resume) => {
    if (isRunning) whenIdle.push(() => resume(Effect.void))
    else resume(Effect.void)
  })

  yield* Effect.addFinalizer(() => Effect.timeoutOption(Effect.interruptible(idle), drainTime))

  const append: Journal<Unit, Knowledge>["append"] = (unit, complete) => {
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
