/** How a call ends when it does not end well. */
import { Data } from "effect"
import type { RefusalCode } from "../contract/Errors.ts"

/**
 * The service refused (SPEC section 7). `code` is stable; `message` is for a person; `details` holds facts for a program, for
 * `VALIDATION_FAILED` each bad field with what is wrong with it.
 *
 * `status` is the HTTP status, `requestId` what support asks for. `retryAfterSeconds` is what the service asked to wait, where it
 * did. `idempotencyKey` is the key the request ran under: with a status of 500 or more nobody knows what became of it, and
 * sending it again with this key finds out.
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
 * No answer that could be read: the connection failed, time ran out, or something between here and the service answered in its
 * place. What was asked may have happened or not. A POST sent again with `idempotencyKey` has its effect once, whichever it was.
 */
export class NoAnswer extends Data.TaggedError("NoAnswer")<{
  readonly message: string
  /** The HTTP status, where there was one. */
  readonly status: number | undefined
  readonly idempotencyKey: string | undefined
  readonly cause: unknown
}> {}

/** The request has not the form that the contract asks for. It was never sent. */
export class BadRequest extends Data.TaggedError("BadRequest")<{ readonly message: string }> {}
