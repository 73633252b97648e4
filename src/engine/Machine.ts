/**
 * Interface of the engine: a state per key, pure steps from one state to the next, and a store. The types are structural, so that rules do
 * not import the engine.
 */
import type { Effect, Tracer } from "effect"
import type { CommitFailure, OutcomeUnknown, Rejected, StoreUnavailable } from "./Failures.ts"

/** The circumstances of one decision. */
export interface Circumstances<out Knowledge> {
  /** Epoch milliseconds. */
  readonly now: number
  /** First of at least `idsPerDecision` ids that are free to use. */
  readonly firstId: number
  /** The store's answers to earlier queries of this decision; absent at first. */
  readonly known: Knowledge | undefined
}

/** Maximum of ids per decision. */
export const idsPerDecision = 1024

export type Decision<State, Reply, Error, Change, Query> =
  | {
    readonly _tag: "Accept"
    readonly state: State
    readonly reply: Reply
    /** Null when nothing is to be written; the state then differs at most in cached data. */
    readonly change: Change | null
    readonly idsUsed: number
  }
  | { readonly _tag: "Refuse"; readonly error: Error }
  | { readonly _tag: "Missing"; readonly query: Query }

/** A command as a pure function. It may run more than once; its last result counts. */
export type Step<State, Reply, Error, Change, Query, Knowledge> = (
  state: State,
  circumstances: Circumstances<Knowledge>
) => Decision<State, Reply, Error, Change, Query>

/** The changes of one actor that are committed together. */
export interface Unit<out State, out Change> {
  readonly key: number
  /** The version the unit was decided on; its commit makes it the next one, or fails. */
  readonly version: number
  /** The state before and after all changes. */
  readonly before: State
  readonly after: State
  /** In the order they were decided. */
  readonly changes: ReadonlyArray<Change>
  /** Spans of its traced commands. */
  readonly spans?: ReadonlyArray<Tracer.AnySpan>
}

export interface Loaded<out State> {
  readonly state: State
  readonly version: number
}

/** What the store says of one unit of a rejected commit. */
export type Verdict<Knowledge> =
  /** Nothing speaks against it: it may be committed again. */
  | { readonly _tag: "Sound" }
  /** It claims what another unit of the batch claims: it may be committed after that one. */
  | { readonly _tag: "Later" }
  | Guilt<Knowledge>

/** Why a unit was rejected. */
type Guilt<Knowledge> =
  /** Another writer was faster. */
  | { readonly _tag: "Fenced" }
  /** Another transaction holds a row of it. */
  | { readonly _tag: "Busy" }
  /** Something it claims to be new exists: for each of its changes what the store says about its claims. */
  | { readonly _tag: "Clash"; readonly known: ReadonlyArray<Knowledge> }

/** How the commit of a unit ended. */
export type CommitEnd<Knowledge> =
  | { readonly _tag: "Committed" }
  | Guilt<Knowledge>
  /** The store refuses it for good, and says nothing of why: a defect of what was decided. */
  | { readonly _tag: "Impossible"; readonly reason: string }
  | StoreUnavailable
  | OutcomeUnknown

/** Storage of states. */
export interface Store<State, Change, Query, Knowledge> {
  /**
   * The committed state of a key; undefined when there is none. With `fence` the version is raised first: an earlier commit of unknown
   * outcome has then happened or can no longer happen.
   */
  readonly load: (key: number, fence: boolean) => Effect.Effect<Loaded<State> | undefined, StoreUnavailable>
  /** Answers a query and adds to the knowledge. */
  readonly look: (
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
  /** The query about what a change claims to be new. */
  readonly claims: (state: State, change: Change) => Query
}
