/** Options of actors. */
import type { Store } from "./Machine.ts"

export interface ActorsOptions<State, Change, Query, Knowledge> {
  readonly store: Store<State, Change, Query, Knowledge>
  /** The most actors in memory. Beyond it the longest idle one leaves; when none is idle, new ones are refused. */
  readonly maxResident: number
  /** The most commands that may wait for one actor, and for all of them; one more is refused with `MailboxFull`. */
  readonly maxMailbox: number
  readonly maxWaiting: number
  /** The most commands of one actor in one unit. */
  readonly maxGroup: number
  /** The most changes in one commit. */
  readonly maxCommit: number
  /** An actor that was not asked for this long, to the minute, leaves memory. */
  readonly idleMinutes: number
  /** What a key is called in logs and traces. */
  readonly keyName: string
  /** The state without cached data, for an actor that was not asked for a minute. */
  readonly compact: (state: State) => State
}

export const defaults = {
  maxResident: 250_000,
  maxMailbox: 2048,
  maxWaiting: 50_000,
  maxGroup: 256,
  maxCommit: 1024,
  idleMinutes: 30,
  keyName: "key",
  compact: <State>(state: State): State => state
}
