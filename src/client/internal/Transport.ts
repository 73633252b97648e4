/** HTTP transport of client calls: authentication, time-outs, safe retries, and decoding of answers and errors. */
import { Clock, Context, Duration, Effect, Option, Random, Schema } from "effect"
import { FetchHttpClient, HttpBody, HttpClient, HttpClientRequest, HttpClientResponse } from "effect/http"
import { isRefusalCode } from "../../contract/common/Errors.ts"
import { NoAnswer, Refused } from "../Errors.ts"
import type { Authorise } from "./Signing.ts"

/** Time-outs and retries. */
export interface RetryPolicy {
  /** Maximum of attempts, including the first. 1 switches retries off. Default 4. */
  readonly maxAttempts?: number
  /** Time-out of an attempt. Default 10 seconds. A call that is held for events has its `wait` besides. */
  readonly attemptTimeout?: Duration.Input
  /** Pause before the second attempt, doubled for each further one. Default 200 milliseconds. */
  readonly firstPause?: Duration.Input
  /** Maximum pause; a longer `Retry-After` is not waited for. Default 60 seconds. */
  readonly longestPause?: Duration.Input
}

/** The current call, for the transport below the generated client. */
export const CurrentCall = Context.Reference<{
  readonly idempotencyKey: string | undefined
  /** Whether the call may be retried. */
  readonly isRepeatable: boolean
}>("pitboss/client/CurrentCall", { defaultValue: () => ({ idempotencyKey: undefined, isRepeatable: false }) })

const decodeEnvelope = Schema.decodeUnknownEffect(Schema.fromJsonString(Schema.Struct({
  error: Schema.Struct({
    code: Schema.String.pipe(Schema.refine(isRefusalCode)),
    message: Schema.String,
    details: Schema.Record(Schema.String, Schema.Unknown)
  })
})))

/** Seconds to wait, from a `Retry-After` that holds seconds or a date. */
const retryAfter = (value: string | undefined, now: number): number | undefined => {
  if (value === undefined) return undefined
  if (/^\d{1,9}$/.test(value)) return Number(value)
  const at = Date.parse(value)
  return Number.isNaN(at) ? undefined : Math.max(0, Math.ceil((at - now) / 1000))
}

/** Transient failures: an exhausted rate limit, a restart, a running request of the same key, a lost answer. */
const isTransient = (error: Refused | NoAnswer): boolean =>
  error._tag === "NoAnswer"
    ? error.status === undefined || error.status === 429 || error.status >= 500
    : error.status === 429 || error.status >= 500 || error.code === "IDEMPOTENCY_IN_PROGRESS"

/** The bytes of a body; a null payload is sent as no body. */
const bodyOf = (request: HttpClientRequest.HttpClientRequest): Uint8Array => {
  const { body } = request
  return body._tag === "Uint8Array" && body.text !== "null" ? body.body : new Uint8Array()
}

/** Path and query as signed: without a gateway's path in front of the API. */
const uriOf = (base: URL, request: HttpClientRequest.HttpClientRequest): string => {
  const prefix = base.pathname.replace(/\/+$/, "")
  return Option.match(HttpClientRequest.toUrl(request), {
    onNone: () => request.url,
    onSome: ({ pathname, search }) => pathname.slice(prefix.length) + search
  })
}

/** Transport of a client: an `HttpClient` that fails with {@link Refused} and {@link NoAnswer}. */
export const transportOver = (
  http: HttpClient.HttpClient,
  options: { readonly baseUrl: URL; readonly authorise: Authorise; readonly patience: RetryPolicy }
): HttpClient.HttpClient.With<Refused | NoAnswer> => {
  const { authorise, baseUrl } = options
  const { maxAttempts = 4 } = options.patience
  const timeout = Duration.fromInputUnsafe(options.patience.attemptTimeout ?? "10 seconds")
  const firstPause = Duration.toMillis(options.patience.firstPause ?? "200 millis")
  const longestPause = Duration.toMillis(options.patience.longestPause ?? "60 seconds")

  const attempt = Effect.fnUntraced(function*(request: HttpClientRequest.HttpClientRequest) {
    const { idempotencyKey } = yield* CurrentCall
    const body = bodyOf(request)
    const plain = request.pipe(
      HttpClientRequest.prependUrl(baseUrl.href),
      HttpClientRequest.acceptJson,
      HttpClientRequest.setBody(body.length === 0 ? HttpBody.empty : HttpBody.uint8Array(body, "application/json")),
      HttpClientRequest.setHeaders(idempotencyKey === undefined ? {} : { "Idempotency-Key": idempotencyKey })
    )
    const uri = uriOf(baseUrl, plain)
    // without the query, which may name a person: messages end up in logs
    const [path, query] = uri.split("?", 2)
    // a call that is held until there is an event
    const held = Duration.seconds(Number(new URLSearchParams(query).get("wait") ?? 0))
    const noAnswer = (message: string, cause: unknown, status?: number) =>
      new NoAnswer({ message: `${request.method} ${path}: ${message}`, status, idempotencyKey, cause })

    const fetchOptions = Context.getOrUndefined(yield* Effect.context<never>(), FetchHttpClient.RequestInit)
    const exchange = Effect.gen(function*() {
      const authorised = yield* authorise(plain, uri, body)
      const response = yield* http.execute(authorised).pipe(
        // the service never redirects: credentials must not follow a redirection
        Effect.provideService(FetchHttpClient.RequestInit, { ...fetchOptions, redirect: "manual" })
      )
      return { response, bytes: new Uint8Array(yield* response.arrayBuffer) }
    })
    const { bytes, response } = yield* exchange.pipe(
      Effect.timeout(Duration.sum(timeout, held)),
      Effect.mapError((cause) => noAnswer(cause.message, cause))
    )
    const { headers, status } = response
    if (status >= 200 && status < 300) {
      const read = new Response(bytes.length === 0 ? null : bytes, { status, headers })
      return HttpClientResponse.fromWeb(request, read)
    }
    const { error } = yield* decodeEnvelope(new TextDecoder().decode(bytes)).pipe(
      Effect.mapError((cause) =>
        noAnswer(`a response with status ${status} that is not from the service`, cause, status)
      )
    )
    return yield* new Refused({
      ...error,
      status,
      requestId: headers["x-request-id"],
      retryAfterSeconds: retryAfter(headers["retry-after"], yield* Clock.currentTimeMillis),
      idempotencyKey
    })
  })

  /** Whether the service asks for the request under another signature: what became of the first, which a proxy may have sent twice, is unknown. */
  const asksToSignAgain = (error: Refused | NoAnswer): boolean =>
    error._tag === "Refused" && error.code === "REPLAYED_REQUEST" && error.details["retry"] === "sign_again"

  /** Milliseconds before the next attempt; undefined when there is none. */
  const pauseAfter = Effect.fnUntraced(function*(error: Refused | NoAnswer, attempts: number) {
    const { isRepeatable } = yield* CurrentCall
    if (!isRepeatable || attempts >= maxAttempts || !(isTransient(error) || asksToSignAgain(error))) return undefined
    const asked = error._tag === "Refused" ? (error.retryAfterSeconds ?? 0) * 1000 : 0
    if (asked > longestPause) return undefined
    // jittered, so that callers that failed together do not retry together
    const own = firstPause * 2 ** (attempts - 1) * (0.5 + (yield* Random.next) / 2)
    return Math.min(longestPause, Math.max(asked, own))
  })

  const send = (request: HttpClientRequest.HttpClientRequest, attempts = 1): Effect.Effect<
    HttpClientResponse.HttpClientResponse,
    Refused | NoAnswer
  > =>
    attempt(request).pipe(
      Effect.catch((error) =>
        Effect.flatMap(pauseAfter(error, attempts), (pause) =>
          pause === undefined
            ? Effect.fail(error)
            : Effect.delay(Effect.suspend(() => send(request, attempts + 1)), Duration.millis(pause)))
      )
    )

  return HttpClient.makeWith<never, never, Refused | NoAnswer, never>(
    Effect.flatMap((request) => send(request)),
    Effect.succeed
  )
}
