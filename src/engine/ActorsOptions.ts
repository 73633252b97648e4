/**
 * Options of the actors: their store, bounds on memory, queues and commits, and the functions that the engine applies to states and their changes.
 */
import type { Store, Unit } from "./Machine.ts"

export interface ActorsOptions<State, Change, Query, Knowledge> {
  readonly store: Store<State, Change, Query, Knowledge>
  /** Maximum resident actors. Above it an idle one is removed; when none is idle, new ones are refused. */
  readonly maxResident: number
  /** Maximum waiting commands of one actor, and of all; further ones are refused with `MailboxFull`. */
  readonly maxMailbox: number
  readonly maxWaiting: number
  /** Maximum commands of one actor in one unit. */
  readonly maxGroup: number
  /** Maximum weight of one commit. */
  readonly maxCommit: number
  /** Weight of a unit in a commit, at least 1. */
  readonly weigh: (unit: Pick<Unit<State, Change>, "changes">) => number
  /** Idle time before passivation, with a resolution of one minute. */
  readonly idleMinutes: number
  /** Name of the key in logs and traces. */
  readonly keyName: string
  /** The state without cached data, for an actor idle for a minute; `idleMs` says for how long, in milliseconds. */
  readonly compact: (state: State, idleMs: number) => State
  /** Time that counts for a state at a real time; epoch milliseconds. */
  readonly timeOf: (state: State, now: number) => number
  /** Time of the last write recorded in a state; epoch milliseconds. Later decisions never use an earlier instant. */
  readonly writtenAt: (state: State) => number
}

export const defaults = {
  maxResident: 250_000,
  maxMailbox: 2048,
  maxWaiting: 50_000,
  maxGroup: 256,
  maxCommit: 1024,
  idleMinutes: 30,
  keyName: "key",
  weigh: ({ changes }: { readonly changes: ReadonlyArray<unknown> }): number => changes.length,
  compact: <State>(state: State): State => state,
  timeOf: <State>(_state: State, now: number): number => now,
  writtenAt: (): number => 0
}
