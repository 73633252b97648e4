/** HTTP requests to vendors: only to public addresses over TLS unless the settings allow others; bounded in time, bytes and number. */
import { Context, Effect, Exit, Fiber, Layer, Option, Scope } from "effect"
import { HttpBody, HttpClient, HttpClientRequest } from "effect/http"
import { connectionError, makeGuardedClient } from "../../platform/GuardedHttp.ts"
import { Settings } from "../../platform/Settings.ts"
import { targetProblem } from "../../platform/Targets.ts"
import type { SendToVendor, VendorFailure, VendorResponse } from "../../protocols/Protocol.ts"

/** From the first byte that is sent to the last one of the answer. */
const requestTime = "5 seconds"

/** An answer to a launch or to one question has some hundred bytes; a list of ten thousand games, or of a quarter of an hour, some megabytes. */
const maxAnswerBytes = 64 * 1024
const maxListBytes = 4 * 1024 * 1024

const tooLarge = (isList: boolean): VendorFailure => ({
  _tag: "VendorFailure",
  kind: "refused",
  word: `the answer is larger than ${isList ? "4 MiB" : "64 KiB"}`
})

/** Requests under way at once, in all and to one host: a vendor that is slow must not keep the others waiting. */
const maxInFlight = 256
const maxInFlightPerHost = 64

/** A vendor could not be asked, or its answer is of no use: it may be asked again. */
export const vendorUnavailable = (word: string): VendorFailure => ({
  _tag: "VendorFailure",
  kind: "unavailable",
  word: word.slice(0, 200)
})

/** Answers that say nothing of the request: the vendor's own failures, and that it was asked too often. */
const isTransient = (status: number): boolean => status >= 500 || status === 429 || status === 408

export class VendorHttp extends Context.Service<VendorHttp, {
  /** Returns every answer except those about the vendor's own availability: the protocol interprets a status of 4xx. */
  readonly send: SendToVendor
}>()("pitboss/integrations/VendorHttp") {
  static readonly layer = Layer.effect(
    VendorHttp,
    Effect.gen(function*() {
      const { providerAllowInsecure: allowInsecure } = yield* Settings
      const scope = yield* Scope.Scope
      const guarded = { allowInsecure, connections: maxInFlightPerHost }
      const forAnswers = yield* makeGuardedClient({ ...guarded, maxAnswerBytes })
      const forLists = yield* makeGuardedClient({ ...guarded, maxAnswerBytes: maxListBytes })
      // Kept: inFlight, total. Requests to vendors under way. Several nodes: its own: a vendor meets at most the bound times the nodes.
      const inFlight = new Map<string, number>()
      let total = 0

      const begin = (host: string): boolean => {
        const running = inFlight.get(host) ?? 0
        if (total >= maxInFlight || running >= maxInFlightPerHost) return false
        total++
        inFlight.set(host, running + 1)
        return true
      }
      const end = (host: string) =>
        Effect.sync(() => {
          total--
          const running = inFlight.get(host) ?? 0
          if (running <= 1) inFlight.delete(host)
          else inFlight.set(host, running - 1)
        })

      const attempt = (request: HttpClientRequest.HttpClientRequest, isList: boolean) =>
        Effect.gen(function*() {
          const response = yield* (isList ? forLists : forAnswers).execute(request)
          const { headers, status } = response
          return { status, body: yield* response.text, header: (name) => headers[name] } satisfies VendorResponse
        }).pipe(
          Effect.mapError(({ reason }) => {
            const word = connectionError(reason.cause)
            return word === "too_large" ? tooLarge(isList) : vendorUnavailable(word)
          }),
          Effect.timeoutOption(requestTime),
          Effect.flatMap(Option.match({
            onNone: () => Effect.fail(vendorUnavailable("timeout")),
            onSome: (response) =>
              isTransient(response.status)
                ? Effect.fail(vendorUnavailable(`HTTP ${response.status}`))
                : Effect.succeed(response)
          })),
          Effect.provideService(HttpClient.TracerDisabledWhen, () => true)
        )

      const send: SendToVendor = Effect.fnUntraced(function*({ body, headers, isList = false, method, url }) {
        if (targetProblem(url, allowInsecure) !== undefined) {
          return yield* Effect.fail(vendorUnavailable("target_refused"))
        }
        const { host } = new URL(url)
        if (!begin(host)) return yield* Effect.fail(vendorUnavailable("too many calls to the vendor are running"))
        const { "content-type": contentType = "application/json", ...others } = headers
        const request = method === "GET"
          ? HttpClientRequest.get(url, { headers: others })
          : HttpClientRequest.post(url, { headers: others, body: HttpBody.text(body ?? "", contentType) })
        // a fiber of its own: its time-out works where its caller is not to be interrupted
        const running = yield* Effect.forkIn(
          Effect.ensuring(Effect.interruptible(attempt(request, isList)), end(host)),
          scope
        )
        const exit = yield* Fiber.await(running)
        return Exit.isSuccess(exit) || !Exit.hasInterrupts(exit)
          ? yield* exit
          : yield* Effect.fail(vendorUnavailable("the service is shutting down"))
      })

      return VendorHttp.of({ send })
    })
  )
}
