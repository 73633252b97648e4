/** Calls the staff API from the command line. */
import { Effect, Option, Redacted, Schema, type Stream } from "effect"
import {
  HttpClient,
  type HttpClientError,
  HttpClientRequest,
  type HttpClientResponse,
  type HttpMethod
} from "effect/http"
import { isRefusalCode } from "../contract/common/Errors.ts"
import { refuse, statusByCode } from "../domain/Refusal.ts"
import { invocation } from "../platform/Invocation.ts"
import { commandLineSettings } from "../platform/Settings.ts"

/** A request of the staff API; `payload` undefined: without a body. */
export interface StaffRequest {
  readonly method: HttpMethod.HttpMethod
  readonly path: string
  readonly query: { readonly [name: string]: string }
  readonly payload: { readonly [name: string]: unknown } | undefined
}

const unreadable = (url: string, status: number) =>
  refuse(
    "SERVER_ERROR",
    `${
      new URL(url).origin
    } did not answer as a back office of this version. Set BACKOFFICE_HOST and BACKOFFICE_PORT to the address of one.`,
    {
      url,
      status
    }
  )

/** Failures of a connection that was never made. */
const unconnected = new Set(["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "ENETUNREACH", "ETIMEDOUT"])

const isUnconnected = (cause: unknown): boolean =>
  cause instanceof Error && "code" in cause && typeof cause.code === "string" && unconnected.has(cause.code)

/** Refusal for a call without a whole answer: no connection could be made, or it ended before the end of the answer. */
export const explainCall = ({ reason, request: { url } }: HttpClientError.HttpClientError) => {
  const { origin } = new URL(url)
  return refuse(
    "SERVER_ERROR",
    isUnconnected(reason.cause)
      ? `Nothing answers at ${origin}. Start the service with ${invocation.start}, or say with BACKOFFICE_HOST and BACKOFFICE_PORT where it runs.`
      : `The connection to ${origin} closed before the response was complete. The request may have taken effect: check before you send it again.`,
    { url }
  )
}

const decodeAnswer = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.Struct({
  data: Schema.Unknown,
  meta: Schema.optionalKey(Schema.Struct({ next_cursor: Schema.optionalKey(Schema.NullOr(Schema.String)) }))
})))

const decodeRefusal = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.Struct({
  error: Schema.Struct({
    code: Schema.Literals(Object.keys(statusByCode).filter(isRefusalCode)),
    message: Schema.String,
    details: Schema.Record(Schema.String, Schema.Unknown)
  })
})))

/** Sends a request to the running service, as who holds the token; fails with what it was refused for. */
const send = Effect.fnUntraced(function*(
  { method, path, payload, query }: StaffRequest,
  flag: Option.Option<Redacted.Redacted>
) {
  const { token: known, url } = yield* commandLineSettings
  const token = Redacted.value(Option.getOrElse(flag, () => known ?? Redacted.make("")))
  let request = HttpClientRequest.setUrlParams(HttpClientRequest.make(method)(url + path), query)
  if (payload !== undefined) request = HttpClientRequest.bodyJsonUnsafe(request, payload)
  if (token !== "") request = HttpClientRequest.bearerToken(request, token)
  const response = yield* HttpClient.execute(request)
  if (response.status < 300) return response
  const refusal = Option.getOrUndefined(decodeRefusal(yield* response.text))
  if (refusal === undefined) return yield* Effect.fail(unreadable(request.url, response.status))
  const { code, details, message } = refusal.error
  return yield* Effect.fail(refuse(code, message, details))
})

const answerIn = Effect.fnUntraced(function*(response: HttpClientResponse.HttpClientResponse) {
  const answer = Option.getOrUndefined(decodeAnswer(yield* response.text))
  return answer ?? (yield* Effect.fail(unreadable(response.request.url, response.status)))
})

/** `data` and `meta` of an answer. */
export const callFor = (request: StaffRequest, token: Option.Option<Redacted.Redacted>) =>
  Effect.flatMap(send(request, token), answerIn)

interface Streamed {
  readonly bytes?: Stream.Stream<Uint8Array, HttpClientError.HttpClientError>
  readonly data?: unknown
}

/** Bytes of an answer that is a stream of one of these content types, or the `data` of one that is a document. */
export const streamFor = Effect.fnUntraced(function*(
  request: StaffRequest,
  contentTypes: ReadonlyArray<string>,
  token: Option.Option<Redacted.Redacted>
) {
  const response = yield* send(request, token)
  const contentType = response.headers["content-type"] ?? ""
  const streamed: Streamed = contentTypes.some((type) => contentType.startsWith(type))
    ? { bytes: response.stream }
    : { data: (yield* answerIn(response)).data }
  return streamed
})
