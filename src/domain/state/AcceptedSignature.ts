import { refuse } from "../Refusal.ts"

/** Signature of an accepted request. */
export interface AcceptedSignature {
  /** Lower-case hex. */
  readonly signature: string
  /** Epoch milliseconds. */
  readonly acceptedAt: number
}

export const replayedRequest = refuse("REPLAYED_REQUEST", "This signed request was already received. Sign a new one.")
