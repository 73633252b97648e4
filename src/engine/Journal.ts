/**
 * Group commit: writes units, each the changes of one actor, together in one commit. Units that arrive while a commit runs, or in the event-loop turn
 * in which it ends, form the next commit. When no commit runs, the units of one event-loop turn form one. There is no timer: a slower store gets
 * larger commits.
 *
 * When the store rejects a commit, it reports in one round trip which units caused the rejection (`docs/decisions/0036-rejected-commits.md`). Those
 * end with the store's verdict, and the others are committed again at once. Only a batch rejected without a culprit is split.
 */
import { Clock, Effect, Exit, Metric, type Scope } from "effect"
import { updaterOf } from "../platform/Metrics.ts"
import { makeTurnEnd } from "../platform/TurnEnd.ts"
import { type CommitFailure, OutcomeUnknown, type Rejected, StoreUnavailable } from "./Failures.ts"
import type { CommitOutcome, Verdict } from "./Machine.ts"

export interface Journal<in Unit, out Knowledge> {
  /** Accepts a unit unless the journal is full. `complete` is called once, when the unit is durable or has failed; it must not throw. */
  readonly append: (unit: Unit, complete: (end: CommitOutcome<Knowledge>) => void) => boolean
  /** Completes when no unit waits and no commit runs. */
  readonly idle: Effect.Effect<void>
}

const batchUnits = Metric.histogram("journal_batch_units", {
  description: "Units in one group commit: the commands of one actor that are written together",
  boundaries: Metric.exponentialBoundaries({ start: 1, factor: 2, count: 13 })
})
/** In seconds: fine where a healthy store is, up to its time-outs. */
const boundaries = [250, 500, 750, 1000, 1500, 2000, 3000, 4000, 6000, 8000, 12_000, 16_000, 24_000, 32_000, 50_000]
  .concat(100_000, 200_000, 500_000, 1e6, 2e6, 5e6, 1e7).map((micros) => micros / 1e6)
/** includes the examination of a rejected commit */
const commitSeconds = Metric.histogram("journal_commit_seconds", {
  description: "Time of one group commit",
  boundaries
})
const waitSeconds = Metric.histogram("journal_wait_seconds", {
  description: "Time that the oldest unit of a group commit waited for it to begin",
  boundaries
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
  /** Maximum waiting units; further ones are not accepted. */
  readonly capacity: number
}

/** Time for accepted units when the scope closes. Exceeds the needs of a healthy store. */
export const drainTime = "8 seconds"

interface Waiting<out Unit, in Knowledge> {
  readonly unit: Unit
  readonly complete: (end: CommitOutcome<Knowledge>) => void
}

interface Batch<out Unit, in Knowledge> {
  readonly entries: ReadonlyArray<Waiting<Unit, Knowledge>>
  /** Rejections of the batch because of a held row that none of its units names. */
  readonly timesBusy: number
  /** Divisions left of the original batch, if it was divided because of such a row. */
  readonly divisions?: { left: number }
}

/** End of a batch: the same for all units, or rejected with a verdict for each. */
type BatchOutcome<Knowledge> =
  | CommitOutcome<Knowledge>
  | {
    readonly _tag: "Examined"
    readonly rejected: Rejected
    readonly verdicts: ReadonlyArray<Verdict<Knowledge>>
  }

const committed: BatchOutcome<never> = { _tag: "Committed" }
const fenced: BatchOutcome<never> = { _tag: "Fenced" }
const busy: BatchOutcome<never> = { _tag: "Busy" }

/** Attempts of a batch that waits for a row shared by many units, such as a report's sum: the journal waits with it. */
const maxTimesBusy = 12

/** Maximum divisions of such a batch: enough to isolate one unit of a thousand, few when the row is shared by all. */
const maxDivisions = 12

/** Makes a journal; closing the scope waits for its last commit. */
export const make = Effect.fnUntraced(function*<Unit, Knowledge>(
  options: JournalOptions<Unit, Knowledge>
): Effect.fn.Return<Journal<Unit, Knowledge>, never, Scope.Scope> {
  type Entry = Waiting<Unit, Knowledge>

  const clock = yield* Clock.Clock
  // Kept: whenIdle, waiting, waitingSince, ahead, isRunning. Commits under way and gathering. Several nodes: its own: several journals write at once, each behind
  // the fence of its players' versions.
  const whenIdle: Array<() => void> = []
  const context = yield* Effect.context<never>()
  const fork = Effect.runForkWith(context)
  const whenTurnEnds = yield* makeTurnEnd
  const observeUnits = updaterOf(batchUnits, context)
  const observeSeconds = updaterOf(commitSeconds, context)
  const observeWait = updaterOf(waitSeconds, context)
  let waiting: Array<Entry> = []
  /** When the oldest of them was accepted, monotonic nanoseconds. */
  let waitingSince = 0n
  /** Rest of rejected batches, committed before all waiting units. */
  const ahead: Array<Batch<Unit, Knowledge>> = []
  let isRunning = false

  const examine = (units: ReadonlyArray<Unit>, rejected: Rejected): Effect.Effect<BatchOutcome<Knowledge>> => {
    const [first] = units
    if (units.length === 1 && first !== undefined && rejected.because !== "clash") {
      return Effect.succeed(rejected.because === "fenced" ? fenced : busy)
    }
    return Effect.matchCause(Effect.suspend(() => options.examine(units, rejected.because)), {
      onSuccess: (verdicts): BatchOutcome<Knowledge> => ({ _tag: "Examined", rejected, verdicts }),
      // nothing was written, and the culprit is unknown
      onFailure: (cause) => {
        const failure = Exit.findErrorOption(Exit.failCause(cause))
        return failure._tag === "Some" ? failure.value : new StoreUnavailable({ reason: "the store failed" })
      }
    })
  }

  const commit = (batch: Batch<Unit, Knowledge>): Effect.Effect<BatchOutcome<Knowledge>> => {
    const units = batch.entries.map(({ unit }) => unit)
    return Effect.matchCauseEffect(Effect.suspend(() => options.commit(units)), {
      onSuccess: () => Effect.succeed<BatchOutcome<Knowledge>>(committed),
      onFailure: (cause): Effect.Effect<BatchOutcome<Knowledge>> => {
        const failure = Exit.findErrorOption(Exit.failCause(cause))
        // a defect of the store leaves the outcome unknown
        if (failure._tag === "None") return Effect.succeed(new OutcomeUnknown({ reason: "the commit failed" }))
        return failure.value._tag === "Rejected" ? examine(units, failure.value) : Effect.succeed(failure.value)
      }
    })
  }

  /** Handles a rejection without a culprit. */
  const divide = (
    { divisions = { left: maxDivisions }, entries, timesBusy }: Batch<Unit, Knowledge>,
    { because, reason }: Rejected
  ): void => {
    const completeAll = (end: CommitOutcome<Knowledge>) => {
      for (const { complete } of entries) complete(end)
    }
    if (because === "fenced") return completeAll({ _tag: "Fenced" })
    if (because === "busy") {
      // free again by then, or a row that all units need is held
      if (timesBusy + 1 < maxTimesBusy) return void ahead.push({ entries, timesBusy: timesBusy + 1 })
      // one unit may need a row that the examination does not cover, such as a key written by another transaction
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

  const settle = (batch: Batch<Unit, Knowledge>, end: BatchOutcome<Knowledge>): void => {
    const { entries } = batch
    if (end._tag !== "Examined") {
      for (const { complete } of entries) complete(end)
      return
    }
    const valid: Array<Entry> = []
    const later: Array<Entry> = []
    for (const [index, entry] of entries.entries()) {
      const verdict = end.verdicts[index]
      if (verdict === undefined || verdict._tag === "Valid") valid.push(entry)
      else if (verdict._tag === "Later") later.push(entry)
      else entry.complete(verdict)
    }
    if (valid.length === entries.length) return divide(batch, end.rejected)
    if (valid.length > 0) ahead.push({ entries: valid, timesBusy: 0 })
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
    observeWait(Number(clock.monotonicTimeNanosUnsafe() - waitingSince) / 1e9)
    const entries = length === waiting.length ? waiting : waiting.slice(0, length)
    waiting = length === waiting.length ? [] : waiting.slice(length)
    return { entries, timesBusy: 0 }
  }

  /** Commits waiting batches one after the other. A loop, since an in-memory store may complete before the fork returns. */
  const run = (): void => {
    for (;;) {
      const batch = ahead.shift() ?? takeBatch()
      if (batch === undefined) {
        isRunning = false
        for (const resume of whenIdle.splice(0)) resume()
        return
      }
      const startedAt = clock.monotonicTimeNanosUnsafe()
      const finish = (exit: Exit.Exit<BatchOutcome<Knowledge>>) => {
        observeUnits(batch.entries.length)
        observeSeconds(Number(clock.monotonicTimeNanosUnsafe() - startedAt) / 1e9)
        settle(batch, Exit.isSuccess(exit) ? exit.value : new OutcomeUnknown({ reason: "the commit failed" }))
      }
      const fiber = fork(commit(batch), { uninterruptible: true })
      const exit = fiber.pollUnsafe()
      if (exit === undefined) {
        fiber.addObserver((later) => {
          finish(later)
          // what else arrived in this turn shares the next commit
          whenTurnEnds(run)
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
    if (waiting.length === 0) waitingSince = clock.monotonicTimeNanosUnsafe()
    waiting.push({ unit, complete })
    if (!isRunning) {
      isRunning = true
      whenTurnEnds(run)
    }
    return true
  }

  return { append, idle }
})
