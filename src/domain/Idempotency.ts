/** A caller's promise that a repeated request is the same one (SPEC section 8). */
import type { Step } from "./Decision.ts"

/** A key claimed by a request that runs now. */
export interface IdempotencyClaim {
  /** `operator:<id>`, or `player:<id>` for calls with a player token. */
  readonly scope: string
  readonly key: string
  /** SHA-256 over method, path with query, and raw body. */
  readonly fingerprint: Uint8Array
}

/** The first answer under a key, committed with its effect and given again to every retry. */
export interface StoredReply extends IdempotencyClaim {
  readonly status: number
  /** The JSON text of the body. */
  readonly body: string
  /** Epoch milliseconds. */
  readonly createdAt: number
}

/** An answer as it goes out. */
export interface RenderedReply {
  readonly status: number
  readonly body: string
}

/**
 * A rule that, where it writes anything, also writes its answer under the claimed key: effect and answer commit together. An
 * acceptance that writes nothing leaves the key to whoever claimed it.
 */
export const storingReply = <Reply, Error>(
  step: Step<Reply, Error>,
  claim: IdempotencyClaim | undefined,
  render: (reply: Reply) => RenderedReply
): Step<Reply, Error> =>
  claim === undefined ? step : (player, context) => {
    const decision = step(player, context)
    if (decision._tag !== "Accept" || decision.change === null) return decision
    const stored = { ...claim, ...render(decision.reply), createdAt: context.now }
    return { ...decision, change: { ...decision.change, replies: [...decision.change.replies, stored] } }
  }
