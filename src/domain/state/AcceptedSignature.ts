import { type Refusal, refuse } from "../Refusal.ts"

/** Signature of an accepted request. */
export interface AcceptedSignature {
  /** Lower-case hex. */
  readonly signature: string
  /** Epoch milliseconds. */
  readonly acceptedAt: number
}

/** Process that accepted a signature: this one, which answers the request itself, or another, which may have ended before it was done. */
export type Accepter = "this" | "other"

export const replayedRequest = refuse("REPLAYED_REQUEST", "This signed request was already received. Sign a new one.")

/** Refusal of a request that another process accepted and may not have done: a proxy has sent it to a second node when the first ended. */
const requestOfOther = refuse(
  "REPLAYED_REQUEST",
  "A process of the service that has ended already received this signed request, and whether it was done is unknown. Sign it again, with " +
    "the same Idempotency-Key.",
  { outcome: "unknown", retry: "sign_again" }
)

/** Refusal of a signature that is stored; of another process' as if that had ended. */
export const replayOf = (accepter: Accepter) => accepter === "this" ? replayedRequest : requestOfOther

/** Whether a refusal rests on that another process has ended: whoever answers has to see whether it has. */
export const restsOnEnd = ({ code, details }: Refusal): boolean =>
  code === "REPLAYED_REQUEST" && details["outcome"] === "unknown"
