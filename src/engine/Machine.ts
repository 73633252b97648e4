/**
 * Interface of the engine, which runs single-writer actors: a state per key, pure steps from one state to the next, and a store. The types are
 * structural, so that rules do not import the engine.
 */
import type { Effect, Tracer } from "effect"
import type { CommitFailure, OutcomeUnknown, Rejected, StoreUnavailable } from "./Failures.ts"

/** Inputs of a decision. */
export interface DecisionInputs<out Knowledge> {
  /** Epoch milliseconds. */
  readonly now: number
  /** First of at least `idsPerDecision` unused ids. */
  readonly firstId: number
  /** Results of earlier queries of this decision; absent at first. */
  readonly known: Knowledge | undefined
}

/** Maximum ids per decision. */
export const idsPerDecision = 1024

export type Decision<State, Reply, Error, Change, Query> =
  | {
    readonly _tag: "Accept"
    readonly state: State
    readonly reply: Reply
    /** Null when there is nothing to write; the state then differs at most in cached data. */
    readonly change: Change | null
    readonly idsUsed: number
  }
  | { readonly _tag: "Refuse"; readonly error: Error }
  | { readonly _tag: "Missing"; readonly query: Query }

/** A command as a pure function. It may run several times; the last result counts. */
export type Step<State, Reply, Error, Change, Query, Knowledge> = (
  state: State,
  inputs: DecisionInputs<Knowledge>
) => Decision<State, Reply, Error, Change, Query>

/** Changes of one actor committed together. */
export interface Unit<out State, out Change> {
  readonly key: number
  /** Version the unit was decided on; its commit increments it, or fails. */
  readonly version: number
  /** State before and after all changes. */
  readonly before: State
  readonly after: State
  /** In the order of their decisions. */
  readonly changes: ReadonlyArray<Change>
  /** Spans of its traced commands. */
  readonly spans?: ReadonlyArray<Tracer.AnySpan>
}

export interface Loaded<out State> {
  readonly state: State
  readonly version: number
}

/** Verdict on one unit of a rejected commit. */
export type Verdict<Knowledge> =
  /** No objection: it may be committed again. */
  | { readonly _tag: "Valid" }
  /** It claims the same as an earlier unit of the batch: it may be committed after that one. */
  | { readonly _tag: "Later" }
  | RejectionReason<Knowledge>

/** Reason for the rejection of a unit. */
type RejectionReason<Knowledge> =
  /** Another writer committed first. */
  | { readonly _tag: "Fenced" }
  /** Another transaction holds one of its rows. */
  | { readonly _tag: "Busy" }
  /** A claim of it already exists: the lookup of the claims of each of its changes. */
  | { readonly _tag: "Clash"; readonly known: ReadonlyArray<Knowledge> }

/** Outcome of the commit of a unit. */
export type CommitOutcome<Knowledge> =
  | { readonly _tag: "Committed" }
  | RejectionReason<Knowledge>
  /** Permanently refused by the store for no known reason: a defect of the decision. */
  | { readonly _tag: "Impossible"; readonly reason: string }
  | StoreUnavailable
  | OutcomeUnknown

/** Storage of states. */
export interface Store<State, Change, Query, Knowledge> {
  /**
   * Committed state of a key; undefined when there is none. With `fence` the version is raised first: an earlier commit of unknown outcome has then
   * either happened or can no longer happen.
   */
  readonly load: (key: number, fence: boolean) => Effect.Effect<Loaded<State> | undefined, StoreUnavailable>
  /** Answers a query, extending the knowledge. */
  readonly lookUp: (
    state: State,
    query: Query,
    known: Knowledge | undefined
  ) => Effect.Effect<Knowledge, StoreUnavailable>
  /** Commits all units in one transaction, or none. `Rejected` does not name the unit: `examine` does. */
  readonly commit: (units: ReadonlyArray<Unit<State, Change>>) => Effect.Effect<void, CommitFailure>
  /** One verdict for each unit of a rejected commit, in their order, in one round trip. */
  readonly examine: (
    units: ReadonlyArray<Unit<State, Change>>,
    because: Rejected["because"]
  ) => Effect.Effect<ReadonlyArray<Verdict<Knowledge>>, StoreUnavailable>
  /** Query for the ids that a change claims to be new. */
  readonly claims: (state: State, change: Change) => Query
  /**
   * Whether a claim of a change may well exist already: it is looked up first, since a clash rejects the commit of all units around it. `isLoaded`: the
   * state was loaded for this command, so that this process may not remember what was committed before.
   */
  readonly isLikelyTaken: (change: Change, isLoaded: boolean) => boolean
}
