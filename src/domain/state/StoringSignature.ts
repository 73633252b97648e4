/** Signatures of requests, each stored in the commit of its effects, so that a replay is refused. */
import { type AcceptedSignature, storedBy, type StoredSignature } from "./AcceptedSignature.ts"
import { refused, type Step } from "./Decision.ts"

/** Reply of a signed command. */
export interface Recorded<out Reply> {
  readonly reply: Reply
  /** False when the command wrote nothing: its signature is not stored yet. */
  readonly isRecorded: boolean
}

/**
 * Wraps a rule so that the signature of its request is stored in the same commit as its effect. The signature is assumed to be new: its unique index
 * proves that in the commit.
 */
export const storingSignature = <Reply, Error>(
  step: Step<Reply, Error>,
  accepted: AcceptedSignature
): Step<Recorded<Reply>, Error | StoredSignature> =>
(player, context) => {
  const accepter = context.known?.signatures.get(accepted.signature) ?? null
  if (accepter !== null) return refused(storedBy(accepter))
  const decision = step(player, context)
  if (decision._tag !== "Accept") return decision
  const { change, reply } = decision
  return change === null
    ? { ...decision, reply: { reply, isRecorded: false } }
    : {
      ...decision,
      reply: { reply, isRecorded: true },
      change: { ...change, signatures: [...change.signatures, accepted] }
    }
}
