/** Sends one HTTP POST to an endpoint. */
import { Context, Effect, Layer, Option } from "effect"
import { HttpBody, HttpClient, HttpClientRequest } from "effect/http"
import { connectionError, makeGuardedClient } from "../../platform/GuardedHttp.ts"
import { Settings } from "../../platform/Settings.ts"
import { targetProblem } from "../../platform/Targets.ts"

/** Time-out of an attempt (SPEC section 6.3). */
const attemptTime = "5 seconds"

/** Bytes of an answer that are read to keep the connection. A longer answer closes it. */
const maxAnswerBytes = 16_384

/** Maximum length of a message, far above that of any event. */
const maxMessageLength = 262_144

export interface Message {
  readonly url: string
  readonly headers: { readonly [name: string]: string }
  /** JSON. */
  readonly body: string
}

/** Why an attempt failed. */
type AttemptError =
  | "status"
  | "timeout"
  | "connection"
  | "dns"
  | "target_refused"
  | "too_large"
  | "secret_unreadable"

export interface Outcome {
  /** Null when there was no answer. */
  readonly status: number | null
  /** Null when it was a good one. */
  readonly error: AttemptError | null
}

export class Transport extends Context.Service<Transport, {
  /** Sends a message once, without following redirects. Only the status of the answer counts. */
  readonly post: (message: Message) => Effect.Effect<Outcome>
}>()("pitboss/webhooks/Transport") {
  static readonly layer = Layer.effect(
    Transport,
    Effect.gen(function*() {
      const { webhookAllowInsecure } = yield* Settings
      // connections are kept, as many per endpoint as it has deliveries in flight
      const client = yield* makeGuardedClient({ allowInsecure: webhookAllowInsecure, maxAnswerBytes })

      const post = Effect.fnUntraced(function*({ body, headers, url }: Message): Effect.fn.Return<Outcome> {
        if (body.length > maxMessageLength) return { status: null, error: "too_large" }
        if (targetProblem(url, webhookAllowInsecure) !== undefined) return { status: null, error: "target_refused" }
        const request = HttpClientRequest.post(url, { headers, body: HttpBody.text(body, "application/json") })
        let status: number | undefined
        const attempt = Effect.gen(function*() {
          const response = yield* client.execute(request)
          status = response.status
          yield* response.arrayBuffer
        })
        const failure = yield* attempt.pipe(
          Effect.match({ onFailure: ({ reason }) => connectionError(reason.cause), onSuccess: () => null }),
          Effect.timeoutOption(attemptTime)
        )
        if (status !== undefined) return { status, error: status >= 200 && status < 300 ? null : "status" }
        return { status: null, error: Option.getOrElse(failure, () => "timeout" as const) }
      }, Effect.provideService(HttpClient.TracerDisabledWhen, () => true))

      return Transport.of({ post })
    })
  )
}
