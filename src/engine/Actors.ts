/**
 * One actor per key, which is a player's id: the single writer of the player's state.
 *
 * A command is a pure step. Commands waiting for the same key are decided in turn against a tentative state, and their changes go to the group commit
 * as one unit. When the unit is durable, the new state becomes the committed one and all callers are answered, refusals included, since a refusal may
 * depend on a step that was not durable yet. Further commands queue meanwhile.
 *
 * An idle actor is a map entry. One with commands decides in a plain loop until it waits for the store: only loads, look-ups and commits use fibers.
 *
 * When a commit fails:
 * - *rejected*: nothing was written. The callers see no failure: when an id turned out to be taken, the commands are decided again one at a time,
 *   with what the store holds under the id; after another writer's commit, on the current state; when another transaction holds a row, the actor
 *   alone waits for it, polling the store with backoff, and refuses after a bound.
 * - *impossible*: the store refuses a unit permanently. That is a defect of the command.
 * - *unavailable*: nothing was written; the callers get a failure that is safe to retry.
 * - *unknown*: the same failure; before the next decision the actor raises its version in the store, so that the commit fails, and reloads its state.
 */
import { Cause, Clock, Effect, Exit, type Scope, type Tracer } from "effect"
import { Ids } from "../platform/Ids.ts"
import { monotonicClock } from "../platform/MonotonicClock.ts"
import { Traced } from "../platform/Tracing.ts"
import { type EngineFailure, MailboxFull, NoSuchActor, NotOwned, StoreUnavailable } from "./Failures.ts"
import * as Cells from "./internal/Cells.ts"
import { Command, type Task } from "./internal/Command.ts"
import { spansOf, traceCommit, traceStep } from "./internal/Traces.ts"
import * as Journal from "./Journal.ts"
import { type CommitOutcome, type Decision, idsPerDecision, type Step, type Store, type Unit } from "./Machine.ts"
import { Placement } from "./Placement.ts"
import type { Actors } from "./ActorCalls.ts"
import type { ActorsOptions } from "./ActorsOptions.ts"
import { registerActorMetrics } from "./internal/ActorMetrics.ts"
import * as WriteHealth from "./WriteHealth.ts"

export * from "./ActorsOptions.ts"

/** Maximum decisions of a command before its caller is asked to retry. */
const maxAttempts = 6

/** Maximum clashes of a command decided with its ids known: the clash is with a row that no query of the rule covers. */
const maxClashes = 2

/** Maximum wait of commands for a row held by another transaction; after that, each is refused as soon as the store confirms it. */
const maxBusyMs = 2000

/** Backoff before an actor polls again whether its row is free. */
const pauseMs = (polls: number): number => polls === 0 ? 0 : Math.min(25 * 2 ** (polls - 1), 400)

/** Makes the actors; closing the scope refuses new commands and waits until accepted ones are answered. */
export const make = Effect.fnUntraced(function*<State, Change, Query, Knowledge>(
  options: ActorsOptions<State, Change, Query, Knowledge>
): Effect.fn.Return<Actors<State, Change, Query, Knowledge>, never, Ids | Placement | Scope.Scope> {
  type Known = Knowledge | undefined
  type AnyDecision = Decision<State, unknown, unknown, Change, Query>
  type AnyTask = Task<State, Change, Query, Knowledge>

  type Cell = Cells.Cell<State, Change, Query, Knowledge>
  type Run = Cells.Run<State, Change, Query, Knowledge>

  const ids = yield* Ids
  const placement = yield* Placement
  const clock = yield* Clock.Clock
  const isTraced = yield* Traced
  const monotonic = monotonicClock(clock)
  const health = WriteHealth.make(monotonic)
  const store: Store<State, Change, Query, Knowledge> = {
    ...options.store,
    commit: (units) =>
      health.commit(isTraced ? traceCommit(units, options.store.commit(units)) : options.store.commit(units)),
    load: (key, fence) => fence ? health.fence(options.store.load(key, fence)) : options.store.load(key, fence)
  }
  const fork = Effect.runForkWith(yield* Effect.context<never>())
  const complete = (task: AnyTask): void => {
    try {
      task.complete()
    } catch (defect) {
      // a defect of a caller's callback must not affect other callers
      fork(Effect.logError("command completion callback threw", Cause.die(defect)))
    }
  }

  const journal = yield* Journal.make<Unit<State, Change>, Knowledge>({
    commit: store.commit,
    examine: store.examine,
    maxWeight: options.maxCommit,
    weigh: options.weigh,
    capacity: options.maxWaiting
  })

  const newRun = (): Run => ({
    group: [],
    next: 0,
    batchFrom: 0,
    known: undefined,
    attempts: 0,
    clashes: 0,
    clashed: undefined,
    polls: 0,
    isLoaded: false,
    isRecovering: false,
    isBirth: false
  })
  // Kept: whenIdle, isClosed, running, waiting, busySince. Commands that wait and run; actors whose row is held, since when (monotonic ms). Several nodes: its own.
  const whenIdle: Array<() => void> = []
  let isClosed = false
  let running = 0
  let waiting = 0
  const busySince = new Map<number, number>()
  const counts = { refused: 0, loads: 0, reloads: 0, passivations: 0 }
  const cells = Cells.makeCells<State, Change, Query, Knowledge>(
    options,
    placement.isShared ? ids : undefined,
    () => monotonic.currentTimeMillisUnsafe(),
    (key) => {
      counts.passivations++
      busySince.delete(key)
    }
  )

  const decide = (cell: Cell, task: AnyTask, state: State, known: Known, firstId: number): AnyDecision => {
    const now = Cells.timeFor(cell, options.timeOf(state, clock.currentTimeMillisUnsafe()))
    const decision = task.decide(state, { now, firstId, known })
    if (decision._tag === "Accept") ids.use(decision.idsUsed)
    return decision
  }

  /** Between commits only: a running commit is fenced by its version. */
  const dropStale = (cell: Cell): void => {
    if (!cell.isStale) return
    cell.isStale = false
    cell.state = undefined
  }

  /** Takes the next commands of one epoch from the mailbox, and begins that epoch; false when the mailbox is empty. */
  const takeGroup = (cell: Cell, run: Run): boolean => {
    const { mailbox } = cell
    if (mailbox === undefined) return false
    const { epoch } = mailbox[0]!
    let length = Math.min(mailbox.length, options.maxGroup)
    // in the order of their epochs
    while (mailbox[length - 1]!.epoch !== epoch) length--
    const group = length === mailbox.length ? mailbox : mailbox.slice(0, length)
    cell.mailbox = group === mailbox ? undefined : mailbox.slice(length)
    if (epoch !== cell.epoch) cells.begin(cell, epoch)
    waiting -= group.length
    run.group = group
    run.next = 0
    run.batchFrom = 0
    run.clashed = undefined
    run.isLoaded = false
    return true
  }

  /** Answers the commands up to `end`, with their decisions or with a failure. */
  const answer = (run: Run, end: number, failure?: Exit.Exit<never, EngineFailure>): void => {
    const { group, next } = run
    run.next = end
    run.known = undefined
    run.attempts = 0
    run.clashes = 0
    for (let index = next; index < end; index++) {
      const task = group[index]!
      if (failure !== undefined) task.end(failure)
      complete(task)
    }
  }

  /** Failure of an actor's request to the store; defects are logged. */
  const failureOf = <A>(cell: Cell, exit: Exit.Failure<A, EngineFailure>): Exit.Exit<never, EngineFailure> => {
    const failure = Exit.findErrorOption(exit)
    if (failure._tag === "Some") return Exit.fail(failure.value)
    fork(Effect.annotateLogs(Effect.logError("actor failed", exit.cause), { [options.keyName]: cell.key }))
    return Exit.fail(new StoreUnavailable({ reason: "the store failed" }))
  }

  /**
   * Starts a request to the store for an actor. True when it completes synchronously, and the caller continues in its loop, since an in-memory store
   * would otherwise grow the stack with every command; otherwise the actor is resumed later.
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
      if (cell.version > 0 || cell.isDoubtful && !placement.isShared) counts.reloads++
      else counts.loads++
      cell.isDoubtful = false
      if (exit.value === undefined) {
        const initial = run.group[run.next]?.initial
        if (initial === undefined) return answer(run, run.group.length, Exit.fail(new NoSuchActor()))
        cell.state = initial
        cell.version = 0
        run.isBirth = true
        return
      }
      cell.state = exit.value.state
      cell.version = exit.value.version
      run.isLoaded = run.attempts === 0
      // written by another process, whose clock may be ahead
      cell.decidedAt = Math.max(cell.decidedAt, options.writtenAt(exit.value.state))
    })

  const moreIds = Effect.mapError(ids.refill, ({ reason }) => new StoreUnavailable({ reason }))

  const awaitIds = (cell: Cell, run: Run): boolean =>
    need(cell, run, moreIds, (exit) => {
      if (Exit.isFailure(exit)) answer(run, run.group.length, failureOf(cell, exit))
    })

  /** Counts an attempt to decide from `next` on; false after too many, and the callers up to `end` get the failure. */
  const mayRetry = (run: Run, end: number): boolean => {
    if (++run.attempts < maxAttempts) return true
    answer(run, end, Exit.fail(new StoreUnavailable({ reason: "another writer committed first at every attempt" })))
    return false
  }

  /** Looks up the ids that the command at `next` needs; it is decided alone from then on. */
  const lookUp = (cell: Cell, run: Run, state: State, query: Query, known: Known): boolean => {
    if (!mayRetry(run, run.next + 1)) return true
    run.batchFrom = Math.max(run.batchFrom, run.next + 1)
    return need(cell, run, Effect.suspend(() => store.lookUp(state, query, known)), (exit) => {
      if (Exit.isFailure(exit)) return answer(run, run.next + 1, failureOf(cell, exit))
      run.known = exit.value
    })
  }

  /** Polls the store for the row held by another transaction; the commands are decided again once it is free. */
  const pollRow = (
    cell: Cell,
    run: Run,
    unit: Unit<State, Change>,
    since: number
  ): boolean => {
    const poll = Effect.suspend(() => store.examine([unit], "busy"))
    const paused = run.polls === 0 ? poll : Effect.andThen(Effect.sleep(pauseMs(run.polls)), poll)
    run.polls++
    return need(cell, run, paused, (exit) => {
      if (Exit.isFailure(exit)) {
        run.polls = 0
        return answer(run, run.group.length, failureOf(cell, exit))
      }
      if (exit.value[0]?._tag !== "Busy") {
        run.polls = 0
        busySince.delete(cell.key)
      } else if (monotonic.currentTimeMillisUnsafe() - since >= maxBusyMs) {
        run.polls = 0
        answer(
          run,
          run.group.length,
          Exit.fail(new StoreUnavailable({ reason: "another transaction holds the row" }))
        )
      }
    })
  }

  /** Handles the end of a commit of the commands from `next` to `end`; `changed` are those with the unit's changes. */
  const committed = (
    cell: Cell,
    run: Run,
    after: State,
    changed: ReadonlyArray<number>,
    end: number,
    outcome: CommitOutcome<Knowledge>
  ): void => {
    const wasSingle = run.next < run.batchFrom
    switch (outcome._tag) {
      case "Committed":
        cell.state = after
        cell.version++
        run.clashed = undefined
        return answer(run, end)
      case "StoreUnavailable":
        return answer(run, end, Exit.fail(outcome))
      case "OutcomeUnknown":
        // only a commit that may still happen needs a fence: two writers that fence each other would never finish
        cell.isDoubtful = true
        cell.state = undefined
        return answer(run, end, Exit.fail(outcome))
      case "Fenced":
        cell.state = undefined
        run.known = undefined
        run.clashed = undefined
        return void mayRetry(run, end)
      case "Busy":
        if (!busySince.has(cell.key)) busySince.set(cell.key, monotonic.currentTimeMillisUnsafe())
        return void mayRetry(run, end)
      case "Clash":
        if (wasSingle && ++run.clashes >= maxClashes) {
          return answer(run, end, Exit.fail(new StoreUnavailable({ reason: "an id is taken" })))
        }
        run.known = undefined
        run.clashed = { commands: changed, known: outcome.known }
        run.batchFrom = Math.max(run.batchFrom, end)
        return
      case "Impossible":
        if (end === run.next + 1) {
          return answer(run, end, Exit.die(new Error(`the store rejected the decision: ${outcome.reason}`)))
        }
        run.batchFrom = Math.max(run.batchFrom, end)
    }
  }

  /**
   * Decides commands from `next` on: a single one if it must be decided alone, otherwise all up to the first that needs the store, which is queried
   * after the commit of those before it. False when the actor has to wait.
   */
  const decideNext = (cell: Cell, run: Run, before: State): boolean => {
    const { group, next } = run
    const isSingle = next < run.batchFrom
    const known = run.known ?? run.clashed?.known[run.clashed.commands.indexOf(next)]
    const changes: Array<Change> = []
    const changed: Array<number> = []
    const last = isSingle ? next + 1 : group.length
    let after = before
    let end = next
    while (end < last) {
      const firstId = ids.peek(idsPerDecision, cell.idsFrom)
      if (firstId === undefined) {
        if (end === next) return awaitIds(cell, run)
        break
      }
      const decision = decide(cell, group[end]!, after, known, firstId)
      if (decision._tag === "Missing") {
        if (end === next) return lookUp(cell, run, before, decision.query, known)
        break
      }
      if (decision._tag === "Accept") {
        const { change } = decision
        // its unit clashed, or is likely to: no assumption about its ids is allowed
        if (change !== null && known === undefined && (isSingle || store.isLikelyTaken(change, run.isLoaded))) {
          if (end === next) return lookUp(cell, run, before, store.claims(before, change), undefined)
          break
        }
        after = decision.state
        if (change !== null) {
          changes.push(change)
          changed.push(end)
        }
      }
      end++
    }
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
    const since = busySince.size === 0 ? undefined : busySince.get(cell.key)
    if (since !== undefined) return pollRow(cell, run, unit, since)
    const isAccepted = journal.append(unit, (outcome) => {
      committed(cell, run, after, changed, end, outcome)
      advance(cell, run)
    })
    if (!isAccepted) answer(run, end, Exit.fail(new MailboxFull()))
    return !isAccepted
  }

  /** Runs an actor until it has to wait or is idle. */
  const advance = (cell: Cell, run: Run): void => {
    for (;;) {
      if (run.next === run.group.length) {
        if (takeGroup(cell, run)) dropStale(cell)
        else if (!cell.isDoubtful || run.isRecovering) return becomeIdle(cell)
        // an unknown outcome is resolved at once, batched with all others of the commit
        else run.isRecovering = true
      }
      // not under a later epoch either: what another node forwarded may have been answered elsewhere in between
      if (!placement.holds(cell.key, cell.epoch)) {
        if (run.next === run.group.length) return becomeIdle(cell)
        answer(run, run.group.length, Exit.fail(new NotOwned()))
        continue
      }
      const canContinue = cell.state === undefined ? load(cell, run) : decideNext(cell, run, cell.state)
      if (!canContinue) return
    }
  }

  const becomeIdle = (cell: Cell): void => {
    const isBirth = cell.run?.isBirth === true
    cell.run = undefined
    // where keys move between processes, the first load is fenced anyway
    if (isBirth || cell.state === undefined && (!cell.isDoubtful || placement.isShared)) cells.remove(cell.key)
    running--
    if (running === 0) { for (const resume of whenIdle.splice(0)) resume() }
  }

  const accept = <Reply, Error>(
    key: number,
    step: Step<State, Reply, Error, Change, Query, Knowledge>,
    done: (exit: Exit.Exit<Reply, Error | EngineFailure>) => void,
    span: Tracer.AnySpan | undefined,
    initial: State | undefined
  ): void => {
    const epoch = placement.epochOf(key)
    if (epoch === 0) return done(Exit.fail(new NotOwned()))
    const cell = isClosed || waiting >= options.maxWaiting ? undefined : cells.getOrMake(key, epoch)
    if (cell === undefined || cell.mailbox !== undefined && cell.mailbox.length >= options.maxMailbox) {
      counts.refused++
      return done(Exit.fail(new MailboxFull()))
    }
    const command = new Command(epoch, step, done, span, initial)
    if (cell.mailbox === undefined) cell.mailbox = [command]
    else cell.mailbox.push(command)
    cell.wasUsed = true
    waiting++
    if (cell.run !== undefined) return
    cell.run = newRun()
    running++
    advance(cell, cell.run)
  }

  const post: Actors<State, Change, Query, Knowledge>["post"] = (key, step, done, span) =>
    accept(key, step, done, span, undefined)

  const askWithSpan = <Reply, Error>(
    key: number,
    step: Step<State, Reply, Error, Change, Query, Knowledge>,
    span: Tracer.AnySpan | undefined,
    initial?: State
  ): Effect.Effect<Reply, Error | EngineFailure> =>
    Effect.uninterruptible(
      Effect.callback<Reply, Error | EngineFailure>((resume) => accept(key, step, resume, span, initial))
    )

  const ask: Actors<State, Change, Query, Knowledge>["ask"] = (key, step) =>
    isTraced
      ? traceStep(options.keyName, key, (span) => askWithSpan(key, step, span))
      : askWithSpan(key, step, undefined)

  const create: Actors<State, Change, Query, Knowledge>["create"] = (key, initial, step) =>
    isTraced
      ? traceStep(options.keyName, key, (span) => askWithSpan(key, step, span, initial))
      : askWithSpan(key, step, undefined, initial)

  const peek = (key: number): State | undefined => {
    const cell = cells.get(key)
    if (cell?.state === undefined || cell.isStale || placement.epochOf(key) !== cell.epoch) return undefined
    cell.wasUsed = true
    return cell.state
  }

  const read = (key: number): Effect.Effect<State, EngineFailure> =>
    Effect.suspend(() => {
      const state = peek(key)
      return state === undefined
        ? ask<State, never>(key, (state) => ({ _tag: "Accept", state, reply: state, change: null, idsUsed: 0 }))
        : Effect.succeed(state)
    })

  const renew: Actors<State, Change, Query, Knowledge>["renew"] = (key, isStale) => {
    const cell = cells.get(key)
    if (cell?.state !== undefined && isStale(cell.state)) cell.isStale = true
  }

  placement.onRelease(cells.release)

  yield* Effect.forkScoped(Effect.forever(Effect.andThen(Effect.sleep("1 minute"), cells.passivate)))

  yield* Effect.addFinalizer(() =>
    Effect.callback<void>((resume) => {
      isClosed = true
      if (running === 0) resume(Effect.void)
      else whenIdle.push(() => resume(Effect.void))
    }).pipe(Effect.interruptible, Effect.timeoutOption(Journal.drainTime))
  )

  yield* registerActorMetrics({
    resident: cells.size,
    waiting: () => waiting,
    longestMailbox: cells.longestMailbox,
    counts,
    stalledMs: health.stalledMs
  })

  return { ask, create, post, peek, read, renew, resident: cells.size, writesStalledMs: health.stalledMs }
})
