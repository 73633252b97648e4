/** Replies stored with the commit, for retries of the request. */
import type { Step } from "./Decision.ts"
import type { IdempotencyClaim, RenderedReply } from "./Idempotency.ts"

/**
 * A rule that, where it writes anything, also writes its answer under the claimed key: effect and answer commit together. An
 * acceptance that writes nothing leaves the key to its claimant.
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
