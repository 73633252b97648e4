/** Replies stored under idempotency keys, each in the commit of its command: a retried request gets the same reply and takes effect once. */
import type { Step } from "./Decision.ts"
import type { IdempotencyClaim, RenderedReply } from "./Idempotency.ts"

/** Storage of a reply under the caller's idempotency key, if any. */
export interface KeyedReply<in Reply> {
  readonly claim: IdempotencyClaim | undefined
  readonly render: (reply: Reply) => RenderedReply
}

/**
 * Wraps a rule so that its answer is stored under the claimed key in the same commit as its effect. A decision that writes nothing leaves the key to
 * the claimant.
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
