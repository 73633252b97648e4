/** Sends HTTP POSTs to webhook endpoints, bounded in time and size. */
import { Context, Effect, Layer, Option } from "effect"
import { HttpBody, HttpClient, HttpClientRequest } from "effect/http"
import { connectionError, makeGuardedClient } from "../../platform/GuardedHttp.ts"
import { Settings } from "../../platform/Settings.ts"
import { targetProblem } from "../../platform/Targets.ts"

/** Time-out of an attempt (SPEC section 6.3). */
const attemptTime = "5 seconds"

/** Maximum bytes of an answer read to keep the connection alive. A longer answer closes it. */
const maxAnswerBytes = 16_384

/** Maximum length of a message, far above that of any event. */
const maxMessageLength = 262_144

export interface Message {
  readonly url: string
  readonly headers: { readonly [name: string]: string }
  /** JSON. */
  readonly body: string
}

/** Error of a failed attempt. */
type AttemptError =
  | "status"
  | "timeout"
  | "connection"
  | "dns"
  | "target_refused"
  | "too_large"
  | "secret_unreadable"

export interface Outcome {
  /** Null without an answer. */
  readonly status: number | null
  /** Null for a successful attempt. */
  readonly error: AttemptError | null
  /** Beginning of the answer's body; null without an answer or when unreadable. */
  readonly body: string | null
}

/** Maximum stored characters of an answer. */
const keptCharacters = 2000

/** Beginning of a body as text that PostgreSQL can store. */
const beginningOf = (body: ArrayBuffer): string =>
  new TextDecoder().decode(body.slice(0, 4 * keptCharacters)).replaceAll("\u0000", "").slice(0, keptCharacters)
    .toWellFormed()

export class Transport extends Context.Service<Transport, {
  /** Sends a message once, without following redirects. Only the status of the answer determines success. */
  readonly post: (message: Message) => Effect.Effect<Outcome>
}>()("pitboss/webhooks/Transport") {
  static readonly layer = Layer.effect(
    Transport,
    Effect.gen(function*() {
      const { webhookAllowInsecure } = yield* Settings
      // connections are kept alive, as many per endpoint as it has deliveries in flight
      const client = yield* makeGuardedClient({ allowInsecure: webhookAllowInsecure, maxAnswerBytes })

      const post = Effect.fnUntraced(function*({ body, headers, url }: Message): Effect.fn.Return<Outcome> {
        if (body.length > maxMessageLength) return { status: null, error: "too_large", body: null }
        if (targetProblem(url, webhookAllowInsecure) !== undefined) {
          return { status: null, error: "target_refused", body: null }
        }
        const request = HttpClientRequest.post(url, { headers, body: HttpBody.text(body, "application/json") })
        let status: number | undefined
        let answered: string | null = null
        const attempt = Effect.gen(function*() {
          const response = yield* client.execute(request)
          status = response.status
          answered = beginningOf(yield* response.arrayBuffer)
        })
        const failure = yield* attempt.pipe(
          Effect.match({ onFailure: ({ reason }) => connectionError(reason.cause), onSuccess: () => null }),
          Effect.timeoutOption(attemptTime)
        )
        if (status !== undefined) {
          return { status, error: status >= 200 && status < 300 ? null : "status", body: answered }
        }
        return { status: null, body: null, error: Option.getOrElse(failure, () => "timeout" as const) }
      }, Effect.provideService(HttpClient.TracerDisabledWhen, () => true))

      return Transport.of({ post })
    })
  )
}
