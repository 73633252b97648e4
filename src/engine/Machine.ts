/**
 * What the engine asks of the business it runs: a state per key, pure steps that turn one state into the next, and a store.
 *
 * Nothing here knows what a state means. The types are structural, so that rules can be written without importing the engine.
 */
import type { Effect, Tracer } from "effect"
import type { CommitFailure, StoreUnavailable } from "./Failures.ts"

/** The circumstances of one decision. */
export interface Circumstances<out Knowledge> {
  /** Epoch milliseconds. */
  readonly now: number
  /** First of at least `idsPerDecision` ids that are free to use. */
  readonly firstId: number
  /** What the store said when this decision was asked before; absent on the first ask. */
  readonly known: Knowledge | undefined
}

/** The most ids one decision may use. */
export const idsPerDecision = 1024

export type Decision<State, Reply, Error, Change, Query> =
  | {
    readonly _tag: "Accept"
    readonly state: State
    readonly reply: Reply
    /** Null when there is nothing to write; the state may then carry more of what is stored, and differs in nothing else. */
    readonly change: Change | null
    readonly idsUsed: number
  }
  | { readonly _tag: "Refuse"; readonly error: Error }
  | { readonly _tag: "Missing"; readonly query: Query }

/** A command as a pure function. It may run more than once, and only its last answer counts. */
export type Step<State, Reply, Error, Change, Query, Knowledge> = (
  state: State,
  circumstances: Circumstances<Knowledge>
) => Decision<State, Reply, Error, Change, Query>

/** What one actor wants committed in one go. */
export interface Unit<out State, out Change> {
  readonly key: number
  /** The version the unit was decided on; its commit makes it the next one, or fails. */
  readonly version: number
  /** The state before and after all changes. */
  readonly before: State
  readonly after: State
  /** In the order they were decided. */
  readonly changes: ReadonlyArray<Change>
  /** Of the commands that led to it, as far as they are traced. */
  readonly spans?: ReadonlyArray<Tracer.AnySpan>
}

export interface Loaded<out State> {
  readonly state: State
  readonly version: number
}

/** Where states are kept. */
export interface Store<State, Change, Query, Knowledge> {
  /**
   * The committed state of a key, or undefined where there is none. With `fence`, the version is raised first, so that a
   * commit of an earlier writer whose outcome is not known has either happened before or can no longer happen.
   */
  readonly load: (key: number, fence: boolean) => Effect.Effect<Loaded<State> | undefined, StoreUnavailable>
  /** Answers a query and adds to what was known. */
  readonly look: (
    state: State,
    query: Query,
    known: Knowledge | undefined
  ) => Effect.Effect<Knowledge, StoreUnavailable>
  /** Commits all units in one transaction, or none. `Rejected` with more than one unit does not say which is to blame. */
  readonly commit: (units: ReadonlyArray<Unit<State, Change>>) => Effect.Effect<void, CommitFailure>
  /** What a change claimed to be new: the query to ask when its commit was rejected. */
  readonly claims: (state: State, change: Change) => Query
}
