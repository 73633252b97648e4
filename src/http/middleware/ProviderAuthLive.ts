import { Clock, Context, Effect, Layer } from "effect"
import { HttpServerRequest, type HttpServerResponse } from "effect/http"
import { BoundedList, RetryAfterFailure } from "../../contract/common/Annotations.ts"
import { CurrentProvider, ProviderAuth } from "../../contract/common/Middleware.ts"
import { clientAddress, isWithin, networks } from "../../auth/Addresses.ts"
import {
  addressNotAllowed,
  invalidKey,
  invalidSignature,
  missingCredentials,
  refuseNonce,
  refuseTimestamp,
  type SignedHeaders,
  signedHeaders
} from "../../auth/Checks.ts"
import { Credentials, type ProviderCredential } from "../../auth/Credentials.ts"
import { verify } from "../../auth/Signature.ts"
import type { Provider } from "../../domain/state/Operator.ts"
import type { Refusal } from "../../domain/Refusal.ts"
import { Settings } from "../../platform/Settings.ts"
import { withFormRules } from "../FormRules.ts"
import { Endpoints } from "../Endpoints.ts"
import { CurrentPrincipal, Forwarding } from "../Forwarding.ts"
import { makeAnswering } from "./Answering.ts"
import { AnonymousLimits } from "../AnonymousLimits.ts"
import { signedBody } from "../SignedBody.ts"
import { originOf } from "../RequestOrigin.ts"
import { targetOf } from "../RequestTarget.ts"

const noCredentials = missingCredentials("X-Provider-Key")

type Served = Effect.Effect<HttpServerResponse.HttpServerResponse, Refusal, HttpServerRequest.HttpServerRequest>

/**
 * Authenticates a provider's request, check by check in order. Has no replay protection and no rate limit: retries are idempotent by their
 * transaction ids. A deactivated provider may settle its open rounds; the settlement rules refuse its new bets. Every refusal carries
 * retry advice.
 */
export const ProviderAuthLive = Layer.effect(
  ProviderAuth,
  Effect.gen(function*() {
    const credentials = yield* Credentials
    const endpoints = yield* Endpoints
    const clock = yield* Clock.Clock
    const anonymousLimits = yield* AnonymousLimits
    const forwarding = yield* Forwarding
    const { answering: answeringWith, counting } = yield* makeAnswering("provider")
    const proxies = networks((yield* Settings).trustProxy)

    return ProviderAuth.of((handler, { endpoint, group }) => {
      const annotations = Context.merge(group.annotations, endpoint.annotations)
      const onFailure = Context.getOrUndefined(annotations, RetryAfterFailure) ?? "same_request"
      const withForm = withFormRules(handler, { list: Context.getOrUndefined(annotations, BoundedList) })

      const answering = answeringWith(onFailure)

      // failures are answered inside, so that log lines carry the caller
      const served = (provider: Provider) =>
        Effect.provideService(
          answering(forwarding.around(withForm, provider.key, { hasId: true })),
          CurrentProvider,
          provider
        )

      /** Serves a request authenticated by another node, as the provider of the key that it names. */
      const serveForwarded = (key: string) =>
        Effect.flatMap(
          credentials.provider(key),
          (found) => found === undefined ? Effect.fail(invalidKey) : served(found.provider)
        )

      const serveRead = (
        request: HttpServerRequest.HttpServerRequest,
        { nonce, signature, timestamp }: SignedHeaders,
        { allowed, provider, signingKey }: ProviderCredential,
        body: Uint8Array
      ): Served => {
        const message = { method: request.method, uri: targetOf(request), timestamp, nonce, body }
        if (!verify(signingKey, message, signature)) return Effect.fail(invalidSignature)
        if (allowed.length > 0) {
          const { forwardedFor, peer } = originOf(request)
          if (!isWithin(allowed, clientAddress(peer, forwardedFor, proxies))) return Effect.fail(addressNotAllowed)
        }
        return served(provider)
      }

      const serveAs = (
        request: HttpServerRequest.HttpServerRequest,
        headers: SignedHeaders,
        credential: ProviderCredential | undefined,
        now: number
      ): Served => {
        if (credential === undefined) return Effect.fail(invalidKey)
        const refusal = refuseTimestamp(headers.timestamp, now) ?? refuseNonce(headers.nonce)
        return refusal === undefined
          ? Effect.flatMap(
            signedBody(request, anonymousLimits),
            (body) => serveRead(request, headers, credential, body)
          )
          : Effect.fail(refusal)
      }

      const serve = (request: HttpServerRequest.HttpServerRequest): Served => {
        const headers = signedHeaders(request.headers, "x-provider-key")
        if (headers === undefined) return Effect.fail(noCredentials)
        const now = clock.currentTimeMillisUnsafe()
        const remembered = credentials.rememberedProvider(headers.key, now)
        return remembered === undefined
          ? Effect.flatMap(credentials.provider(headers.key), (found) => serveAs(request, headers, found, now))
          : serveAs(request, headers, remembered, now)
      }

      const runHere = Effect.flatMap(
        HttpServerRequest.HttpServerRequest,
        (request) => counting(request, request.headers["x-provider-key"])(serve(request))
      )

      const run = answering(Effect.flatMap(
        CurrentPrincipal,
        (key) => key === undefined ? runHere : serveForwarded(key)
      ))

      // a disconnect must not interrupt a write
      const serving = endpoint.method === "GET" ? run : Effect.uninterruptible(run)
      endpoints.add(endpoint, serving)
      return serving
    })
  })
)
