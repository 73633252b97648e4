/** What a call can fail with. */
import type { ErrorCode } from "./generated/Contract.ts"

export interface ErrorFields {
  /** Stable, for programs: a code of the API, or `NO_ANSWER`. Later versions of the service may add codes. */
  readonly code: ErrorCode | "NO_ANSWER" | (string & {})
  readonly message: string
  /** Facts for programs; for `VALIDATION_FAILED` each invalid field with its messages. */
  readonly details: { readonly [name: string]: unknown }
  /** The HTTP status; undefined without an answer. */
  readonly status: number | undefined
  /** The id of the request, for support. */
  readonly requestId: string | undefined
  /** The key of a POST. With a status of 500 or more, or none, a retry with this key determines the outcome. */
  readonly idempotencyKey: string | undefined
  /** The wait that the service asks for. */
  readonly retryAfterSeconds: number | undefined
}

/** Every error of a call. Thrown as one of its subclasses where one fits. */
export class PitbossError extends Error implements ErrorFields {
  override readonly name: string = "PitbossError"
  readonly code: ErrorFields["code"]
  readonly details: ErrorFields["details"]
  readonly status: number | undefined
  readonly requestId: string | undefined
  readonly idempotencyKey: string | undefined
  readonly retryAfterSeconds: number | undefined

  constructor(fields: ErrorFields, cause?: unknown) {
    super(fields.message, cause === undefined ? undefined : { cause })
    this.code = fields.code
    this.details = fields.details
    this.status = fields.status
    this.requestId = fields.requestId
    this.idempotencyKey = fields.idempotencyKey
    this.retryAfterSeconds = fields.retryAfterSeconds
  }
}

/** 401: the key, the signature, the clock or the player's token. */
export class AuthenticationError extends PitbossError {
  override readonly name = "AuthenticationError"
}

/** 403: the address, the scope or the feature. */
export class PermissionError extends PitbossError {
  override readonly name = "PermissionError"
}

/** 404: no such record of this operator. */
export class NotFoundError extends PitbossError {
  override readonly name = "NotFoundError"
}

/** 409: the reference was used for something else, or a request with the same key is still running. */
export class ConflictError extends PitbossError {
  override readonly name = "ConflictError"
}

/** 422 `VALIDATION_FAILED`: `details` has each invalid field with its messages. */
export class ValidationError extends PitbossError {
  override readonly name = "ValidationError"
}

/** A rule refused: limits, exclusions, funds, bonuses, documents. `code` says which. */
export class RuleError extends PitbossError {
  override readonly name = "RuleError"
}

/** 429: wait `retryAfterSeconds`. */
export class RateLimitError extends PitbossError {
  override readonly name = "RateLimitError"
}

/** 500 or more: the outcome is unknown; a POST is repeated with its `idempotencyKey`. */
export class ServerError extends PitbossError {
  override readonly name = "ServerError"
}

/** No readable answer, code `NO_ANSWER`: the connection, a time-out, an intermediary. The outcome is unknown. */
export class ConnectionError extends PitbossError {
  override readonly name = "ConnectionError"
}

/** The error of a refusal, by its status. */
export const errorOf = (fields: ErrorFields & { readonly status: number }): PitbossError => {
  const { code, status } = fields
  if (status === 401) return new AuthenticationError(fields)
  if (status === 403) return new PermissionError(fields)
  if (status === 404) return new NotFoundError(fields)
  if (status === 409) return new ConflictError(fields)
  if (status === 429) return new RateLimitError(fields)
  if (status >= 500) return new ServerError(fields)
  if (code === "VALIDATION_FAILED") return new ValidationError(fields)
  return status === 402 || status === 422 ? new RuleError(fields) : new PitbossError(fields)
}
