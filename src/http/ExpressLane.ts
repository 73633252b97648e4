/**
 * Express lane: the frequent calls of game providers, served from Node.js's request directly, because the router and the response pipeline
 * take more processor time of a bet than all other work (`docs/decisions/0009-express-lane.md`).
 *
 * Accepts a POST to one of its paths by a provider whose key is in memory and has no address allow-list, with a timestamp in range and a
 * JSON body of known size. All other requests go to the router before a byte of the body is read. Both paths share the code of their answers,
 * and a test compares them.
 */
import { Cause, Clock, Context, Effect, Exit, Layer, Result, Schema } from "effect"
import type { IncomingMessage, ServerResponse } from "node:http"
import { invalidSignature, refuseNonce, refuseTimestamp, signedHeaders } from "../auth/Checks.ts"
import { Credentials, type ProviderCredential } from "../auth/Credentials.ts"
import { verify } from "../auth/Signature.ts"
import type { Provider } from "../domain/state/Operator.ts"
import { type Answer, type Answered, Forwarder, type NotAnswered, notOwned } from "../cluster/Forwarder.ts"
import { elsewhereOf } from "../store/PlayerActors.ts"
import { type Refusal, refuseFields, temporarilyUnavailable } from "../domain/Refusal.ts"
import type { ListBound } from "../contract/common/Annotations.ts"
import { refuseLongList, refuseOverfull } from "./BodyBounds.ts"
import { Drain } from "./Drain.ts"
import { fieldIssues, parseObject } from "../contract/common/FormErrors.ts"
import { noObject } from "./FormRules.ts"
import { refuseUnanswered, servedBy } from "./Forwarding.ts"
import { CurrentLaneRequest, type LaneRequest } from "./LogFields.ts"
import {
  draining,
  maxBodyBytes,
  refusalBody,
  type Retry,
  retryAfterOf,
  retryOf,
  serverError,
  statusOf,
  withRetry
} from "./Refusals.ts"
import { RequestIds } from "./RequestIds.ts"
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

/** Channel of calls forwarded by other nodes about players of this node. */
const channel = "lane"

/** Answers the request and returns true, or leaves it untouched and returns false. */
export type Take = (request: IncomingMessage, response: ServerResponse) => boolean

export interface Lane {
  readonly path: string
  /** Retry advice to the provider when the service fails. */
  readonly onFailure: Retry
  readonly list: ListBound | undefined
  /** Player of a call by its undecoded body, undefined when not named: the node that owns the player decodes it. */
  readonly playerOf: PlayerOf
  /** Decodes the body of a call; a malformed body gives a call that answers with the refusal. */
  readonly decode: (provider: Provider, body: unknown) => LaneCall
}

/** A decoded call; its answer is JSON. */
interface LaneCall {
  /**
   * Starts the call without a fiber and returns true when no lookup is needed; `done` is called once, perhaps synchronously. Otherwise returns
   * false, with nothing done.
   */
  readonly start: (done: (exit: Exit.Exit<string, Refusal>) => void) => boolean
  readonly run: Effect.Effect<string, Refusal>
}

type PlayerOf = (provider: Provider, body: object) => number | undefined

/** Starts a call without a fiber, as in {@link LaneCall}. */
export type Start<Body, A> = (
  provider: Provider,
  body: Body,
  done: (exit: Exit.Exit<A, Refusal>) => void
) => boolean

/** A lane that decodes the body with the contract's schema before the call. */
export const lane = <Body, A>(
  path: string,
  schema: Schema.Codec<Body, unknown>,
  call: (provider: Provider, body: Body) => Effect.Effect<A, Refusal>,
  options: {
    readonly onFailure?: Retry
    readonly list?: ListBound
    readonly playerOf?: PlayerOf
    readonly start?: Start<Body, A>
  } = {}
): Lane => {
  // the decoder that names every wrong field takes a slower way for right ones too
  const decode = Schema.decodeUnknownResult(schema)
  const explain = Schema.decodeUnknownResult(schema, { errors: "all" })
  const { start } = options
  return {
    path,
    onFailure: options.onFailure ?? "same_request",
    list: options.list,
    playerOf: options.playerOf ?? (() => undefined),
    decode: (provider, body) => {
      const quick = decode(body)
      const decoded = Result.isSuccess(quick) ? quick : explain(body)
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

/** An unwritten answer. */
interface Outcome {
  readonly status: number
  readonly body: string
  readonly retryAfter: string | undefined
  /** Node that answered; undefined for this node. */
  readonly node?: string
}

const refusing = ({ onFailure }: Lane, refusal: Refusal): Outcome => ({
  status: statusOf(refusal),
  body: refusalBody(withRetry(refusal, retryOf(refusal, onFailure))),
  retryAfter: retryAfterOf(refusal)
})

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
  /** Request id; undefined until first used. */
  id: string | undefined
  /** Releases the reservation of a large body. */
  readonly release: (() => void) | undefined
}

/** A call authenticated by this or another node. */
interface Performed {
  readonly about: LaneRequest
  readonly lane: Lane
  readonly object: object
  readonly provider: Provider
  readonly traceparent: string | undefined
}

/** The lane of this process, for the server's listener. */
export class ExpressLane extends Context.Service<ExpressLane, { readonly take: Take }>()("pitboss/http/ExpressLane") {
  /** Layer of these lanes. */
  static readonly layerOf = <E, R>(lanes: Effect.Effect<ReadonlyArray<Lane>, E, R>) =>
    Layer.effect(
      ExpressLane,
      Effect.gen(function*() {
        const credentials = yield* Credentials
        const forwarder = yield* Forwarder
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
        // flat: adding to a nested context would copy it per request
        const context = Context.makeUnsafe<never>(new Map((yield* Effect.context<never>()).mapUnsafe))
        const fork = Effect.runForkWith(context)

        const idOf = (request: Request): string => {
          const { headers } = request.source
          return request.id ??= ids.last({
            source: request.source,
            headers: { "x-request-id": headerOf(headers["x-request-id"]) }
          })
        }

        const answer = (
          request: Request,
          { body, node = forwarder.node, retryAfter, status }: Outcome
        ) => {
          const { lane, source, startedAt, target } = request
          metrics.observe("POST", lane.path, status, clock.monotonicTimeNanosUnsafe() - startedAt)
          const retry = retryAfter === undefined ? "" : `retry-after: ${retryAfter}\r\n`
          const served = node === undefined ? "" : `${servedBy}: ${node}\r\n`
          const about = `content-type: application/json\r\nx-request-id: ${idOf(request)}\r\n`
          write(source, target, status, preparedLines(headersFor(source)) + about + retry + served, body)
        }

        const answerRefusal = (request: Request, refusal: Refusal) => answer(request, refusing(request.lane, refusal))

        const logDefect = ({ id, path }: LaneRequest, cause: Cause.Cause<unknown>): void => {
          fork(
            Effect.logError("request failed", cause).pipe(
              Effect.annotateLogs({ request_id: id(), method: "POST", path })
            )
          )
        }

        /** Outcome of a call, or the player's id when another node owns the player. */
        const outcomeOf = (lane: Lane, about: LaneRequest, exit: Exit.Exit<string, Refusal>): Outcome | number => {
          if (Exit.isSuccess(exit)) return { status: 200, body: exit.value, retryAfter: undefined }
          const failure = Exit.findErrorOption(exit)
          if (failure._tag === "Some") return elsewhereOf(failure.value) ?? refusing(lane, failure.value)
          // interrupted by the shutdown
          if (Cause.hasInterruptsOnly(exit.cause)) return refusing(lane, draining)
          logDefect(about, exit.cause)
          return refusing(lane, serverError)
        }

        /** Runs a call, without a fiber when no lookup is needed. */
        const perform = (
          { about, lane, object, provider, traceparent }: Performed,
          done: (outcome: Outcome | number) => void
        ): void => {
          const call = lane.decode(provider, object)
          const finish = (exit: Exit.Exit<string, Refusal>) => done(outcomeOf(lane, about, exit))
          if (traces === undefined) {
            try {
              if (call.start(finish)) return
            } catch (defect) {
              return finish(Exit.die(defect))
            }
          }
          const traced = traces === undefined ? call.run : traces.aroundAnswer(
            { method: "POST", traceparent, id: about.id() },
            lane.path,
            call.run,
            statusOfExit
          )
          const forkAbout = Effect.runForkWith(Context.add(context, CurrentLaneRequest, about))
          forkAbout(Effect.uninterruptible(traced)).addObserver(finish)
        }

        /** Forwards a call to the player's node. It may be retried: calls read, or are idempotent by their transaction ids. */
        const forward = (request: Request, playerId: number, id: string, body: string): void => {
          const { credential: { provider }, lane, source } = request
          const traceparent = headerOf(source.headers["traceparent"]) ?? ""
          const head = `${lane.path}\n${provider.key}\n${id}\n${traceparent}`
          const conclude = (exit: Exit.Exit<Answered, NotAnswered>): void => {
            if (Exit.isSuccess(exit)) {
              const { body, head, node, status } = exit.value
              return answer(request, { status, body, node, retryAfter: head === "" ? undefined : head })
            }
            const failure = Exit.findErrorOption(exit)
            answerRefusal(request, failure._tag === "Some" ? refuseUnanswered(failure.value) : serverError)
          }
          forwarder.post(playerId, channel, { head, body }, { isRepeatable: true }, (exit) => {
            contain(request.target, () => conclude(exit))
          })
        }

        const serveForwarded = (
          { id, lane, traceparent }: { readonly lane: Lane; readonly id: string; readonly traceparent: string },
          { provider }: ProviderCredential,
          body: string,
          done: (answer: Answer | typeof notOwned) => void
        ): void => {
          const object = parseObject(body)
          if (object === undefined) return done({ ...refusing(lane, noObject), head: "" })
          const about = { id: () => id, path: lane.path, providerId: provider.id }
          const parent = traceparent === "" ? undefined : traceparent
          perform({ about, lane, object, provider, traceparent: parent }, (outcome) => {
            if (typeof outcome === "number") return done(notOwned)
            const { body, retryAfter, status } = outcome
            done({ status, head: retryAfter ?? "", body })
          })
        }

        forwarder.serve(channel, ({ body, head }, done) => {
          const [path = "", key = "", id = "", traceparent = ""] = head.split("\n")
          const lane = byPath.get(path)
          if (lane === undefined) return done(notOwned)
          const asked = { lane, id, traceparent }
          const credential = credentials.rememberedProvider(key, clock.currentTimeMillisUnsafe())
          if (credential !== undefined) return serveForwarded(asked, credential, body, done)
          fork(credentials.provider(key)).addObserver((exit) => {
            if (Exit.isSuccess(exit) && exit.value !== undefined) return serveForwarded(asked, exit.value, body, done)
            done({ ...refusing(lane, temporarilyUnavailable), head: "" })
          })
        })

        const run = (request: Request, body: Buffer): void => {
          const { credential, lane, nonce, release, signature, source, timestamp } = request
          release?.()
          const message = { method: "POST", uri: lane.path, timestamp, nonce, body }
          if (!verify(credential.signingKey, message, signature)) {
            const noted = failures.note("provider", invalidSignature, originOfMessage(source), credential.provider.key)
            fork(noted).addObserver((exit) => {
              const refusal = Exit.isSuccess(exit) ? exit.value : invalidSignature
              contain(request.target, () => answerRefusal(request, refusal))
            })
            return
          }
          const overfull = refuseOverfull(body)
          if (overfull !== undefined) return answerRefusal(request, overfull)
          const text = textOf(body)
          const object = parseObject(text)
          if (object === undefined) return answerRefusal(request, noObject)
          const tooLong = lane.list === undefined ? undefined : refuseLongList(object, lane.list)
          if (tooLong !== undefined) return answerRefusal(request, tooLong)
          const { provider } = credential
          const about = { id: () => idOf(request), path: lane.path, providerId: provider.id }
          if (forwarder.node !== undefined) {
            const playerId = lane.playerOf(provider, object)
            if (playerId !== undefined && !forwarder.isHere(playerId)) {
              return forward(request, playerId, about.id(), text)
            }
          }
          const traceparent = headerOf(source.headers["traceparent"])
          perform({ about, lane, object, provider, traceparent }, (outcome) => {
            const conclude = () =>
              typeof outcome === "number" ? forward(request, outcome, about.id(), text) : answer(request, outcome)
            contain(request.target, conclude)
          })
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
            id: undefined,
            release
          }
          readBody(source, length, (body) => contain(target, () => run(request, body)))
          return true
        }

        return ExpressLane.of({ take })
      })
    )
}
