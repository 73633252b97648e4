/**
 * Express lane: the hot calls of game providers, served straight from the socket's request, because the router and the response pipeline
 * take more of a bet's processor time than everything else (`docs/decisions/0009-express-lane.md`).
 *
 * It takes a POST to one of its paths, of a provider whose key is in memory and not restricted to addresses, with a timestamp in range and a
 * JSON body of known size. All other requests go through the router before a byte of the body is read. Both ways answer with the same
 * parts, and a test compares them.
 */
import { Cause, Clock, Context, Effect, Exit, Layer, Result, Schema } from "effect"
import type { IncomingMessage, ServerResponse } from "node:http"
import { invalidSignature, refuseNonce, refuseTimestamp, signedHeaders } from "../auth/Checks.ts"
import { Credentials, type ProviderCredential } from "../auth/Credentials.ts"
import { verify } from "../auth/Signature.ts"
import type { Provider } from "../domain/Operator.ts"
import { type Refusal, refuseFields } from "../domain/Refusal.ts"
import type { ListBound } from "../contract/Annotations.ts"
import { refuseLongList, refuseOverfull } from "./BodyBounds.ts"
import { Drain } from "./Drain.ts"
import { fieldIssues } from "../contract/FormErrors.ts"
import { noObject } from "./FormRules.ts"
import { CurrentLaneRequest } from "./LogFields.ts"
import {
  maxBodyBytes,
  refusalBody,
  retryAfterOf,
  type Retry,
  retryOf,
  serverError,
  statusOf,
  withRetry
} from "./Refusals.ts"
import { type Named, RequestIds } from "./RequestIds.ts"
import { readBody, textOf } from "./RequestBody.ts"
import { RequestMetrics } from "./RequestMetrics.ts"
import { makeRequestTraces } from "./RequestTraces.ts"
import { networks } from "../auth/Addresses.ts"
import { Settings } from "../platform/Settings.ts"
import { makeAnswerHeaders, preparedLines } from "./AnswerHeaders.ts"
import { makeContain, makeWriteAnswer } from "./AnswerWriter.ts"
import { AuthenticationFailures } from "./AuthenticationFailures.ts"
import { originOfMessage } from "./RequestOrigin.ts"
import { AnonymousLimits, uncountedBytes } from "./AnonymousLimits.ts"

/** Answers the request and says true, or leaves it untouched and says false. */
export type Take = (request: IncomingMessage, response: ServerResponse) => boolean

export interface Lane {
  readonly path: string
  /** The provider's next step when the service fails. */
  readonly onFailure: Retry
  readonly list: ListBound | undefined
  /** Decodes the body of a call; one that is refused for its form answers so. */
  readonly decode: (provider: Provider, body: unknown) => LaneCall
}

/** A decoded call; its answer is JSON. */
interface LaneCall {
  /**
   * Starts it without a fiber and says true, where nothing has to be looked up first; `done` is called once, perhaps at once. Otherwise says
   * false and has done nothing.
   */
  readonly start: (done: (exit: Exit.Exit<string, Refusal>) => void) => boolean
  readonly run: Effect.Effect<string, Refusal>
}

/** Starts a call without a fiber, as {@link LaneCall}. */
export type Start<Body, A> = (
  provider: Provider,
  body: Body,
  done: (exit: Exit.Exit<A, Refusal>) => void
) => boolean

/** A lane that decodes the body with the contract's schema before it calls. */
export const lane = <Body, A>(
  path: string,
  schema: Schema.Codec<Body, unknown>,
  call: (provider: Provider, body: Body) => Effect.Effect<A, Refusal>,
  options: { readonly onFailure?: Retry; readonly list?: ListBound; readonly start?: Start<Body, A> } = {}
): Lane => {
  const decode = Schema.decodeUnknownResult(schema, { errors: "all" })
  const { start } = options
  return {
    path,
    onFailure: options.onFailure ?? "same_request",
    list: options.list,
    decode: (provider, body) => {
      const decoded = decode(body)
      if (Result.isFailure(decoded)) return refusedCall(refuseFields(fieldIssues(decoded.failure.issue)))
      return {
        start: (done) =>
          start !== undefined && start(provider, decoded.success, (exit) => done(Exit.map(exit, toJson))),
        run: Effect.suspend(() => Effect.map(call(provider, decoded.success), toJson))
      }
    }
  }
}

const refusedCall = (refusal: Refusal): LaneCall => ({
  start: (done) => {
    done(Exit.fail(refusal))
    return true
  },
  run: Effect.fail(refusal)
})

const toJson = (answer: unknown): string => JSON.stringify(answer)

const isJson = (contentType: string | undefined): boolean =>
  contentType === "application/json" || contentType === "application/json; charset=utf-8"

const headerOf = (value: string | ReadonlyArray<string> | undefined): string | undefined =>
  typeof value === "string" ? value : undefined

/** The body as an object; undefined when it is not JSON or not an object. */
const parseObject = (body: Buffer): object | undefined => {
  try {
    const value: unknown = JSON.parse(textOf(body))
    return typeof value === "object" && value !== null && !Array.isArray(value) ? value : undefined
  } catch {
    return undefined
  }
}

const statusOfExit = (exit: Exit.Exit<unknown, Refusal>): number => {
  const failure = Exit.findErrorOption(exit)
  return Exit.isSuccess(exit) ? 200 : failure._tag === "Some" ? statusOf(failure.value) : 500
}

interface Request {
  readonly lane: Lane
  readonly credential: ProviderCredential
  readonly timestamp: string
  readonly nonce: string | undefined
  readonly signature: string
  readonly source: IncomingMessage
  readonly target: ServerResponse
  readonly startedAt: bigint
  /** Releases the reservation of a large body. */
  readonly release: (() => void) | undefined
}

/** The lane of this process, for the server's listener. */
export class ExpressLane extends Context.Service<ExpressLane, { readonly take: Take }>()("pitboss/http/ExpressLane") {
  /** The layer of these lanes. */
  static readonly layerOf = <E, R>(lanes: Effect.Effect<ReadonlyArray<Lane>, E, R>) =>
    Layer.effect(
      ExpressLane,
      Effect.gen(function*() {
        const credentials = yield* Credentials
        const drain = yield* Drain
        const ids = yield* RequestIds
        const failures = yield* AuthenticationFailures
        const anonymousLimits = yield* AnonymousLimits
        const metrics = yield* RequestMetrics
        const clock = yield* Clock.Clock
        const traces = yield* makeRequestTraces
        const write = yield* makeWriteAnswer
        const contain = yield* makeContain
        const answerHeaders = makeAnswerHeaders(networks((yield* Settings).trustProxy))
        const headersFor = ({ headers, socket }: IncomingMessage) =>
          answerHeaders(() => socket.remoteAddress, headerOf(headers["x-forwarded-proto"]))
        const byPath = new Map((yield* lanes).map((one) => [one.path, one]))
        // flat: what a request adds to a deep one would copy it
        const context = Context.makeUnsafe<never>(new Map((yield* Effect.context<never>()).mapUnsafe))
        const fork = Effect.runForkWith(context)

        const answer = (
          { lane, source, startedAt, target }: Request,
          status: number,
          body: string,
          retryAfter?: string
        ) => {
          metrics.observe("POST", lane.path, status, clock.monotonicTimeNanosUnsafe() - startedAt)
          write(
            source,
            target,
            status,
            `${preparedLines(headersFor(source))}content-type: application/json\r\nx-request-id: ${idOf(source)}\r\n${
              retryAfter === undefined ? "" : `retry-after: ${retryAfter}\r\n`
            }`,
            body
          )
        }

        const named = (source: IncomingMessage): Named => ({
          source,
          headers: { "x-request-id": headerOf(source.headers["x-request-id"]) }
        })
        const idOf = (source: IncomingMessage): string => ids.last(named(source))

        const answerRefusal = (request: Request, refusal: Refusal) =>
          answer(
            request,
            statusOf(refusal),
            refusalBody(withRetry(refusal, retryOf(refusal, request.lane.onFailure))),
            retryAfterOf(refusal)
          )

        const traced = ({ lane, source }: Request, called: Effect.Effect<string, Refusal>) =>
          traces === undefined ? called : traces.aroundAnswer(
            { method: "POST", traceparent: headerOf(source.headers["traceparent"]), id: ids.of(named(source)) },
            lane.path,
            called,
            statusOfExit
          )

        const answerDefect = (request: Request, cause: Cause.Cause<unknown>) => {
          fork(
            Effect.logError("request failed", cause).pipe(
              // kept: the answer has the same
              Effect.annotateLogs({
                request_id: ids.of(named(request.source)),
                method: "POST",
                path: request.lane.path
              })
            )
          )
          answerRefusal(request, serverError)
        }

        const finish = (request: Request, exit: Exit.Exit<string, Refusal>) =>
          contain(request.target, () => {
            if (Exit.isSuccess(exit)) return answer(request, 200, exit.value)
            const failure = Exit.findErrorOption(exit)
            if (failure._tag === "Some") answerRefusal(request, failure.value)
            else answerDefect(request, exit.cause)
          })

        /** Whether the call was started without a fiber. */
        const isStarted = (request: Request, call: LaneCall): boolean => {
          if (traces !== undefined) return false
          try {
            return call.start((exit) => finish(request, exit))
          } catch (defect) {
            answerDefect(request, Cause.die(defect))
            return true
          }
        }

        const run = (request: Request, body: Buffer): void => {
          const { credential, lane, nonce, release, signature, source, timestamp } = request
          release?.()
          const message = { method: "POST", uri: lane.path, timestamp, nonce, body }
          if (!verify(credential.signingKey, message, signature)) {
            fork(failures.note("provider", invalidSignature, originOfMessage(source), credential.provider.key))
              .addObserver((exit) => finish(request, Exit.fail(Exit.isSuccess(exit) ? exit.value : invalidSignature)))
            return
          }
          const overfull = refuseOverfull(body)
          if (overfull !== undefined) return answerRefusal(request, overfull)
          const object = parseObject(body)
          if (object === undefined) return answerRefusal(request, noObject)
          const tooLong = lane.list === undefined ? undefined : refuseLongList(object, lane.list)
          if (tooLong !== undefined) return answerRefusal(request, tooLong)
          const call = lane.decode(credential.provider, object)
          if (isStarted(request, call)) return
          const about = { id: () => ids.of(named(source)), path: lane.path, providerId: credential.provider.id }
          const forkAbout = Effect.runForkWith(Context.add(context, CurrentLaneRequest, about))
          forkAbout(Effect.uninterruptible(traced(request, call.run)))
            .addObserver((exit) => finish(request, exit))
        }

        const take: Take = (source, target) => {
          const lane = source.method === "POST" ? byPath.get(source.url ?? "") : undefined
          if (lane === undefined || drain.isDraining()) return false
          const { headers } = source
          const length = Number(headers["content-length"] ?? Number.NaN)
          if (!(length <= maxBodyBytes) || !isJson(headers["content-type"]) || headers.upgrade !== undefined) {
            return false
          }
          const signed = signedHeaders({
            "x-provider-key": headerOf(headers["x-provider-key"]),
            "x-timestamp": headerOf(headers["x-timestamp"]),
            "x-signature": headerOf(headers["x-signature"]),
            "x-nonce": headerOf(headers["x-nonce"])
          }, "x-provider-key")
          if (signed === undefined) return false
          const now = clock.currentTimeMillisUnsafe()
          const credential = credentials.rememberedProvider(signed.key, now)
          if (credential === undefined || credential.allowed.length > 0) return false
          const refusal = refuseTimestamp(signed.timestamp, now) ?? refuseNonce(signed.nonce)
          if (refusal !== undefined) return false
          let release: (() => void) | undefined
          if (length > uncountedBytes) {
            release = anonymousLimits.reserve(originOfMessage(source), length, () => source.destroy())
            if (release === undefined) return false
            source.once("close", release)
          }
          const request = {
            ...signed,
            lane,
            credential,
            source,
            target,
            startedAt: clock.monotonicTimeNanosUnsafe(),
            release
          }
          readBody(source, length, (body) => contain(target, () => run(request, body)))
          return true
        }

        return ExpressLane.of({ take })
      })
    )
}
