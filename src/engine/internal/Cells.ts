/** Actors in memory: lookup, creation, and removal when idle or when room is needed. */
import { Effect } from "effect"
import type { Ids } from "../../platform/Ids.ts"
import type { ActorsOptions } from "../ActorsOptions.ts"
import type { Release } from "../Placement.ts"
import type { Task } from "./Command.ts"

/** An actor in memory. */
export interface Cell<State, Change, Query, Knowledge> {
  readonly key: number
  /** Placement epoch of its state and of the commands in progress. */
  epoch: number
  /** Oldest generation of ids that are above those of its former owner. */
  idsFrom: number
  /** Committed; undefined while it has to be loaded. */
  state: State | undefined
  version: number
  /** True when an earlier commit may still happen: the load must fence it off. */
  isDoubtful: boolean
  /**
   * Undefined when empty, never an empty array: one that an idle actor kept would be in V8's old generation, and would keep the next commands beyond
   * their collection (`docs/decisions/0053-garbage-of-commits.md`).
   */
  mailbox: Array<Task<State, Change, Query, Knowledge>> | undefined
  /** Commands in progress; undefined while idle. */
  run: Run<State, Change, Query, Knowledge> | undefined
  /** The state has to be loaded before the next decision. */
  isStale: boolean
  /** True when used since passivation last examined it. */
  wasUsed: boolean
  /** Last use as seen by passivation, monotonic milliseconds, with a resolution of one minute. */
  usedAt: number
  /** Time of the last decision, here or by the writer of the loaded state; epoch milliseconds. */
  decidedAt: number
}

/** Commands taken from an actor's mailbox. */
export interface Run<State, Change, Query, Knowledge> {
  group: ReadonlyArray<Task<State, Change, Query, Knowledge>>
  /** Index of the first unanswered one. */
  next: number
  /** Commands before this index are decided alone: they need the store, or their unit was rejected. */
  batchFrom: number
  /** For the command at `next`: lookup results, and attempts to commit it. */
  known: Knowledge | undefined
  attempts: number
  clashes: number
  /** Lookup results for the commands of a unit that clashed; valid until the next write. */
  clashed: { readonly commands: ReadonlyArray<number>; readonly known: ReadonlyArray<Knowledge> } | undefined
  /** Number of polls whether the row is free. */
  polls: number
  /** The state was loaded for these commands; false when it was because of another writer's commit: they are decided together again. */
  isLoaded: boolean
  /** An unknown outcome was being resolved. */
  isRecovering: boolean
  /** The state began here: the actor is forgotten when it is idle. */
  isBirth: boolean
}

/** A clock set back by more than this was wrong before, and decisions follow it. */
const maxStepBackMs = 3_600_000

/** Time of a decision: never decreasing per key when the clock is set back a little. */
export const timeFor = (cell: Pick<Cell<never, never, never, never>, "decidedAt">, now: number): number => {
  if (now < cell.decidedAt && cell.decidedAt - now <= maxStepBackMs) return cell.decidedAt
  cell.decidedAt = now
  return now
}

/** Actors per slice of passivation, about a millisecond. */
const passivatedPerSlice = 500

/** Pause between two checks of the actors of keys being handed over. */
const releasePause = "5 millis"

/** Actors examined to make room for one. */
const maxExamined = 64

export interface Cells<State, Change, Query, Knowledge> {
  readonly get: (key: number) => Cell<State, Change, Query, Knowledge> | undefined
  /** The cell of a key, created under an epoch when not in memory; undefined when there is no room. */
  readonly getOrMake: (key: number, epoch: number) => Cell<State, Change, Query, Knowledge> | undefined
  /** Restarts an actor under an epoch: its state is loaded again, behind a fence where keys are shared. */
  readonly begin: (cell: Cell<State, Change, Query, Knowledge>, epoch: number) => void
  readonly remove: (key: number) => boolean
  /** Removes the actors of these keys, each after its accepted commands. */
  readonly release: Release
  readonly size: () => number
  /** Number of commands in the fullest mailbox. */
  readonly longestMailbox: () => number
  /** Passivation: compacts idle actors, then removes them. In slices, so that commands are decided in between. */
  readonly passivate: Effect.Effect<void>
}

/**
 * `ids` are given where other processes may have owned a key: a generation begins before a key is served under a new highest epoch. `now`: monotonic ms.
 * `removed` is called for each actor removed by passivation or for lack of room.
 */
export const makeCells = <State, Change, Query, Knowledge>(
  { compact, idleMinutes, maxResident }: Pick<
    ActorsOptions<State, Change, Query, Knowledge>,
    "compact" | "idleMinutes" | "maxResident"
  >,
  ids: Pick<Ids["Service"], "generation" | "renew"> | undefined,
  now: () => number,
  removed: (key: number) => void
): Cells<State, Change, Query, Knowledge> => {
  // Kept: cells, examined, idle, newestEpoch. Actors: the state of players, what waits for them. Several nodes: each node for the players it owns;
  // another node asks it. An actor of an ended epoch forgets everything.
  const cells = new Map<number, Cell<State, Change, Query, Knowledge>>()
  const isShared = ids !== undefined
  let newestEpoch = 0

  /**
   * Begins an epoch; returns the generation of ids that it needs. Ids of a key must rise: those in memory may be lower than those assigned by the key's
   * former owner. Keys of earlier epochs go on with them.
   */
  const noteEpoch = (epoch: number): number => {
    if (epoch > newestEpoch) {
      newestEpoch = epoch
      ids?.renew()
    }
    return ids?.generation() ?? 0
  }

  const forget = (key: number): boolean => {
    removed(key)
    return cells.delete(key)
  }

  /**
   * Removes an idle actor: of the few oldest, the first not used since its last examination, otherwise the first idle one. False when all of them are
   * busy; the next call examines others.
   */
  const makeRoom = (): boolean => {
    let examined = 0
    let idle: number | undefined
    for (const [key, cell] of cells) {
      if (++examined > maxExamined) break
      const isBusy = cell.run !== undefined || cell.isDoubtful
      if (!isBusy && !cell.wasUsed) return forget(key)
      if (!isBusy) idle ??= key
      cell.wasUsed = false
      cells.delete(key)
      cells.set(key, cell)
    }
    return idle !== undefined && forget(idle)
  }

  /** Returns the keys of busy actors. */
  const removeIdle = (isReleased: (key: number) => boolean): ReadonlyArray<number> => {
    const busy: Array<number> = []
    for (const [key, { run }] of cells) {
      if (!isReleased(key)) continue
      if (run === undefined) forget(key)
      else busy.push(key)
    }
    return busy
  }

  const release: Release = (isReleased, meanwhile = () => Effect.void) =>
    Effect.suspend(() => {
      const busy = removeIdle(isReleased)
      return busy.length === 0 ? Effect.void : meanwhile(busy).pipe(
        Effect.andThen(Effect.sleep(releasePause)),
        Effect.andThen(release(isReleased, meanwhile))
      )
    })

  const begin = (cell: Cell<State, Change, Query, Knowledge>, epoch: number): void => {
    cell.idsFrom = noteEpoch(epoch)
    cell.epoch = epoch
    cell.state = undefined
    if (isShared) cell.isDoubtful = true
  }

  return {
    get: (key) => cells.get(key),
    getOrMake: (key, epoch) => {
      const found = cells.get(key)
      if (found !== undefined) return found
      if (cells.size >= maxResident && !makeRoom()) return undefined
      const idsFrom = noteEpoch(epoch)
      const cell: Cell<State, Change, Query, Knowledge> = {
        key,
        epoch,
        idsFrom,
        state: undefined,
        version: 0,
        isDoubtful: isShared,
        mailbox: undefined,
        run: undefined,
        isStale: false,
        wasUsed: true,
        usedAt: now(),
        decidedAt: 0
      }
      cells.set(key, cell)
      return cell
    },
    begin,
    release,
    remove: (key) => cells.delete(key),
    size: () => cells.size,
    longestMailbox: () => {
      let longest = 0
      for (const { mailbox } of cells.values()) longest = Math.max(longest, mailbox?.length ?? 0)
      return longest
    },
    passivate: Effect.gen(function*() {
      const at = now()
      let examined = 0
      for (const [key, cell] of cells) {
        if (++examined % passivatedPerSlice === 0) yield* Effect.yieldNow
        if (cell.run !== undefined || cell.isDoubtful) continue
        if (cell.wasUsed) {
          cell.wasUsed = false
          cell.usedAt = at
        } else if (at - cell.usedAt >= idleMinutes * 60_000) {
          forget(key)
        } else if (cell.state !== undefined) {
          cell.state = compact(cell.state, at - cell.usedAt)
        }
      }
    })
  }
}
