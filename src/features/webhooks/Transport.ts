/** Sends one HTTP POST to an endpoint. */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import Undici from "@effect/platform-node/Undici"
import { Context, Effect, FiberSet, Layer, Option } from "effect"
import { HttpBody, HttpClient, HttpClientRequest } from "effect/http"
import type { LookupFunction } from "node:net"
import { Settings } from "../../platform/Settings.ts"
import { Resolver } from "./Resolver.ts"
import { isPublicAddress, literalAddress, targetProblem } from "./Targets.ts"

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

/** A refused connection, passed through node:net as the cause of the failed request. */
class ConnectionRefused extends Error {
  readonly code: "dns" | "target_refused"

  constructor(code: "dns" | "target_refused") {
    super(code)
    this.code = code
  }
}

const errorOf = (cause: unknown): AttemptError => cause instanceof ConnectionRefused ? cause.code : "connection"

export class Transport extends Context.Service<Transport, {
  /** Sends a message once, without following redirects. Only the status of the answer counts. */
  readonly post: (message: Message) => Effect.Effect<Outcome>
}>()("pitboss/webhooks/Transport") {
  static readonly layer = Layer.effect(
    Transport,
    Effect.gen(function*() {
      const { webhookAllowInsecure } = yield* Settings
      const { resolve } = yield* Resolver
      const run = yield* FiberSet.makeRuntime<never>()

      /** Connects to the checked addresses, without a second look-up. */
      const lookup: LookupFunction = (hostname, options, callback) => {
        run(Effect.match(resolve(hostname), {
          onFailure: () => callback(new ConnectionRefused("dns"), []),
          onSuccess: (found) => {
            const [first] = found
            if (first === undefined) return callback(new ConnectionRefused("dns"), [])
            // one internal address refuses all
            if (!webhookAllowInsecure && !found.every(({ address }) => isPublicAddress(address))) {
              return callback(new ConnectionRefused("target_refused"), [])
            }
            return options.all === true ? callback(null, [...found]) : callback(null, first.address, first.family)
          }
        }))
      }

      const connect = Undici.buildConnector({ lookup, timeout: 5000, allowH2: false })

      // connections are kept, as many per endpoint as it has deliveries in flight
      const dispatcher = yield* NodeHttpClient.makeDispatcherOptions({
        // an address in the URL is not looked up, so it is judged here
        connect: (options, callback) => {
          const address = literalAddress(options.hostname)
          if (address !== undefined && !webhookAllowInsecure && !isPublicAddress(address)) {
            return callback(new ConnectionRefused("target_refused"), null)
          }
          return connect(options, callback)
        },
        pipelining: 1,
        maxResponseSize: maxAnswerBytes,
        keepAliveTimeout: 20_000,
        keepAliveMaxTimeout: 60_000
      })
      const client = yield* Effect.provideService(NodeHttpClient.makeUndici, NodeHttpClient.Dispatcher, dispatcher)

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
          Effect.match({ onFailure: ({ reason }) => errorOf(reason.cause), onSuccess: () => null }),
          Effect.timeoutOption(attemptTime)
        )
        if (status !== undefined) return { status, error: status >= 200 && status < 300 ? null : "status" }
        return { status: null, error: Option.getOrElse(failure, () => "timeout" as const) }
      }, Effect.provideService(HttpClient.TracerDisabledWhen, () => true))

      return Transport.of({ post })
    })
  )
}
