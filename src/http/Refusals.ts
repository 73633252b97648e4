/** Turns refusals into HTTP responses, of the router or written directly to Node.js's. */
import { Cause, Effect } from "effect"
import { HttpServerError, HttpServerRequest, HttpServerResponse } from "effect/http"
import { HttpApiError } from "effect/http-api"
import type { ServerResponse } from "node:http"
import { bodyTooLarge, refusalBody, retryAfterOf, serverError, statusOf } from "../contract/common/Envelope.ts"
import { type Refusal, refuse } from "../domain/Refusal.ts"
import { plainAnswerHeaders } from "./AnswerHeaders.ts"
import { RequestIds } from "./RequestIds.ts"

const bodyCutOff = refuse("INVALID_REQUEST", "The body ended before it was complete.")

export const isRefusal = (value: unknown): value is Refusal =>
  typeof value === "object" && value !== null && "_tag" in value && value._tag === "Refusal"

/** Response with an encoded JSON body. */
export const jsonResponse = (status: number, body: string): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.text(body, { status, contentType: "application/json" })

/** Body text of a response built by {@link jsonResponse} or a schema. */
export const bodyText = ({ body }: HttpServerResponse.HttpServerResponse): string =>
  body._tag === "Uint8Array" ? body.text ?? Buffer.from(body.body).toString("utf8") : ""

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

/** HTTP response of a refusal. */
export const refusalResponse = (refusal: Refusal): HttpServerResponse.HttpServerResponse => {
  const response = jsonResponse(statusOf(refusal), refusalBody(refusal))
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
  return isSchemaError(error) ? `the response does not match its schema: ${error.cause.message}` : cause
}

/** Answers a failure: a refusal as itself, anything else as SERVER_ERROR with the reason in the log only. Interruptions propagate. */
export const answerCause = (
  cause: Cause.Cause<unknown>
): Effect.Effect<HttpServerResponse.HttpServerResponse, never, HttpServerRequest.HttpServerRequest | RequestIds> => {
  const refusal = refusalIn(cause)
  if (refusal !== undefined) return Effect.succeed(refusalResponse(refusal))
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
    return refusalResponse(serverError)
  })
}
