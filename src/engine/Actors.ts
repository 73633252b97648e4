/**
 * One actor per key: the only writer of its state.
 *
 * A command is a pure step. Steps that wait for the same key are decided in turn against a tentative state, and their changes go to the
 * journal as one unit. When the unit is durable, the new state becomes the committed one and all callers are answered, refusals included,
 * since a refusal may depend on a step that was not durable yet. Meanwhile the next commands gather.
 *
 * An idle actor is a cell in a map. One with commands decides in a plain loop until it has to wait for the store, and goes on in the
 * callback of what it waits for: there are no fibers but those of loads, look-ups and commits. Other actors are loaded on first use.
 *
 * When a commit fails:
 * - *rejected*: nothing was written. The commands are decided again, one at a time: with the store's knowledge when an id that was claimed
 *   to be new exists, on the current state when another writer was faster. The callers notice nothing.
 * - *unavailable*: nothing was written; the callers get a failure that is safe to retry.
 * - *unknown*: the callers get a failure that is safe to retry, and the actor loads its state again behind a fence before it serves.
 */
import { Cause, Clock, Effect, Exit, type Scope, type Tracer } from "effect"
import { Ids } from "../platform/Ids.ts"
import { monotonicClock } from "../platform/MonotonicClock.ts"
import { Traced } from "../platform/Tracing.ts"
import {
  type CommitFailure,
  type EngineFailure,
  MailboxFull,
  NoSuchActor,
  NotHere,
  OutcomeUnknown,
  StoreUnavailable
} from "./Failures.ts"
import { Command, type Task } from "./internal/Command.ts"
import { makeIdBlocks } from "./internal/IdBlocks.ts"
import { spansOf, traceCommit, traceStep } from "./internal/Traces.ts"
import * as Journal from "./Journal.ts"
import { type Decision, type Step, type Store, type Unit } from "./Machine.ts"
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
  /**
   * As `ask`, without a fiber: `done` is called once, at the latest after the commit, perhaps before `post` returns. `span` is the command's
   * own, where commands are traced.
   */
  readonly post: <Reply, Error>(
    key: number,
    step: Step<State, Reply, Error, Change, Query, Knowledge>,
    done: (exit: Exit.Exit<Reply, Error | EngineFailure>) => void,
    span?: Tracer.AnySpan
  ) => void
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

  type AnyTask = Task<State, Change, Query, Knowledge>

  interface Cell {
    readonly key: number
    /** Committed; undefined while it has to be loaded. */
    state: State | undefined
    version: number
    /** True when an earlier commit may still happen: loading must fence it off. */
    isDoubtful: boolean
    mailbox: Array<AnyTask>
    /** What it is at; undefined while it is idle. */
    run: Run | undefined
    /** The state has to be loaded before the next decision. */
    isStale: boolean
    /** Since passivation examined it. */
    wasAsked: boolean
    /** Monotonic milliseconds: when it was last seen to be asked for, to the minute. */
    askedAt: number
    /** The instant of the last decision, epoch milliseconds. */
    decidedAt: number
  }

  /** The commands that an actor took from its mailbox. */
  interface Run {
    group: ReadonlyArray<AnyTask>
    /** The first that is not answered. */
    next: number
    /** Commands before this place are decided alone: they need the store, or their unit was rejected. */
    aloneUntil: number
    /** Of the one at `next` while it is decided alone. */
    known: Known
    attempts: number
    timesBusy: number
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
  const noTasks: ReadonlyArray<AnyTask> = []
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

  const decide = (cell: Cell, task: AnyTask, state: State, known: Known): AnyDecision => {
    const decision = task.decide(state, { now: timeFor(cell), firstId: blocks.nextId(), known })
    if (decision._tag === "Accept") blocks.use(decision.idsUsed)
    return decision
  }

  /** Between commits only: a running one is fenced by its version. */
  const dropStale = (cell: Cell): void => {
    if (!cell.isStale) return
    cell.isStale = false
    cell.state = undefined
  }

  /** Takes the next commands from the mailbox; false when there are none. */
  const takeGroup = (cell: Cell, run: Run): boolean => {
    if (cell.mailbox.length === 0) return false
    const group = cell.mailbox.length <= options.maxGroup ? cell.mailbox : cell.mailbox.slice(0, options.maxGroup)
    cell.mailbox = group === cell.mailbox ? [] : cell.mailbox.slice(options.maxGroup)
    waiting -= group.length
    run.group = group
    run.next = 0
    run.aloneUntil = 0
    return true
  }

  /** Goes on to the command at `end`. */
  const moveTo = (run: Run, end: number): void => {
    run.next = end
    run.known = undefined
    run.attempts = 0
    run.timesBusy = 0
  }

  /** Answers the commands up to `end`: with what was decided, or with a failure. */
  const answer = (run: Run, end: number, failure?: EngineFailure): void => {
    const { group, next } = run
    moveTo(run, end)
    for (let index = next; index < end; index++) {
      try {
        if (failure === undefined) group[index]!.publish()
        else group[index]!.fail(failure)
      } catch (defect) {
        // a caller's callback: nobody else is to miss an answer for it
        fork(Effect.logError("answer failed", Cause.die(defect)))
      }
    }
  }

  /** The failure of what an actor needed from the store; a defect is told in the log. */
  const failureOf = <A>(cell: Cell, exit: Exit.Failure<A, EngineFailure>): EngineFailure => {
    const failure = Exit.findErrorOption(exit)
    if (failure._tag === "Some") return failure.value
    fork(Effect.annotateLogs(Effect.logError("actor failed", exit.cause), { [options.keyName]: cell.key }))
    return new StoreUnavailable({ reason: "the store failed" })
  }

  /**
   * Gets something from the store for an actor. When it is there at once, the caller goes on in its loop, or a store in memory would let
   * the stack grow with every command; otherwise the actor goes on later. True when it is there.
   */
  const need = <A>(
    cell: Cell,
    run: Run,
    effect: Effect.Effect<A, EngineFailure>,
    use: (exit: Exit.Exit<A, EngineFailure>) => void
  ): boolean => {
    const fiber = fork(effect, { uninterruptible: true })
    const exit = fiber.pollUnsafe()
    if (exit !== undefined) {
      use(exit)
      return true
    }
    fiber.addObserver((later) => {
      use(later)
      advance(cell, run)
    })
    return false
  }

  const load = (cell: Cell, run: Run): boolean =>
    need(cell, run, Effect.suspend(() => store.load(cell.key, cell.isDoubtful)), (exit) => {
      if (Exit.isFailure(exit)) return answer(run, run.group.length, failureOf(cell, exit))
      if (cell.isDoubtful || cell.version > 0) counts.reloads++
      else counts.loads++
      if (exit.value === undefined) return answer(run, run.group.length, new NoSuchActor())
      cell.state = exit.value.state
      cell.version = exit.value.version
      cell.isDoubtful = false
    })

  const reserveIds = (cell: Cell, run: Run): boolean =>
    need(cell, run, blocks.reserved, (exit) => {
      if (Exit.isFailure(exit)) answer(run, run.group.length, failureOf(cell, exit))
    })

  /** Looks up what the command at `next` has to know; from then on it is decided alone. */
  const look = (cell: Cell, run: Run, state: State, query: Query): boolean => {
    run.aloneUntil = Math.max(run.aloneUntil, run.next + 1)
    return need(cell, run, Effect.suspend(() => store.look(state, query, run.known)), (exit) => {
      if (Exit.isFailure(exit)) return answer(run, run.next + 1, failureOf(cell, exit))
      run.known = exit.value
    })
  }

  /** Takes in the end of a commit; false when the actor has to wait again. */
  const committed = (
    cell: Cell,
    run: Run,
    unit: Unit<State, Change>,
    end: number,
    exit: Exit.Exit<void, CommitFailure>
  ): boolean => {
    if (Exit.isSuccess(exit)) {
      cell.state = unit.after
      cell.version++
      answer(run, end)
      return true
    }
    const failure = Exit.findErrorOption(exit)
    const reason = failure._tag === "Some" ? failure.value : new OutcomeUnknown({ reason: "the commit failed" })
    if (reason._tag !== "Rejected") {
      // only a commit that may still happen has to be fenced off: two writers who fenced each other off would never end
      if (reason._tag === "OutcomeUnknown") {
        cell.isDoubtful = true
        cell.state = undefined
      }
      answer(run, end, reason)
      return true
    }
    if (reason.because === "fenced") cell.state = undefined
    if (run.next >= run.aloneUntil) {
      run.aloneUntil = end
      return true
    }
    const [change] = unit.changes
    if (reason.because === "clash" && change !== undefined) {
      return look(cell, run, unit.before, store.claims(unit.before, change))
    }
    run.known = undefined
    if (reason.because === "busy" && ++run.timesBusy > maxTimesBusy) {
      answer(run, end, new StoreUnavailable({ reason: "another transaction holds the row" }))
    }
    return true
  }

  /**
   * Decides commands from `next` on: one that is decided alone, else all up to the one that needs the store, which is asked when it holds
   * what was decided before. False when the actor has to wait.
   */
  const decideNext = (cell: Cell, run: Run, before: State): boolean => {
    const { group, next } = run
    const isAlone = next < run.aloneUntil
    if (isAlone && ++run.attempts > maxAttempts) {
      answer(run, next + 1, new StoreUnavailable({ reason: "other writers were faster every time" }))
      return true
    }
    let after = before
    const changes: Array<Change> = []
    const last = isAlone ? next + 1 : group.length
    let end = next
    do {
      const decision = decide(cell, group[end]!, after, run.known)
      if (decision._tag === "Missing") {
        if (end === next) return look(cell, run, before, decision.query)
        break
      }
      if (decision._tag === "Accept") {
        after = decision.state
        if (decision.change !== null) changes.push(decision.change)
      }
      end++
    } while (end < last && !blocks.lacksIds())
    if (changes.length === 0) {
      cell.state = after
      answer(run, end)
      return true
    }
    const unit = {
      key: cell.key,
      version: cell.version,
      before,
      after,
      changes,
      ...(isTraced ? { spans: spansOf(group.slice(next, end)) } : undefined)
    }
    const isAccepted = journal.append(unit, (exit) => {
      if (committed(cell, run, unit, end, exit)) advance(cell, run)
    })
    if (!isAccepted) answer(run, end, new MailboxFull())
    return !isAccepted
  }

  /** Runs an actor until it has to wait or has nothing to do. */
  const advance = (cell: Cell, run: Run): void => {
    for (;;) {
      if (run.next === run.group.length) {
        if (!takeGroup(cell, run)) return rest(cell)
        dropStale(cell)
      }
      const mayGoOn = cell.state === undefined
        ? load(cell, run)
        : blocks.lacksIds()
        ? reserveIds(cell, run)
        : decideNext(cell, run, cell.state)
      if (!mayGoOn) return
    }
  }

  const rest = (cell: Cell): void => {
    cell.run = undefined
    if (cell.state === undefined && !cell.isDoubtful) cells.delete(cell.key)
    running--
    if (running === 0) { for (const resume of whenIdle.splice(0)) resume() }
  }

  /**
   * Drops an idle actor: of the few oldest, the first without a command since it was last examined, else the first. False when all of them
   * are busy; the next call examines others.
   */
  const makeRoom = (): boolean => {
    let looked = 0
    let idle: number | undefined
    for (const [key, cell] of cells) {
      if (++looked > looksForRoom) break
      const isBusy = cell.run !== undefined || cell.isDoubtful
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
      run: undefined,
      isStale: false,
      wasAsked: true,
      askedAt: monotonic.currentTimeMillisUnsafe(),
      decidedAt: 0
    }
    cells.set(key, cell)
    return cell
  }

  const post: Actors<State, Change, Query, Knowledge>["post"] = (key, step, done, span) => {
    if (!placement.isHere(key)) return done(Exit.fail(new NotHere()))
    const cell = isClosed || waiting >= options.maxWaiting ? undefined : cellOf(key)
    if (cell === undefined || cell.mailbox.length >= options.maxMailbox) {
      counts.refused++
      return done(Exit.fail(new MailboxFull()))
    }
    cell.mailbox.push(new Command(step, done, span))
    cell.wasAsked = true
    waiting++
    if (cell.run !== undefined) return
    cell.run = { group: noTasks, next: 0, aloneUntil: 0, known: undefined, attempts: 0, timesBusy: 0 }
    running++
    advance(cell, cell.run)
  }

  const askUnder = <Reply, Error>(
    key: number,
    step: Step<State, Reply, Error, Change, Query, Knowledge>,
    span: Tracer.AnySpan | undefined
  ): Effect.Effect<Reply, Error | EngineFailure> =>
    Effect.uninterruptible(Effect.callback<Reply, Error | EngineFailure>((resume) => post(key, step, resume, span)))

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
      if (cell.run !== undefined || cell.isDoubtful) continue
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

  return { ask, post, read, renew, resident: () => cells.size, writesStalledMs: health.stalledMs }
})
