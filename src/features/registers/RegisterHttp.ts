/** HTTP requests to exclusion registers: a client per connection, bounded in time, bytes and number. */
import { Context, Effect, Exit, Fiber, Layer, Option, Schema, Scope } from "effect"
import { HttpBody, HttpClient, HttpClientRequest } from "effect/http"
import { connectionError, isCertificateError, makeGuardedClient } from "../../platform/GuardedHttp.ts"
import { Resolver } from "../../platform/Resolver.ts"
import { Settings } from "../../platform/Settings.ts"
import { targetProblem } from "../../platform/Targets.ts"
import type { RegisterRequest, RegisterResponse, TlsSettings } from "../../registers/Register.ts"

/** An answer about one person has some hundred bytes; one about a thousand, some hundred thousand. */
const maxAnswerBytes = 64 * 1024
const maxBatchBytes = 1024 * 1024

/** Connections of one client. */
const maxConnections = 64

/** A register that could not be asked or whose answer could not be read. Never holds anything of the request or the answer. */
export class RegisterFailure extends Schema.TaggedError<RegisterFailure>()("RegisterFailure", {
  word: Schema.Literals(["timeout", "dns", "connection", "certificate", "too_large", "target_refused"])
}) {}

/** Client of one connection. */
export interface RegisterClient {
  /**
   * Sends a question and reads its answer, whatever the status, within `deadlineMs` altogether. A connection that fails before anything was answered is
   * tried once more. No redirects. Goes on to its end where the caller is interrupted or must not be.
   */
  readonly send: (request: RegisterRequest, deadlineMs: number) => Effect.Effect<RegisterResponse, RegisterFailure>
}

export class RegisterHttp extends Context.Service<RegisterHttp, {
  /** A client whose connections are those of its scope. */
  readonly open: (tls: TlsSettings) => Effect.Effect<RegisterClient, never, Scope.Scope>
}>()("pitboss/registers/RegisterHttp") {
  static readonly layer = Layer.effect(
    RegisterHttp,
    Effect.gen(function*() {
      const { registerAllowInsecure: allowInsecure } = yield* Settings
      const resolver = yield* Resolver

      const open = Effect.fnUntraced(function*({ ca, client_certificate, client_key }: TlsSettings) {
        const scope = yield* Scope.Scope
        const tls = { ca, cert: client_certificate, key: client_key }
        const guarded = { allowInsecure, connections: maxConnections, tls }
        const forOne = yield* makeGuardedClient({ ...guarded, maxAnswerBytes })
        const forMany = yield* makeGuardedClient({ ...guarded, maxAnswerBytes: maxBatchBytes })

        const failureOf = (cause: unknown) =>
          new RegisterFailure({ word: isCertificateError(cause) ? "certificate" : connectionError(cause) })

        const attempt = ({ body, headers, isBatch = false, url }: RegisterRequest) => {
          const { "content-type": contentType = "application/json", ...others } = headers
          const request = HttpClientRequest.post(url, { headers: others, body: HttpBody.text(body, contentType) })
          const begin = Effect.mapError(
            (isBatch ? forMany : forOne).execute(request),
            ({ reason }) => failureOf(reason.cause)
          )
          return begin.pipe(
            Effect.catchIf(({ word }) => word === "connection", () => begin),
            Effect.flatMap((response) =>
              Effect.map(response.text, (text): RegisterResponse => ({
                status: response.status,
                header: (name) => response.headers[name],
                body: text
              })).pipe(Effect.mapError(({ reason }) => failureOf(reason.cause)))
            ),
            // the address and the headers hold secrets, which no trace may have
            Effect.provideService(HttpClient.TracerDisabledWhen, () => true)
          )
        }

        const send: RegisterClient["send"] = Effect.fnUntraced(function*(request, deadlineMs) {
          if (targetProblem(request.url, allowInsecure) !== undefined) {
            return yield* new RegisterFailure({ word: "target_refused" })
          }
          const inTime = Effect.flatMap(
            Effect.timeoutOption(attempt(request), deadlineMs),
            Option.match({
              onNone: () => Effect.fail(new RegisterFailure({ word: "timeout" })),
              onSome: Effect.succeed
            })
          )
          // a fiber of its own: its deadline counts where its caller is not to be interrupted
          const running = yield* Effect.forkIn(Effect.interruptible(inTime), scope)
          const exit = yield* Fiber.await(running)
          return Exit.isSuccess(exit) || !Exit.hasInterrupts(exit)
            ? yield* exit
            : yield* new RegisterFailure({ word: "connection" })
        })
        return { send }
      }, Effect.provideService(Resolver, resolver))

      return RegisterHttp.of({ open })
    })
  )
}
