/** Authenticates operators' requests, check by check in a fixed order, and adds the rate-limit headers. */
import { Clock, Context, Effect, Exit, Layer } from "effect"
import { HttpServerRequest, type HttpServerResponse } from "effect/http"
import { IdempotentBy, RequiredFeature, RequiredScope } from "../../contract/common/Annotations.ts"
import { CurrentOperator, OperatorAuth } from "../../contract/common/Middleware.ts"
import { mayStream } from "../../contract/common/StreamedAnswers.ts"
import { clientAddress, isWithin, networks } from "../../auth/Addresses.ts"
import {
  addressNotAllowed,
  invalidKey,
  invalidSignature,
  missingCredentials,
  refuseInactiveKey,
  refuseNonce,
  refuseTimestamp,
  type SignedHeaders,
  signedHeaders
} from "../../auth/Checks.ts"
import { Credentials, type OperatorCredential } from "../../auth/Credentials.ts"
import { KeyUses } from "../../auth/KeyUses.ts"
import { RateLimiter, type RateLimitStatus } from "../../auth/RateLimiter.ts"
import { ReplayStore } from "../../auth/ReplayStore.ts"
import { verify } from "../../auth/Signature.ts"
import type { Operator, Scope } from "../../domain/state/Operator.ts"
import type { RenderedReply } from "../../domain/state/Idempotency.ts"
import { type Refusal, refuse } from "../../domain/Refusal.ts"
import { replayedRequest, type StoredSignature } from "../../domain/state/AcceptedSignature.ts"
import type { Recorded } from "../../domain/state/StoringSignature.ts"
import { Settings } from "../../platform/Settings.ts"
import { OperatorClocks } from "../../store/OperatorClocks.ts"
import { leavesOutcomeOpen } from "../../store/PlayerActors.ts"
import { Endpoints, type Start, type StartRead } from "../Endpoints.ts"
import { CurrentPrincipal, Forwarding } from "../Forwarding.ts"
import { makeAnswering } from "./Answering.ts"
import { signedBody } from "../SignedBody.ts"
import { rateLimited, rateLimitLines, refuseFeature, withRateLimitHeaders } from "../RateLimitHeaders.ts"
import { AnonymousLimits } from "../AnonymousLimits.ts"
import { targetOf } from "../RequestTarget.ts"

const noCredentials = missingCredentials("X-Api-Key")

const refuseScope = (held: ReadonlyArray<Scope>, scope: Scope | undefined) =>
  scope === undefined || held.includes(scope)
    ? undefined
    : refuse("INSUFFICIENT_SCOPE", `The key needs the scope ${scope}.`, { required_scopes: [scope] })

/** True for an effect of unknown outcome, or one whose answer could not be made: its signature may be stored with it. */
const mayBeCommitted = (end: Exit.Exit<unknown, Refusal | StoredSignature>): boolean => {
  const failure = Exit.findErrorOption(end)
  return Exit.hasDies(end) ||
    failure._tag === "Some" && failure.value._tag === "Refusal" && leavesOutcomeOpen(failure.value)
}

/** Whoever is no sandbox does not learn what sandboxes have. */
const noSuchPath = refuse("NOT_FOUND", "There is no such path.")

const refuseLive = ({ isSandbox }: Operator, scope: Scope | undefined) =>
  scope === "sandbox" && !isSandbox ? noSuchPath : undefined

type Served = Effect.Effect<HttpServerResponse.HttpServerResponse, unknown, HttpServerRequest.HttpServerRequest>

export const OperatorAuthLive = Layer.effect(
  OperatorAuth,
  Effect.gen(function*() {
    const credentials = yield* Credentials
    const endpoints = yield* Endpoints
    const clock = yield* Clock.Clock
    const clocks = yield* OperatorClocks
    const replays = yield* ReplayStore
    const limiter = yield* RateLimiter
    const uses = yield* KeyUses
    const anonymousLimits = yield* AnonymousLimits
    const forwarding = yield* Forwarding
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

    return OperatorAuth.of((handler, { endpoint, group }) => {
      const annotations = Context.merge(group.annotations, endpoint.annotations)
      const scope = Context.getOrUndefined(annotations, RequiredScope)
      const feature = Context.getOrUndefined(annotations, RequiredFeature)
      const about = { idField: Context.getOrUndefined(annotations, IdempotentBy) }
      const onlyReads = endpoint.method === "GET"
      const isStreamed = mayStream(endpoint)
      // failures are answered inside, so that log lines carry the caller
      const asServed = <E, R>(
        caller: OperatorCredential["caller"],
        handled: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>
      ) =>
        clocks.around(caller.operator.id)(Effect.provideService(
          answering(isStreamed ? handled : forwarding.around(handled, caller.apiKey.key, about)),
          CurrentOperator,
          caller
        ))
      const served = (caller: OperatorCredential["caller"]) => asServed(caller, handler)

      /** Serves a request authenticated by another node, as the operator of the key that it names. */
      const serveForwarded = (key: string) => {
        const remembered = credentials.rememberedOperator(key, clock.currentTimeMillisUnsafe())
        return remembered !== undefined
          ? served(remembered.caller)
          : Effect.flatMap(
            credentials.operator(key),
            (found) => found === undefined ? Effect.fail(invalidKey) : served(found.caller)
          )
      }

      /** Refuses by the key and the head of a request, before its body is read. Changes nothing. */
      const refuseHead = (
        { caller }: OperatorCredential,
        { nonce, timestamp }: SignedHeaders,
        now: number
      ): Refusal | undefined => refuseInactiveKey(caller, now) ?? refuseTimestamp(timestamp, now) ?? refuseNonce(nonce)

      /**
       * All checks of a request that was read, in their order, in one form for requests with and without a fiber: `take` counts it against the
       * key's rate, `end` is given the first refusal. `isStored`: the signature is to be stored, with which the request was accepted once.
       */
      const judge = <Outcome>(
        request: HttpServerRequest.HttpServerRequest,
        headers: SignedHeaders,
        credential: OperatorCredential,
        now: number,
        body: Uint8Array,
        take: (use: (status: RateLimitStatus) => Outcome) => Outcome,
        end: (refusal: Refusal | undefined, isStored: boolean) => Outcome
      ): Outcome => {
        const { allowed, caller: { apiKey, operator }, signingKey } = credential
        const { nonce, signature, timestamp } = headers
        const refusal = refuseHead(credential, headers, now)
        if (refusal !== undefined) return end(refusal, false)
        const message = { method: request.method, uri: targetOf(request), timestamp, nonce, body }
        if (!verify(signingKey, message, signature)) return end(invalidSignature, false)
        if (!replays.remember(signature, now)) return end(replayedRequest, false)
        if (comesFromElsewhere(request, allowed)) return end(addressNotAllowed, true)
        uses.note(apiKey.id, now)
        return take((status) =>
          status.isAllowed
            ? end(
              refuseLive(operator, scope) ?? refuseScope(apiKey.scopes, scope) ?? refuseFeature(operator, feature),
              true
            )
            // a request over the limit is not even written to the replay store
            : end(rateLimited(status, now), false)
        )
      }

      type Judged = Effect.Effect<
        HttpServerResponse.HttpServerResponse,
        Refusal | StoredSignature,
        HttpServerRequest.HttpServerRequest
      >

      /** Judges a request that was read, and serves it; fails with the first refusal. */
      const serveRead = (
        request: HttpServerRequest.HttpServerRequest,
        headers: SignedHeaders,
        credential: OperatorCredential,
        now: number,
        body: Uint8Array
      ): Judged => {
        const { caller } = credential
        const { id, rateLimitPerMinute } = caller.apiKey
        return judge<Judged>(
          request,
          headers,
          credential,
          now,
          body,
          (use) => Effect.flatMap(limiter.take(id, rateLimitPerMinute, now), use),
          (refusal, isStored) => {
            const noted = isStored ? replays.write(headers.signature, now) : Effect.void
            if (refusal !== undefined) return Effect.andThen(noted, Effect.fail(refusal))
            const provided = served(caller)
            return onlyReads
              // a read runs while the signature is written; its answer waits for the write
              ? Effect.flatMap(Effect.exit(provided), (exit) => Effect.andThen(noted, exit))
              : Effect.andThen(noted, provided)
          }
        )
      }

      const serve = (
        request: HttpServerRequest.HttpServerRequest,
        headers: SignedHeaders,
        credential: OperatorCredential,
        now: number
      ): Judged => {
        const refusal = refuseHead(credential, headers, now)
        return refusal === undefined
          ? Effect.flatMap(
            signedBody(request, anonymousLimits),
            (body) => serveRead(request, headers, credential, now, body)
          )
          : Effect.fail(refusal)
      }

      /** Answers a request with a known key, refusals included. */
      const answeredAs = (
        { caller: { apiKey } }: OperatorCredential,
        request: HttpServerRequest.HttpServerRequest,
        served: Judged
      ) =>
        Effect.map(
          answering(
            counting(request, apiKey.key)(
              Effect.catchTag(
                served,
                "StoredSignature",
                (stored) => Effect.flip(replays.refusalOf(request.headers["x-signature"] ?? "", stored))
              )
            )
          ),
          (response) => withRateLimitHeaders(limiter, response, apiKey, clock.currentTimeMillisUnsafe())
        )

      /**
       * Starts a request without a fiber, when its key is in memory and its rate is counted here: a write, which goes on without one when its command
       * needs no look-up, or a read that needs none.
       */
      const start: Start = (found, { command, read }, ending) => {
        const { "x-api-key": key, "x-nonce": nonce, "x-signature": signature, "x-timestamp": timestamp } =
          found.source.headers
        const isPlain = typeof key === "string" && typeof signature === "string" && typeof timestamp === "string" &&
          typeof nonce !== "object"
        const { takeAtOnce } = limiter
        if (onlyReads && read === undefined || !isPlain || takeAtOnce === undefined) return false
        const headers = signedHeaders(
          { "x-api-key": key, "x-timestamp": timestamp, "x-signature": signature, "x-nonce": nonce },
          "x-api-key"
        )
        const now = clock.currentTimeMillisUnsafe()
        const credential = headers && credentials.rememberedOperator(headers.key, now)
        if (headers === undefined || credential === undefined) return false
        const { caller } = credential
        const { apiKey } = caller
        const startRead = onlyReads ? read?.(caller, found) : undefined
        if (onlyReads && startRead === undefined) return false
        const answer = (reply: RenderedReply) =>
          ending.answer(found, () => rateLimitLines(limiter, apiKey, clock.currentTimeMillisUnsafe()), reply)
        const serveRest = (rest: Judged) =>
          ending.serve(found, Effect.uninterruptible(answeredAs(credential, found.request, rest)))
        /** Goes on once the signature is stored by itself: that of a request without an effect, or with one of its handler. */
        const record = (goOn: () => void, mayBeStored = false) =>
          replays.post(
            signature,
            now,
            (exit) => Exit.isSuccess(exit) || mayBeStored ? goOn() : serveRest(Effect.failCause(exit.cause))
          )
        const answerFailure = ({ cause }: Exit.Failure<unknown, Refusal | StoredSignature>) =>
          serveRest(asServed(caller, Effect.failCause(cause)))
        const finish = (end: Exit.Exit<Recorded<RenderedReply>, Refusal | StoredSignature>) => {
          if (Exit.isFailure(end)) return record(() => answerFailure(end), mayBeCommitted(end))
          const { isRecorded, reply } = end.value
          return isRecorded ? answer(reply) : record(() => answer(reply))
        }
        /** Runs the read while the signature is written; its answer waits for the write. */
        const serveStarted = (startRead: StartRead<RenderedReply>) => {
          let end: Exit.Exit<RenderedReply, Refusal> | undefined
          let isRecorded = false
          const conclude = () => {
            if (!isRecorded || end === undefined) return
            return Exit.isSuccess(end) ? answer(end.value) : answerFailure(end)
          }
          record(() => {
            isRecorded = true
            conclude()
          })
          startRead((exit) => {
            end = exit
            conclude()
          })
        }
        judge<void>(
          found.request,
          headers,
          credential,
          now,
          found.request.body,
          (use) => use(takeAtOnce(apiKey.id, apiKey.rateLimitPerMinute, now)),
          (refusal, isStored) => {
            if (refusal !== undefined) {
              const refuse = () => serveRest(Effect.fail(refusal))
              return isStored ? record(refuse) : refuse()
            }
            if (startRead !== undefined) return serveStarted(startRead)
            if (command?.(caller, found, { signature, acceptedAt: now }, finish) !== true) {
              record(() => serveRest(served(caller)))
            }
          }
        )
        return true
      }

      const runHere = Effect.flatMap(HttpServerRequest.HttpServerRequest, (request): Served => {
        const headers = signedHeaders(request.headers, "x-api-key")
        if (headers === undefined) return counting(request)(Effect.fail(noCredentials))
        const { key } = headers
        const serveAs = (credential: OperatorCredential, now: number) =>
          answeredAs(credential, request, serve(request, headers, credential, now))
        const now = clock.currentTimeMillisUnsafe()
        const remembered = credentials.rememberedOperator(key, now)
        return remembered === undefined
          ? Effect.flatMap(credentials.operator(key), (credential) =>
            credential === undefined
              ? counting(request, key)(Effect.fail(invalidKey))
              : serveAs(credential, clock.currentTimeMillisUnsafe()))
          : serveAs(remembered, now)
      })

      const run = answering(Effect.flatMap(
        CurrentPrincipal,
        (key): Served => key === undefined ? runHere : serveForwarded(key)
      ))

      // a disconnect must not interrupt a write
      const serving = onlyReads ? run : Effect.uninterruptible(run)
      endpoints.add(endpoint, serving, isStreamed ? { isDirect: false } : { start })
      return serving
    })
  })
)
