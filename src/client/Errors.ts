/** Errors that client calls fail with: a refusal, a missing answer, or a request that violates the contract. */
import { Data } from "effect"
import type { RefusalCode } from "../contract/common/Errors.ts"

/**
 * The service refused (SPEC section 7). `code` is stable; `message` is for people; `details` is for programs, for `VALIDATION_FAILED` each invalid
 * field with its errors.
 *
 * `status` is the HTTP status, `requestId` the id for support, `retryAfterSeconds` the wait requested by the service. `idempotencyKey` is the key of
 * the request: with a status of 500 or more its outcome is unknown, and a retry with this key determines it.
 *
 *     operator.payments.deposit(request).pipe(
 *       Effect.catchIf((error) => error._tag === "Refused" && error.code === "LIMIT_EXCEEDED", refundThePlayer)
 *     )
 */
export class Refused<out Code extends RefusalCode = RefusalCode> extends Data.TaggedError("Refused")<{
  readonly code: RefusalCode
  readonly message: string
  readonly details: { readonly [name: string]: unknown }
  readonly status: number
  readonly requestId: string | undefined
  readonly retryAfterSeconds: number | undefined
  readonly idempotencyKey: string | undefined
}> {
  declare readonly code: Code
}

/**
 * No readable answer: the connection failed, the request timed out, or an intermediary answered. The outcome is unknown. A POST retried with
 * `idempotencyKey` takes effect once.
 */
export class NoAnswer extends Data.TaggedError("NoAnswer")<{
  readonly message: string
  /** The HTTP status, where there was one. */
  readonly status: number | undefined
  readonly idempotencyKey: string | undefined
  readonly cause: unknown
}> {}

/** The request violates the contract and was not sent. */
export class BadRequest extends Data.TaggedError("BadRequest")<{ readonly message: string }> {}
