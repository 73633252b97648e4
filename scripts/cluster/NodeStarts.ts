/** Starts of the supervisor's nodes: waits until they take requests, says what it waits for, and starts one again that ended before. */
import { Effect } from "effect"
import type { RunningNode } from "./Nodes.ts"

/** Starts of a node before it counts as failed, and the pause before the next one. A node itself waits up to a minute for the database. */
const startAttempts = 3
const startPause = "2 seconds"

/** Time after which the supervisor goes on without a node that runs and is not ready, such as one whose clock is wrong. */
const readyWithin = "1 minute"

type Say = (line: string) => Effect.Effect<void>

/** A node under the supervisor. */
export interface StartedNode {
  readonly number: number
  readonly start: Effect.Effect<RunningNode>
  /** Completes when it takes requests; `tell` gets the reason of a long wait now and then. */
  readonly untilReady: (tell: Say) => Effect.Effect<void>
  running: RunningNode
}

/** Completes with undefined when the node takes requests, or takes long, and with how it ended when it ends before. */
export const startOf = ({ number, running, untilReady }: StartedNode, say: Say): Effect.Effect<string | undefined> =>
  Effect.raceFirst(
    untilReady((reason) => say(`waiting for node ${number}: ${reason}`)).pipe(
      Effect.timeoutOption(readyWithin),
      Effect.as(undefined)
    ),
    running.exited
  )

/** Waits until a node takes requests. One that ends before has said why, and is started again; false when it does not start. */
export const awaitStart = Effect.fnUntraced(function*(node: StartedNode, say: Say) {
  for (let attempt = 1;; attempt++) {
    const how = yield* startOf(node, say)
    if (how === undefined) return true
    yield* say(`node ${node.number} did not start (${how})`)
    if (attempt >= startAttempts) return false
    yield* Effect.sleep(startPause)
    node.running = yield* node.start
  }
})
