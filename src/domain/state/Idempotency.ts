/** Idempotency keys and the replies stored under them (SPEC section 8). */

/** Idempotency key claimed by a request in progress. */
export interface IdempotencyClaim {
  /** `operator:<id>`, or `player:<id>` for calls with a player token. */
  readonly scope: string
  readonly key: string
  /** Keyed digest of method, path with query, and raw body. */
  readonly fingerprint: Uint8Array
  /** True when the answer holds a secret (such as a token) or personal data and is stored sealed. */
  readonly isSecret?: boolean | undefined
  /** Player whom the answer tells of, with whose data it is erased; absent when it is about nobody in particular. */
  readonly playerId?: number | undefined
}

/** Scope of an operator's keys. */
export const operatorScope = (operatorId: number): string => `operator:${operatorId}`

/** First answer under a key, committed with its effect and replayed to every retry. */
export interface StoredReply extends IdempotencyClaim {
  readonly status: number
  /** JSON text of the body. */
  readonly body: string
  /** Epoch milliseconds. */
  readonly createdAt: number
}

/** Rendered HTTP response. */
export interface RenderedReply {
  readonly status: number
  readonly body: string
}

/** Binds a sealed answer to its key: it can be opened under no other one. */
export const replyPurpose = ({ key, scope }: Pick<IdempotencyClaim, "scope" | "key">): string =>
  `idempotent-reply:${scope}\n${key}`
