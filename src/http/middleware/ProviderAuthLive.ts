import { Clock, Context, Effect, Layer } from "effect"
import { HttpServerRequest } from "effect/http"
import { BoundedList, RetryAfterFailure } from "../../contract/Annotations.ts"
import { CurrentProvider, ProviderAuth } from "../../contract/Middleware.ts"
import { clientAddress, isWithin, networks } from "../../auth/Addresses.ts"
import {
  addressNotAllowed,
  invalidKey,
  invalidSignature,
  missingCredentials,
  refuseNonce,
  refuseTimestamp,
  signedHeaders
} from "../../auth/Checks.ts"
import { Credentials } from "../../auth/Credentials.ts"
import { verify } from "../../auth/Signature.ts"
import { Settings } from "../../platform/Settings.ts"
import { withFormRules } from "../FormRules.ts"
import { Endpoints } from "../Endpoints.ts"
import { makeAnswering } from "./Answering.ts"
import { AnonymousLimits } from "../AnonymousLimits.ts"
import { signedBody } from "../SignedBody.ts"
import { targetOf } from "../RequestTarget.ts"

const noCredentials = missingCredentials("X-Provider-Key")

/**
 * Authenticates a provider's request, check by check in order. Without replay protection or a rate: retries are idempotent by their
 * transaction ids. A deactivated provider may settle its open rounds; the rules of settlement refuse its new bets. Every refusal carries the
 * next step.
 */
export const ProviderAuthLive = Layer.effect(
  ProviderAuth,
  Effect.gen(function*() {
    const credentials = yield* Credentials
    const endpoints = yield* Endpoints
    const anonymousLimits = yield* AnonymousLimits
    const { answering: answeringWith, counting } = yield* makeAnswering("provider")
    const proxies = networks((yield* Settings).trustProxy)

    return ProviderAuth.of((handler, { endpoint, group }) => {
      const annotations = Context.merge(group.annotations, endpoint.annotations)
      const onFailure = Context.getOrUndefined(annotations, RetryAfterFailure) ?? "same_request"
      const withForm = withFormRules(handler, Effect.void, Context.getOrUndefined(annotations, BoundedList))

      const answering = answeringWith(onFailure)

      const serve = Effect.fnUntraced(function*(request: HttpServerRequest.HttpServerRequest) {
        const headers = signedHeaders(request.headers, "x-provider-key")
        if (headers === undefined) return yield* Effect.fail(noCredentials)
        const { key, nonce, signature, timestamp } = headers
        const now = yield* Clock.currentTimeMillis
        const credential = credentials.rememberedProvider(key, now) ?? (yield* credentials.provider(key))
        if (credential === undefined) return yield* Effect.fail(invalidKey)
        const { allowed, provider, signingKey } = credential
        const refusal = refuseTimestamp(timestamp, now) ?? refuseNonce(nonce)
        if (refusal !== undefined) return yield* Effect.fail(refusal)
        const body = yield* signedBody(request, anonymousLimits)
        const isAuthentic = verify(
          signingKey,
          { method: request.method, uri: targetOf(request), timestamp, nonce, body },
          signature
        )
        if (!isAuthentic) return yield* Effect.fail(invalidSignature)
        if (allowed.length > 0) {
          const { remoteAddress } = request
          const peer = remoteAddress._tag === "Some" ? remoteAddress.value : undefined
          if (!isWithin(allowed, clientAddress(peer, request.headers["x-forwarded-for"], proxies))) {
            return yield* Effect.fail(addressNotAllowed)
          }
        }
        // failures are answered inside, where log lines carry the caller
        return yield* Effect.provideService(answering(withForm), CurrentProvider, provider)
      })

      const run = answering(Effect.flatMap(
        HttpServerRequest.HttpServerRequest,
        (request) => counting(request, request.headers["x-provider-key"])(serve(request))
      ))

      // a provider that disconnects must not interrupt a write
      const serving = endpoint.method === "GET" ? run : Effect.uninterruptible(run)
      endpoints.add(endpoint, serving)
      return serving
    })
  })
)
