/** Calls of the staff API by the command line. */
import { Effect, Option, Redacted, Schema, type Stream } from "effect"
import { HttpClient, type HttpClientError, HttpClientRequest, type HttpMethod } from "effect/http"
import { isRefusalCode } from "../contract/common/Errors.ts"
import { refuse, statusByCode } from "../domain/Refusal.ts"
import { commandLineSettings } from "../platform/Settings.ts"

/** A request of the staff API; `payload` undefined: without a body. */
export interface StaffRequest {
  readonly method: HttpMethod.HttpMethod
  readonly path: string
  readonly query: { readonly [name: string]: string }
  readonly payload: { readonly [name: string]: unknown } | undefined
}

const unreadable = refuse("SERVER_ERROR", "The answer is not one of this service's. Does another version run there?")

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
  if (refusal === undefined) return yield* Effect.fail(unreadable)
  const { code, details, message } = refusal.error
  return yield* Effect.fail(refuse(code, message, details))
})

/** `data` and `meta` of an answer. */
export const callFor = Effect.fnUntraced(function*(request: StaffRequest, token: Option.Option<Redacted.Redacted>) {
  const answer = Option.getOrUndefined(decodeAnswer(yield* (yield* send(request, token)).text))
  return answer ?? (yield* Effect.fail(unreadable))
})

/** Bytes of an answer that is a stream of this content type. */
export const streamFor = Effect.fnUntraced(function*(
  request: StaffRequest,
  contentType: string,
  token: Option.Option<Redacted.Redacted>
) {
  const { headers, stream } = yield* send(request, token)
  if (headers["content-type"]?.startsWith(contentType) !== true) return yield* Effect.fail(unreadable)
  const bytes: Stream.Stream<Uint8Array, HttpClientError.HttpClientError> = stream
  return bytes
})
