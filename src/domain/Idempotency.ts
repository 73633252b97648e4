/** Idempotency keys and the replies stored under them (SPEC section 8). */

/** A key claimed by a request that runs now. */
export interface IdempotencyClaim {
  /** `operator:<id>`, or `player:<id>` for calls with a player token. */
  readonly scope: string
  readonly key: string
  /** A keyed digest of method, path with query, and raw body. */
  readonly fingerprint: Uint8Array
  /** The answer holds a secret, such as a token, or personal data: it is stored sealed. */
  readonly isSecret?: boolean | undefined
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

/** What a sealed answer is bound to: it opens under its own key only. */
export const replyPurpose = ({ key, scope }: Pick<IdempotencyClaim, "scope" | "key">): string =>
  `idempotent-reply:${scope}\n${key}`
