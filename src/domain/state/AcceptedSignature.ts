/** Signatures of accepted requests, and the refusal of a replay, which is a request whose signature was accepted before. */
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

/** A signed request whose signature is stored. What is answered depends on whether the process that accepted it still runs (`ReplayStore.refusalOf`). */
export interface StoredSignature {
  readonly _tag: "StoredSignature"
  readonly accepter: Accepter
}

export const storedBy = (accepter: Accepter): StoredSignature => ({ _tag: "StoredSignature", accepter })

export const replayedRequest = refuse(
  "REPLAYED_REQUEST",
  "This signed request was already received, and is not done twice. To repeat it, sign it again with the same Idempotency-Key."
)

/** Refusal of a request accepted by a process that has ended and may not have done it: a proxy has sent it to a second node when the first ended. */
export const replayOfEndedProcess = refuse(
  "REPLAYED_REQUEST",
  "This signed request was received before, by a process of the service that has since ended. Whether it took effect is unknown. Sign it " +
    "again, with the same Idempotency-Key.",
  { outcome: "unknown", retry: "sign_again" }
)
