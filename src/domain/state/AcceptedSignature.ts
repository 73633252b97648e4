import { refuse } from "../Refusal.ts"

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

/** Refusal of a request that another process accepted: a proxy has sent it to a second node when the first gave no answer, or no longer runs. */
const requestOfOther = refuse(
  "REPLAYED_REQUEST",
  "Another process of the service has already received this signed request, and whether it was done is not known here. Sign it again, " +
    "with the same Idempotency-Key.",
  { outcome: "unknown", retry: "sign_again" }
)

/** Refusal of a signature that is stored. */
export const replayOf = (accepter: Accepter) => accepter === "this" ? replayedRequest : requestOfOther
