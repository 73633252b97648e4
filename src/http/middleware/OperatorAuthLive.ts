import { Clock, Context, Effect, Layer } from "effect"
import { HttpServerRequest } from "effect/http"
import { RequiredFeature, RequiredScope } from "../../contract/Annotations.ts"
import { CurrentOperator, OperatorAuth } from "../../contract/Middleware.ts"
import { clientAddress, isWithin, networks } from "../../auth/Addresses.ts"
import {
  addressNotAllowed,
  invalidKey,
  invalidSignature,
  missingCredentials,
  refuseInactiveKey,
  refuseNonce,
  refuseTimestamp,
  replayedRequest,
  type SignedHeaders,
  signedHeaders
} from "../../auth/Checks.ts"
import { Credentials, type OperatorCredential } from "../../auth/Credentials.ts"
import { RateLimiter } from "../../auth/RateLimiter.ts"
import { ReplayStore } from "../../auth/ReplayStore.ts"
import { verify } from "../../auth/Signature.ts"
import type { Scope } from "../../domain/Operator.ts"
import { type Refusal, refuse } from "../../domain/Refusal.ts"
import { Settings } from "../../platform/Settings.ts"
import { makeAnswering } from "./Answering.ts"
import { signedBody } from "../SignedBody.ts"
import { rateLimited, refuseFeature, withRateLimitHeaders } from "../RateLimitHeaders.ts"
import { AnonymousLimits } from "../AnonymousLimits.ts"
import { targetOf } from "../RequestTarget.ts"

const noCredentials = missingCredentials("X-Api-Key")

const refuseScope = (held: ReadonlyArray<Scope>, scope: Scope | undefined) =>
  scope === undefined || held.includes(scope)
    ? undefined
    : refuse("INSUFFICIENT_SCOPE", `The key needs the scope ${scope}.`, { required_scopes: [scope] })

/** Every check of an operator's request in its order, and the rate-limit headers. */
export const OperatorAuthLive = Layer.effect(
  OperatorAuth,
  Effect.gen(function*() {
    const credentials = yield* Credentials
    const replays = yield* ReplayStore
    const limiter = yield* RateLimiter
    const anonymousLimits = yield* AnonymousLimits
    const { answering, counting } = yield* makeAnswering("operator")
    const proxies = networks((yield* Settings).trustProxy)

    const comesFromElsewhere = (request: HttpServerRequest.HttpServerRequest, allowed: OperatorCredential["allowed"]) =>
      allowed.length > 0 &&
      !isWithin(
        allowed,
        clientAddress(
          request.remoteAddress._tag === "Some" ? request.remoteAddress.value : undefined,
          request.headers["x-forwarded-for"],
          proxies
        )
      )

    /** Up to the signature, which proves that the request is the key's; fails with the first refusal. */
    const authenticate = Effect.fnUntraced(function*(
      request: HttpServerRequest.HttpServerRequest,
      { nonce, signature, timestamp }: SignedHeaders,
      { caller, signingKey }: OperatorCredential,
      now: number
    ) {
      const refusal = refuseInactiveKey(caller, now) ?? refuseTimestamp(timestamp, now) ?? refuseNonce(nonce)
      if (refusal !== undefined) return yield* Effect.fail(refusal)
      const body = yield* signedBody(request, anonymousLimits)
      const isAuthentic = verify(
        signingKey,
        { method: request.method, uri: targetOf(request), timestamp, nonce, body },
        signature
      )
      if (!isAuthentic) return yield* Effect.fail(invalidSignature)
      if (!replays.remember(signature, now)) return yield* Effect.fail(replayedRequest)
    })

    return OperatorAuth.of((handler, { endpoint, group }) => {
      const annotations = Context.merge(group.annotations, endpoint.annotations)
      const scope = Context.getOrUndefined(annotations, RequiredScope)
      const feature = Context.getOrUndefined(annotations, RequiredFeature)
      const onlyReads = endpoint.method === "GET"

      const serve = Effect.fnUntraced(function*(
        request: HttpServerRequest.HttpServerRequest,
        headers: SignedHeaders,
        credential: OperatorCredential,
        now: number
      ) {
        yield* authenticate(request, headers, credential, now)
        const { allowed, caller } = credential
        const elsewhere: Refusal | undefined = comesFromElsewhere(request, allowed) ? addressNotAllowed : undefined
        if (elsewhere === undefined) {
          const status = limiter.take(caller.apiKey.id, caller.apiKey.rateLimitPerMinute, now)
          // a request over the limit is not even written to the replay store
          if (!status.isAllowed) return yield* Effect.fail(rateLimited(status, now))
        }
        const noted = replays.write(headers.signature, now)
        const refusal = elsewhere ?? refuseScope(caller.apiKey.scopes, scope) ?? refuseFeature(caller.operator, feature)
        if (refusal !== undefined || !onlyReads) yield* noted
        if (refusal !== undefined) return yield* Effect.fail(refusal)
        // failures are answered inside, where log lines carry the caller
        const provided = Effect.provideService(answering()(handler), CurrentOperator, caller)
        if (!onlyReads) return yield* provided
        // a read runs while the signature is written; its answer waits for that
        const exit = yield* Effect.exit(provided)
        yield* noted
        return yield* exit
      })

      const run = Effect.gen(function*() {
        const request = yield* HttpServerRequest.HttpServerRequest
        const headers = signedHeaders(request.headers, "x-api-key")
        if (headers === undefined) return yield* counting(request)(Effect.fail(noCredentials))
        const credential = yield* credentials.operator(headers.key)
        if (credential === undefined) return yield* counting(request, headers.key)(Effect.fail(invalidKey))
        const now = yield* Clock.currentTimeMillis
        const response = yield* answering()(
          counting(request, headers.key)(serve(request, headers, credential, now))
        )
        return withRateLimitHeaders(limiter, response, credential.caller.apiKey, yield* Clock.currentTimeMillis)
      }).pipe(answering())

      // a caller that disconnects must not interrupt a write
      return onlyReads ? run : Effect.uninterruptible(run)
    })
  })
)
