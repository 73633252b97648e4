/** Refusals as responses: the only writer of the error envelope (SPEC section 7). */
import { Cause, Effect } from "effect"
import { HttpServerError, HttpServerRequest, HttpServerResponse } from "effect/http"
import { HttpApiError } from "effect/http-api"
import type { ServerResponse } from "node:http"
import { type Refusal, refuse, statusByCode } from "../domain/Refusal.ts"
import { plainAnswerHeaders } from "./AnswerHeaders.ts"
import { RequestIds } from "./RequestIds.ts"

/** Maximum length of a request body. */
export const maxBodyBytes = 256 * 1024

export const bodyTooLarge = refuse("INVALID_REQUEST", "The body is larger than 256 KiB.", { max_bytes: maxBodyBytes })

/** Maximum length of a body from a player, or from somebody who signs in. */
export const maxSmallBodyBytes = 4096

export const smallBodyTooLarge = refuse("INVALID_REQUEST", "The body is larger than 4 KiB.", {
  max_bytes: maxSmallBodyBytes
})

const bodyCutOff = refuse("INVALID_REQUEST", "The body could not be read to its end.")

export const serverError = refuse(
  "SERVER_ERROR",
  "Something went wrong on our side. Send the same request again, with the same idempotency key."
)

export const draining = refuse("TRY_AGAIN", "The service is restarting. Send the same request again.")

export const isRefusal = (value: unknown): value is Refusal =>
  typeof value === "object" && value !== null && "_tag" in value && value._tag === "Refusal"

/** HTTP status of a refusal: 413 for a body that is too large. */
export const statusOf = (refusal: Refusal): number =>
  refusal === bodyTooLarge || refusal === smallBodyTooLarge ? 413 : statusByCode[refusal.code]

/** Retry advice to a provider after a refusal. */
export type Retry = "never" | "same_request" | "rollback"

/** Only temporary refusals and unknown outcomes are retried. */
export const retryOf = (refusal: Refusal, onFailure: Retry): Retry =>
  statusByCode[refusal.code] >= 500
    ? onFailure
    : refusal.code === "RATE_LIMITED"
    ? "same_request"
    : "never"

/** Response body of a refusal. */
export const refusalBody = ({ code, details, message }: Refusal): string =>
  JSON.stringify({ error: { code, message, details } })

/** Response with an encoded JSON body. */
export const jsonResponse = (status: number, body: string): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.text(body, { status, contentType: "application/json" })

/** Body text of a response built by {@link jsonResponse} or a schema. */
export const bodyText = ({ body }: HttpServerResponse.HttpServerResponse): string =>
  body._tag === "Uint8Array" ? body.text ?? Buffer.from(body.body).toString("utf8") : ""

/** `Retry-After` of a temporary refusal in seconds; undefined for others, and for requests that must not be sent again. */
export const retryAfterOf = ({ code, details }: Refusal): string | undefined => {
  const { retry_after_seconds: seconds } = details
  return code === "RATE_LIMITED" && typeof seconds === "number"
    ? String(seconds)
    : code === "TRY_AGAIN" && details["retry"] !== "never"
    ? "1"
    : undefined
}

/** The refusal with the retry advice to the provider. */
export const withRetry = (refusal: Refusal, retry: Retry): Refusal => ({
  ...refusal,
  details: { ...refusal.details, retry }
})

/** Writes a refusal to Node.js's response, outside the router. */
export const writeRefusal = (
  response: ServerResponse,
  refusal: Refusal,
  requestId: string,
  status = statusOf(refusal)
): void => {
  const body = refusalBody(refusal)
  const retryAfter = retryAfterOf(refusal)
  response.writeHead(status, {
    ...plainAnswerHeaders,
    "content-type": "application/json",
    "content-length": Buffer.byteLength(body),
    "x-request-id": requestId,
    ...(retryAfter === undefined ? undefined : { "retry-after": retryAfter })
  })
  response.end(body)
}

/** HTTP response of a refusal; `retry` for providers only. */
export const refusalResponse = (refusal: Refusal, retry?: Retry): HttpServerResponse.HttpServerResponse => {
  const complete = retry === undefined ? refusal : withRetry(refusal, retry)
  const response = jsonResponse(statusOf(refusal), refusalBody(complete))
  const seconds = retryAfterOf(refusal)
  return seconds === undefined ? response : HttpServerResponse.setHeader(response, "retry-after", seconds)
}

/** Refusal of an unreadable body. */
export const refuseBody = (
  error: HttpServerError.HttpServerError,
  tooLarge = bodyTooLarge
): Refusal<"INVALID_REQUEST"> =>
  error.reason._tag === "RequestParseError" && error.reason.reason === "BodyTooLarge" ? tooLarge : bodyCutOff

/** Refusal in a failure or a defect; undefined when there is none. */
const refusalIn = (cause: Cause.Cause<unknown>): Refusal | undefined => {
  for (const reason of cause.reasons) {
    const error = reason._tag === "Fail" ? reason.error : reason._tag === "Die" ? reason.defect : undefined
    if (isRefusal(error)) return error
    if (HttpServerError.isHttpServerError(error) && error.reason._tag === "RequestParseError") return refuseBody(error)
  }
  return undefined
}

const isSchemaError = (error: unknown): error is HttpApiError.HttpApiSchemaError =>
  HttpApiError.HttpApiSchemaError.is(error)

/** A defect without secrets: for an answer that violates its schema, the path and not the value. */
const describe = (cause: Cause.Cause<unknown>): Cause.Cause<unknown> | string => {
  const error = Cause.squash(cause)
  return isSchemaError(error) ? `the answer has another form than its schema: ${error.cause.message}` : cause
}

/** Answers a failure: a refusal as itself, anything else as SERVER_ERROR with the reason in the log only. Interruptions propagate. */
export const answerCause = (
  cause: Cause.Cause<unknown>,
  onFailure?: Retry
): Effect.Effect<HttpServerResponse.HttpServerResponse, never, HttpServerRequest.HttpServerRequest | RequestIds> => {
  const refusal = refusalIn(cause)
  const answer = (refusal: Refusal) =>
    refusalResponse(refusal, onFailure === undefined ? undefined : retryOf(refusal, onFailure))
  if (refusal !== undefined) return Effect.succeed(answer(refusal))
  if (Cause.hasInterruptsOnly(cause)) {
    return Effect.failCause(Cause.fromReasons(cause.reasons.filter(Cause.isInterruptReason)))
  }
  return Effect.gen(function*() {
    const request = yield* HttpServerRequest.HttpServerRequest
    const ids = yield* RequestIds
    yield* Effect.logError("request failed", describe(cause)).pipe(Effect.annotateLogs({
      request_id: ids.of(request),
      method: request.method
    }))
    return answer(serverError)
  })
}
