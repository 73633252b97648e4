/** Options of actors. */
import type { Store } from "./Machine.ts"

export interface ActorsOptions<State, Change, Query, Knowledge> {
  readonly store: Store<State, Change, Query, Knowledge>
  /** Maximum of resident actors. Beyond it an idle one is removed; when none is idle, new ones are refused. */
  readonly maxResident: number
  /** Maximum of waiting commands of one actor, and of all; one more is refused with `MailboxFull`. */
  readonly maxMailbox: number
  readonly maxWaiting: number
  /** Maximum of commands of one actor in one unit. */
  readonly maxGroup: number
  /** Maximum of changes in one commit. */
  readonly maxCommit: number
  /** Idle time before an actor is removed, to the minute. */
  readonly idleMinutes: number
  /** Name of the key in logs and traces. */
  readonly keyName: string
  /** The state without cached data, for an actor that was not asked for a minute. */
  readonly compact: (state: State) => State
  /** When a state was written, as far as it says; epoch milliseconds. No decision after it is of an earlier instant. */
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
  compact: <State>(state: State): State => state,
  writtenAt: (): number => 0
}
