/**
 * One actor per key: the only writer of its state.
 *
 * A command is a pure step. Steps that wait for the same key are decided in turn against a tentative state, and their changes go to the
 * journal as one unit. When the unit is durable, the new state becomes the committed one and all callers are answered, refusals included,
 * since a refusal may depend on a step that was not durable yet. Meanwhile the next commands gather.
 *
 * An idle actor is a cell in a map; the fiber that drains its mailbox lives while there is work. Other actors are loaded on first use.
 *
 * When a commit fails:
 * - *rejected*: nothing was written. The commands are decided again, one at a time: with the store's knowledge when an id that was claimed
 *   to be new exists, on the current state when another writer was faster. The callers notice nothing.
 * - *unavailable*: nothing was written; the callers get a failure that is safe to retry.
 * - *unknown*: the callers get a failure that is safe to retry, and the actor loads its state again behind a fence before it serves.
 */
import { Clock, Deferred, Effect, Exit, type Scope, type Tracer } from "effect"
import { Ids } from "../platform/Ids.ts"
import { monotonicClock } from "../platform/MonotonicClock.ts"
import { Traced } from "../platform/Tracing.ts"
import { type EngineFailure, MailboxFull, NoSuchActor, NotHere, OutcomeUnknown, StoreUnavailable } from "./Failures.ts"
import { type CommitFailure, type Rejected } from "./Failures.ts"
import { makeIdBlocks } from "./internal/IdBlocks.ts"
import { spansOf, traceCommit, traceStep } from "./internal/Traces.ts"
import * as Journal from "./Journal.ts"
import { type Circumstances, type Decision, type Step, type Store, type Unit } from "./Machine.ts"
import { Placement } from "./Placement.ts"
import type { ActorsOptions } from "./ActorsOptions.ts"
import { registerActorMetrics } from "./internal/ActorMetrics.ts"
import * as WriteHealth from "./WriteHealth.ts"

export * from "./ActorsOptions.ts"

export interface Actors<State, Change, Query, Knowledge> {
  /** Runs a step as the only writer of `key` and answers once what it wrote is durable. Not interruptible once accepted. */
  readonly ask: <Reply, Error>(
    key: number,
    step: Step<State, Reply, Error, Change, Query, Knowledge>
  ) => Effect.Effect<Reply, Error | EngineFailure>
  /** The committed state of `key`. */
  readonly read: (key: number) => Effect.Effect<State, EngineFailure>
  /** Reloads the state of a resident actor before its next decision, when the state is stale. */
  readonly renew: (key: number, isStale: (state: State) => boolean) => void
  /** How many actors are in memory. */
  readonly resident: () => number
  /** Milliseconds without a successful write; 0 when the last one succeeded. */
  readonly writesStalledMs: () => number
}

/** Bound on decisions of a command before its caller is asked to retry. */
const maxAttempts = 6

/** Bound on waits of a command for a locked row: the journal waits with it. */
const maxTimesBusy = 1

/** Actors per slice of passivation, about a millisecond. */
const passivatedPerSlice = 500

/** A clock set back further than this had been wrong, and decisions follow it. */
const maxStepBackMs = 3_600_000

/** Actors examined to make room for one. */
const looksForRoom = 64

/** Makes the actors; closing the scope refuses new commands and waits until the accepted ones are answered. */
export const make = Effect.fnUntraced(function*<State, Change, Query, Knowledge>(
  options: ActorsOptions<State, Change, Query, Knowledge>
): Effect.fn.Return<Actors<State, Change, Query, Knowledge>, never, Ids | Placement | Scope.Scope> {
  type Known = Knowledge | undefined
  type AnyDecision = Decision<State, unknown, unknown, Change, Query>

  /** A command with its caller's types closed over. */
  interface Task {
    /** The caller's; undefined without traces. */
    readonly span: Tracer.AnySpan | undefined
    /** Decides and keeps the outcome for `publish`. */
    readonly decide: (state: State, circumstances: Circumstances<Knowledge>) => AnyDecision
    readonly publish: () => void
    readonly fail: (failure: EngineFailure) => void
  }

  interface Cell {
    readonly key: number
    /** Committed; undefined while it has to be loaded. */
    state: State | undefined
    version: number
    /** True when an earlier commit may still happen: loading must fence it off. */
    isDoubtful: boolean
    mailbox: Array<Task>
    isRunning: boolean
    /** The state has to be loaded before the next decision. */
    isStale: boolean
    /** Since passivation examined it. */
    wasAsked: boolean
    /** Monotonic milliseconds: when it was last seen to be asked for, to the minute. */
    askedAt: number
    /** The instant of the last decision, epoch milliseconds. */
    decidedAt: number
  }

  const ids = yield* Ids
  const placement = yield* Placement
  const clock = yield* Clock.Clock
  const isTraced = yield* Traced
  const monotonic = monotonicClock(clock)
  const health = WriteHealth.make(monotonic)
  const store: Store<State, Change, Query, Knowledge> = {
    look: options.store.look,
    claims: options.store.claims,
    commit: (units) =>
      health.commit(isTraced ? traceCommit(units, options.store.commit(units)) : options.store.commit(units)),
    load: (key, fence) => fence ? health.fence(options.store.load(key, fence)) : options.store.load(key, fence)
  }
  const fork = Effect.runForkWith(yield* Effect.context<never>())
  const blocks = makeIdBlocks(ids, fork)
  const journal = yield* Journal.make<Unit<State, Change>>({
    commit: store.commit,
    maxWeight: options.maxCommit,
    weigh: (unit) => unit.changes.length,
    capacity: options.maxWaiting
  })

  const cells = new Map<number, Cell>()
  const whenIdle: Array<() => void> = []
  let isClosed = false
  let running = 0
  let waiting = 0
  const counts = { refused: 0, loads: 0, reloads: 0, passivations: 0 }

  const forget = (key: number): boolean => {
    counts.passivations++
    return cells.delete(key)
  }

  const longestMailbox = (): number => {
    let longest = 0
    for (const { mailbox } of cells.values()) longest = Math.max(longest, mailbox.length)
    return longest
  }

  /** The current time, never decreasing for a key when the clock is set back a little. */
  const timeFor = (cell: Cell): number => {
    const now = clock.currentTimeMillisUnsafe()
    if (now < cell.decidedAt && cell.decidedAt - now <= maxStepBackMs) return cell.decidedAt
    cell.decidedAt = now
    return now
  }

  const decide = (cell: Cell, task: Task, state: State, known: Known): AnyDecision => {
    const decision = task.decide(state, { now: timeFor(cell), firstId: blocks.nextId(), known })
    if (decision._tag === "Accept") blocks.use(decision.idsUsed)
    return decision
  }

  const load = Effect.fnUntraced(function*(cell: Cell) {
    const loaded = yield* store.load(cell.key, cell.isDoubtful)
    if (cell.isDoubtful || cell.version > 0) counts.reloads++
    else counts.loads++
    if (loaded === undefined) return yield* new NoSuchActor()
    cell.state = loaded.state
    cell.version = loaded.version
    cell.isDoubtful = false
    return loaded.state
  })

  const stateOf = (cell: Cell): Effect.Effect<State, StoreUnavailable | NoSuchActor> =>
    cell.state === undefined ? load(cell) : Effect.succeed(cell.state)

  /** Between commits only: a running one is fenced by its version. */
  const dropStale = (cell: Cell): void => {
    if (!cell.isStale) return
    cell.isStale = false
    cell.state = undefined
  }

  const spansFor = (tasks: ReadonlyArray<Task>) => isTraced ? { spans: spansOf(tasks) } : undefined

  /** Commits a unit; on success the cell carries the new state, on a doubtful end it carries none. */
  const commit = (
    cell: Cell,
    before: State,
    after: State,
    changes: ReadonlyArray<Change>,
    tasks: ReadonlyArray<Task>
  ): Effect.Effect<Exit.Exit<void, CommitFailure | MailboxFull>> =>
    Effect.map(
      Effect.exit(journal.append({ key: cell.key, version: cell.version, before, after, changes, ...spansFor(tasks) })),
      (exit) => {
        if (Exit.isSuccess(exit)) {
          cell.state = after
          cell.version++
          return exit
        }
        const failure = Exit.findErrorOption(exit)
        const isUnknown = failure._tag === "None" || failure.value._tag === "OutcomeUnknown"
        const isFenced = failure._tag === "Some" && failure.value._tag === "Rejected" &&
          failure.value.because === "fenced"
        // only a commit that may still happen has to be fenced off: two writers who fenced each other off would never end
        if (isUnknown) cell.isDoubtful = true
        if (isUnknown || isFenced) cell.state = undefined
        return exit
      }
    )

  const rejectionOf = (exit: Exit.Exit<void, CommitFailure | MailboxFull>): Rejected | undefined => {
    const failure = Exit.findErrorOption(exit)
    return failure._tag === "Some" && failure.value._tag === "Rejected" ? failure.value : undefined
  }

  /** The callers' failure of a commit. A defect of the store counts as unknown. */
  const failureOf = (exit: Exit.Exit<void, CommitFailure | MailboxFull>): EngineFailure => {
    const failure = Exit.findErrorOption(exit)
    return failure._tag === "Some" && failure.value._tag !== "Rejected"
      ? failure.value
      : new OutcomeUnknown({ reason: "the commit failed" })
  }

  /** Decides one task alone until its commit holds: looks up what it lacks, and starts over when the store disagrees. */
  const runAlone = Effect.fnUntraced(function*(cell: Cell, task: Task) {
    let known: Known = undefined
    let timesBusy = 0
    for (let attempt = 0; attempt < maxAttempts; attempt++) {
      const state: State = yield* stateOf(cell)
      // other actors use ids while this one waits: only a check right before the decision counts
      while (blocks.lacksIds()) yield* blocks.reserved
      const decision = decide(cell, task, state, known)
      if (decision._tag === "Missing") {
        known = yield* store.look(state, decision.query, known)
        continue
      }
      if (decision._tag === "Refuse") return task.publish()
      if (decision.change === null) {
        cell.state = decision.state
        return task.publish()
      }
      const exit = yield* commit(cell, state, decision.state, [decision.change], [task])
      if (Exit.isSuccess(exit)) return task.publish()
      const rejection = rejectionOf(exit)
      if (rejection === undefined) return task.fail(failureOf(exit))
      if (rejection.because === "busy" && ++timesBusy > maxTimesBusy) {
        return task.fail(new StoreUnavailable({ reason: "another transaction holds the row" }))
      }
      known = rejection.because !== "clash"
        ? undefined
        : yield* store.look(state, store.claims(state, decision.change), known)
    }
    task.fail(new StoreUnavailable({ reason: "other writers were faster every time" }))
  })

  const runAloneOrFail = (cell: Cell, task: Task): Effect.Effect<void> =>
    Effect.catchCause(runAlone(cell, task), (cause) => {
      const failure = Exit.findErrorOption(Exit.failCause(cause))
      return Effect.sync(() =>
        task.fail(failure._tag === "Some" ? failure.value : new StoreUnavailable({ reason: "the store failed" }))
      )
    })

  /** Commits what a run of tasks decided together and answers them. */
  const conclude = Effect.fnUntraced(function*(
    cell: Cell,
    before: State,
    after: State,
    changes: ReadonlyArray<Change>,
    tasks: ReadonlyArray<Task>
  ) {
    if (changes.length > 0) {
      const exit = yield* commit(cell, before, after, changes, tasks)
      if (Exit.isFailure(exit)) {
        if (rejectionOf(exit) === undefined) {
          const failure = failureOf(exit)
          for (const task of tasks) task.fail(failure)
        } else {
          for (const task of tasks) yield* runAloneOrFail(cell, task)
        }
        return
      }
    } else {
      cell.state = after
    }
    for (const task of tasks) task.publish()
  })

  const takeGroup = (cell: Cell): ReadonlyArray<Task> => {
    const group = cell.mailbox.length <= options.maxGroup ? cell.mailbox : cell.mailbox.slice(0, options.maxGroup)
    cell.mailbox = group === cell.mailbox ? [] : cell.mailbox.slice(options.maxGroup)
    waiting -= group.length
    return group
  }

  const runGroup = Effect.fnUntraced(function*(cell: Cell, group: ReadonlyArray<Task>) {
    dropStale(cell)
    let before: State = yield* stateOf(cell)
    let after = before
    let changes: Array<Change> = []
    let decided: Array<Task> = []
    for (const task of group) {
      while (blocks.lacksIds()) yield* blocks.reserved
      const decision = decide(cell, task, after, undefined)
      if (decision._tag === "Missing") {
        // the store is asked when it holds everything that was decided so far
        yield* conclude(cell, before, after, changes, decided)
        yield* runAloneOrFail(cell, task)
        before = after = yield* stateOf(cell)
        changes = []
        decided = []
        continue
      }
      if (decision._tag === "Accept") {
        after = decision.state
        if (decision.change !== null) changes.push(decision.change)
      }
      decided.push(task)
    }
    yield* conclude(cell, before, after, changes, decided)
  })

  const drain = Effect.fnUntraced(function*(cell: Cell) {
    while (cell.mailbox.length > 0) {
      const group = takeGroup(cell)
      const exit = yield* Effect.exit(runGroup(cell, group))
      if (Exit.isFailure(exit)) {
        // a task that was answered before the failure stays answered: a Deferred is completed once
        const failure = Exit.findErrorOption(exit)
        const error = failure._tag === "Some" ? failure.value : new StoreUnavailable({ reason: "the store failed" })
        if (failure._tag === "None") {
          yield* Effect.annotateLogs(Effect.logError("actor failed", exit.cause), { [options.keyName]: cell.key })
        }
        for (const task of group) task.fail(error)
      }
    }
    cell.isRunning = false
    if (cell.state === undefined && !cell.isDoubtful) cells.delete(cell.key)
    running--
    if (running === 0) { for (const resume of whenIdle.splice(0)) resume() }
  })

  /**
   * Drops an idle actor: of the few oldest, the first without a command since it was last examined, else the first. False when all of them
   * are busy; the next call examines others.
   */
  const makeRoom = (): boolean => {
    let looked = 0
    let idle: number | undefined
    for (const [key, cell] of cells) {
      if (++looked > looksForRoom) break
      const isBusy = cell.isRunning || cell.isDoubtful
      if (!isBusy && !cell.wasAsked) return forget(key)
      if (!isBusy) idle ??= key
      cell.wasAsked = false
      cells.delete(key)
      cells.set(key, cell)
    }
    return idle !== undefined && forget(idle)
  }

  const cellOf = (key: number): Cell | undefined => {
    const found = cells.get(key)
    if (found !== undefined) return found
    if (cells.size >= options.maxResident && !makeRoom()) return undefined
    const cell: Cell = {
      key,
      state: undefined,
      version: 0,
      isDoubtful: false,
      mailbox: [],
      isRunning: false,
      isStale: false,
      wasAsked: true,
      askedAt: monotonic.currentTimeMillisUnsafe(),
      decidedAt: 0
    }
    cells.set(key, cell)
    return cell
  }

  const enqueue = (cell: Cell, task: Task): void => {
    cell.mailbox.push(task)
    cell.wasAsked = true
    waiting++
    if (cell.isRunning) return
    cell.isRunning = true
    running++
    fork(Effect.uninterruptible(drain(cell)))
  }

  const askUnder = <Reply, Error>(
    key: number,
    step: Step<State, Reply, Error, Change, Query, Knowledge>,
    span: Tracer.AnySpan | undefined
  ): Effect.Effect<Reply, Error | EngineFailure> =>
    Effect.suspend(() => {
      if (!placement.isHere(key)) return Effect.fail(new NotHere())
      const cell = isClosed || waiting >= options.maxWaiting ? undefined : cellOf(key)
      if (cell === undefined || cell.mailbox.length >= options.maxMailbox) {
        counts.refused++
        return Effect.fail(new MailboxFull())
      }
      const reply = Deferred.makeUnsafe<Reply, Error | EngineFailure>()
      let outcome: Exit.Exit<Reply, Error> = Exit.die("a command was answered before it was decided")
      enqueue(cell, {
        span,
        decide: (state, circumstances) => {
          try {
            const decision = step(state, circumstances)
            if (decision._tag === "Accept") outcome = Exit.succeed(decision.reply)
            if (decision._tag === "Refuse") outcome = Exit.fail(decision.error)
            return decision
          } catch (defect) {
            // a rule is a plain function: its defect must reach its own caller only
            outcome = Exit.die(defect)
            return { _tag: "Refuse", error: undefined }
          }
        },
        publish: () => Deferred.doneUnsafe(reply, outcome),
        fail: (failure) => Deferred.doneUnsafe(reply, Exit.fail(failure))
      })
      return Effect.uninterruptible(Deferred.await(reply))
    })

  const ask: Actors<State, Change, Query, Knowledge>["ask"] = (key, step) =>
    isTraced ? traceStep(options.keyName, key, (span) => askUnder(key, step, span)) : askUnder(key, step, undefined)

  const read = (key: number): Effect.Effect<State, EngineFailure> =>
    Effect.suspend(() => {
      const cell = cells.get(key)
      if (cell?.state !== undefined && !cell.isStale && placement.isHere(key)) {
        cell.wasAsked = true
        return Effect.succeed(cell.state)
      }
      return ask<State, never>(key, (state) => ({ _tag: "Accept", state, reply: state, change: null, idsUsed: 0 }))
    })

  const renew: Actors<State, Change, Query, Knowledge>["renew"] = (key, isStale) => {
    const cell = cells.get(key)
    if (cell?.state !== undefined && isStale(cell.state)) cell.isStale = true
  }

  /** Passivation, once a minute: compacts idle actors, then removes them. In slices, so that commands are decided in between. */
  const passivate = Effect.gen(function*() {
    const now = monotonic.currentTimeMillisUnsafe()
    let looked = 0
    for (const [key, cell] of cells) {
      if (++looked % passivatedPerSlice === 0) yield* Effect.yieldNow
      if (cell.isRunning || cell.isDoubtful) continue
      if (cell.wasAsked) {
        cell.wasAsked = false
        cell.askedAt = now
      } else if (now - cell.askedAt >= options.idleMinutes * 60_000) {
        forget(key)
      } else if (cell.state !== undefined) {
        cell.state = options.compact(cell.state)
      }
    }
  })

  yield* Effect.forkScoped(Effect.forever(Effect.andThen(Effect.sleep("1 minute"), passivate)))

  yield* Effect.addFinalizer(() =>
    Effect.callback<void>((resume) => {
      isClosed = true
      if (running === 0) resume(Effect.void)
      else whenIdle.push(() => resume(Effect.void))
    }).pipe(Effect.interruptible, Effect.timeoutOption(Journal.drainTime))
  )

  yield* registerActorMetrics({
    resident: () => cells.size,
    waiting: () => waiting,
    longestMailbox,
    counts,
    stalledMs: health.stalledMs
  })

  return { ask, read, renew, resident: () => cells.size, writesStalledMs: health.stalledMs }
})
