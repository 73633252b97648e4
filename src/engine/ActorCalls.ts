/** Interface through which callers send commands to actors and read their states. */
import type { Effect, Exit, Tracer } from "effect"
import type { EngineFailure } from "./Failures.ts"
import type { Step } from "./Machine.ts"

export interface Actors<State, Change, Query, Knowledge> {
  /** Runs a step as the single writer of `key`; answers once its changes are durable. Not interruptible once accepted. */
  readonly ask: <Reply, Error>(
    key: number,
    step: Step<State, Reply, Error, Change, Query, Knowledge>
  ) => Effect.Effect<Reply, Error | EngineFailure>
  /**
   * Like `ask`, without a fiber: `done` is called once, at the latest after the commit, possibly before `post` returns. `span` is the command's own,
   * when traced.
   */
  readonly post: <Reply, Error>(
    key: number,
    step: Step<State, Reply, Error, Change, Query, Knowledge>,
    done: (exit: Exit.Exit<Reply, Error | EngineFailure>) => void,
    span?: Tracer.AnySpan
  ) => void
  /**
   * Like `ask`, of a key that may have no state yet: the step then begins with `initial`, and its change has to create the key. The actor is forgotten
   * afterwards, since many are created that nobody asks for soon.
   */
  readonly create: <Reply, Error>(
    key: number,
    initial: State,
    step: Step<State, Reply, Error, Change, Query, Knowledge>
  ) => Effect.Effect<Reply, Error | EngineFailure>
  /** Committed state of `key` if in memory and owned by this process; undefined: use `read`. */
  readonly peek: (key: number) => State | undefined
  /** Committed state of `key`. */
  readonly read: (key: number) => Effect.Effect<State, EngineFailure>
  /** Reloads the state of a resident actor before its next decision, when the state is stale. */
  readonly renew: (key: number, isStale: (state: State) => boolean) => void
  /** Number of actors in memory. */
  readonly resident: () => number
  /** Milliseconds without a successful write; 0 when the last one succeeded. */
  readonly writesStalledMs: () => number
}
