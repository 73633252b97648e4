/**
 * Calls of game providers in vendor protocols, served from Node.js's request directly (`docs/decisions/0043-provider-protocols.md`). Every
 * request below the address goes here. Whatever is wrong with a call of a provider's protocol is answered by that protocol, its form of *try again*
 * included: the error envelope is left for slugs and methods that are unknown.
 */
import { Cause, Clock, Context, Effect, Exit, Layer, Schema } from "effect"
import type { IncomingMessage, ServerResponse } from "node:http"
import { clientAddress, isWithin, type Networks, networks } from "../auth/Addresses.ts"
import { addressNotAllowed, invalidSignature } from "../auth/Checks.ts"
import { type Answer, type Answered, Forwarder, type NotAnswered, notOwned } from "../cluster/Forwarder.ts"
import { elsewhereOf } from "../store/PlayerActors.ts"
import { type Refusal, refuse } from "../domain/Refusal.ts"
import { Settings } from "../platform/Settings.ts"
import type {
  Bound,
  Received,
  RefuseUnread,
  VendorAnswer,
  VendorCall,
  WalletCall,
  WalletOutcome
} from "../protocols/Protocol.ts"
import { AnonymousLimits, tooManyBodies, uncountedBytes } from "./AnonymousLimits.ts"
import { makeAnswerHeaders, preparedLines } from "./AnswerHeaders.ts"
import { makeContain, makeWriteAnswer } from "./AnswerWriter.ts"
import { AuthenticationFailures } from "./AuthenticationFailures.ts"
import { Drain } from "./Drain.ts"
import type { Take } from "./ExpressLane.ts"
import { refuseUnanswered, servedBy } from "./Forwarding.ts"
import { CurrentLaneRequest } from "./LogFields.ts"
import { bodyTooLarge, draining, maxBodyBytes, refusalBody, retryAfterOf, serverError, statusOf } from "./Refusals.ts"
import { type Named, RequestIds } from "./RequestIds.ts"
import { readBody, readBounded } from "./RequestBody.ts"
import { RequestMetrics } from "./RequestMetrics.ts"
import { originOfMessage } from "./RequestOrigin.ts"
import { makeRequestTraces } from "./RequestTraces.ts"

/** Base path of providers with a vendor protocol, each below its slug. */
const integrationsPath = "/api/v1/integrations/"

const route = `${integrationsPath}:slug`

/** Integration of a provider with a vendor protocol. */
export interface Integration {
  readonly providerId: number
  readonly slug: string
  /** Empty allows any address. */
  readonly allowed: Networks
  readonly bound: Bound
}

/** An answered call. */
export interface AnsweredCall {
  /** Epoch milliseconds. */
  readonly at: number
  readonly method: string
  /** Undefined for a call that did not reach the wallet. */
  readonly call: WalletCall | undefined
  readonly outcome: WalletOutcome | undefined
  readonly answer: VendorAnswer
  /** Reason for an answer by the protocol alone; undefined when the wallet was called. */
  readonly reason: Extract<Received, { readonly _tag: "Answered" }>["reason"] | undefined
  readonly latencyMs: number
}

/** Calls of vendors: their providers, what the wallet answers, and the record of calls. */
export interface VendorCalls<Known extends Integration> {
  /** Cached provider of a slug; undefined when it has to be looked up. `now` in epoch milliseconds. */
  readonly peek: (slug: string, now: number) => Known | undefined
  /** Writer of refusals in the slug's protocol, as last known: it is needed most where the provider cannot be looked up. Undefined without one. */
  readonly refuserOf: (slug: string) => RefuseUnread | undefined
  /** Undefined when no provider with a vendor protocol has the slug. */
  readonly find: (slug: string) => Effect.Effect<Known | undefined, Refusal>
  /** Starts a call without a fiber; `done` is called once, perhaps synchronously. False, with nothing done, when `run` is needed. */
  readonly start: (
    integration: Known,
    call: WalletCall,
    done: (exit: Exit.Exit<WalletOutcome>) => void
  ) => boolean
  readonly run: (integration: Known, call: WalletCall) => Effect.Effect<WalletOutcome>
  readonly note: (integration: Known, answered: AnsweredCall) => void
}

const noSuchPath = refuse("NOT_FOUND", "There is no such provider, or its protocol has no such call.")

const refused = (refusal: Refusal): WalletOutcome => ({ _tag: "Refused", refusal, playerRef: null, funds: null })

const headerOf = (value: string | ReadonlyArray<string> | undefined): string | undefined =>
  typeof value === "string" ? value : value?.join(", ")

/** Request below the address of a slug. */
interface Request {
  readonly slug: string
  readonly source: IncomingMessage
  readonly target: ServerResponse
  /** Target below the provider's address, with the query. */
  readonly rest: string
  /** Epoch milliseconds. */
  readonly now: number
  readonly startedAt: bigint
}

interface ProvidersRequest<Known extends Integration> extends Request {
  readonly integration: Known
}

const pathOf = (rest: string): string => {
  const question = rest.indexOf("?")
  return question < 0 ? rest : rest.slice(0, question)
}

const callOf = (
  { headers, method = "" }: Pick<IncomingMessage, "headers" | "method">,
  rest: string,
  now: number,
  body: Buffer
): VendorCall => {
  const path = pathOf(rest)
  return { method, path, query: rest.slice(path.length + 1), header: (name) => headerOf(headers[name]), body, now }
}

/** Channel of calls forwarded by other nodes about players of this node. */
const channel = "vendor"

/** A call forwarded to the player's node, which decodes it again. */
const SentCall = Schema.fromJsonString(Schema.Struct({
  slug: Schema.String,
  method: Schema.String,
  rest: Schema.String,
  headers: Schema.Record(Schema.String, Schema.String),
  now: Schema.Number,
  id: Schema.String
}))
const encodeCall = Schema.encodeSync(SentCall)
const decodeCall = Schema.decodeUnknownSync(SentCall)

type Asked = Extract<Received, { readonly _tag: "Call" }>

/** Player id when the wallet refused because another node owns the player. */
const elsewhereIn = (outcome: WalletOutcome): number | undefined =>
  outcome._tag === "Refused" ? elsewhereOf(outcome.refusal) : undefined

/** The lane of this process, for the server's listener. */
export class VendorLane extends Context.Service<VendorLane, { readonly take: Take }>()("pitboss/http/VendorLane") {
  /** Layer over a wallet. */
  static readonly layerOf = <Known extends Integration, E, R>(makeCalls: Effect.Effect<VendorCalls<Known>, E, R>) =>
    Layer.effect(
      VendorLane,
      Effect.gen(function*() {
        const calls = yield* makeCalls
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
        const proxies = networks((yield* Settings).trustProxy)
        const answerHeaders = makeAnswerHeaders(proxies)
        // flat: adding to a nested context would copy it per request
        const context = Context.makeUnsafe<never>(new Map((yield* Effect.context<never>()).mapUnsafe))
        const fork = Effect.runForkWith(context)

        const named = (source: IncomingMessage): Named => ({
          source,
          headers: { "x-request-id": headerOf(source.headers["x-request-id"]) }
        })

        const send = (
          source: IncomingMessage,
          target: ServerResponse,
          startedAt: bigint,
          { body, contentType = "application/json", status }: VendorAnswer,
          retryAfter?: string,
          node = forwarder.node
        ): number => {
          const tookNs = clock.monotonicTimeNanosUnsafe() - startedAt
          metrics.observe(source.method ?? "", route, status, tookNs)
          const { headers, socket } = source
          const lines = preparedLines(
            answerHeaders(() => socket.remoteAddress, headerOf(headers["x-forwarded-proto"]))
          )
          write(
            source,
            target,
            status,
            `${lines}content-type: ${contentType}\r\nx-request-id: ${ids.last(named(source))}\r\n` +
              (retryAfter === undefined ? "" : `retry-after: ${retryAfter}\r\n`) +
              (node === undefined ? "" : `${servedBy}: ${node}\r\n`),
            body
          )
          return Number(tookNs) / 1e6
        }

        /** Answers in Pitboss's own envelope: the slug is unknown, or the protocol has no such call. */
        const sendEnvelope = ({ source, startedAt, target }: Request, refusal: Refusal): void =>
          void send(
            source,
            target,
            startedAt,
            { status: statusOf(refusal), body: refusalBody(refusal) },
            retryAfterOf(refusal)
          )

        /** Refuses a call that was not read, in its protocol's words. */
        const reject = (request: Request, refusal: Refusal): void => {
          const { rest, slug, source, startedAt, target } = request
          const refuseUnread = calls.refuserOf(slug)
          const answer = refuseUnread?.({ method: source.method ?? "", path: pathOf(rest) }, refusal)
          if (answer !== undefined) return void send(source, target, startedAt, answer)
          sendEnvelope(request, refuseUnread === undefined || refusal.code === "RATE_LIMITED" ? refusal : noSuchPath)
        }

        const answer = (
          { integration, now, source, startedAt, target }: ProvidersRequest<Known>,
          answered: Omit<AnsweredCall, "at" | "latencyMs">
        ): void => {
          const latencyMs = send(source, target, startedAt, answered.answer)
          calls.note(integration, { ...answered, at: now, latencyMs })
        }

        const logDefect = (id: string, method: string, cause: Cause.Cause<unknown>): void => {
          fork(
            Effect.logError("request failed", cause).pipe(
              Effect.annotateLogs({ request_id: id, method, path: route })
            )
          )
        }

        /** Refuses a caller who is not known to be the vendor, and counts it against its address. */
        const rejectStranger = (request: Request, refusal: Refusal): void =>
          reject(request, anonymousLimits.take(originOfMessage(request.source)) ?? refusal)

        /** Refuses a call whose slug or method is unknown, and counts it against its address. */
        const rejectUnknown = (request: Request): void =>
          sendEnvelope(request, anonymousLimits.take(originOfMessage(request.source)) ?? noSuchPath)

        /** Notes a failed authentication, counts it against the caller's address, and answers unless that has failed too often. */
        const failAuthentication = (request: ProvidersRequest<Known>, failure: Refusal, render: () => void): void => {
          const { integration: { slug }, source, target } = request
          fork(failures.note("provider", failure, originOfMessage(source), slug)).addObserver((exit) =>
            contain(target, () =>
              Exit.isSuccess(exit) && exit.value.code === "RATE_LIMITED"
                ? reject(request, exit.value)
                : render())
          )
        }

        /** Calls the wallet, without a fiber when no lookup is needed. */
        const perform = (
          integration: Known,
          call: WalletCall,
          id: () => string,
          traceparent: string | undefined,
          done: (outcome: WalletOutcome) => void
        ): void => {
          const finish = (exit: Exit.Exit<WalletOutcome>): void => {
            if (Exit.isSuccess(exit)) return done(exit.value)
            logDefect(id(), "POST", exit.cause)
            done(refused(serverError))
          }
          try {
            if (traces === undefined && calls.start(integration, call, finish)) return
          } catch (defect) {
            return finish(Exit.die(defect))
          }
          const about = { id, path: route, providerId: integration.providerId }
          const run = calls.run(integration, call)
          const traced = traces === undefined ? run : traces.aroundAnswer(
            { method: "POST", traceparent, id: id() },
            `${route} ${call.method}`,
            run,
            (exit) => Exit.isSuccess(exit) ? 200 : 500
          )
          Effect.runForkWith(Context.add(context, CurrentLaneRequest, about))(Effect.uninterruptible(traced))
            .addObserver(finish)
        }

        /** Forwards a call to the player's node, which also records it. It may be retried: calls are idempotent by their transaction ids. */
        const forward = (request: ProvidersRequest<Known>, asked: Asked, playerId: number, body: Buffer): void => {
          const { integration: { slug }, now, rest, source, startedAt, target } = request
          const headers: Record<string, string> = {}
          for (const [name, value] of Object.entries(source.headers)) headers[name] = headerOf(value) ?? ""
          const head = encodeCall({ slug, method: source.method ?? "", rest, headers, now, id: ids.of(named(source)) })
          const conclude = (exit: Exit.Exit<Answered, NotAnswered>): void => {
            if (Exit.isSuccess(exit)) {
              const { body, head, node, status } = exit.value
              return void send(source, target, startedAt, { status, body, contentType: head }, undefined, node)
            }
            const failure = Exit.findErrorOption(exit)
            answerOutcome(
              request,
              asked,
              refused(failure._tag === "Some" ? refuseUnanswered(failure.value) : serverError)
            )
          }
          const call = { head, body: body.toString("latin1") }
          forwarder.post(playerId, channel, call, { isRepeatable: true }, (exit) => {
            contain(target, () => conclude(exit))
          })
        }

        const answerOutcome = (
          request: ProvidersRequest<Known>,
          { call, render }: Asked,
          outcome: WalletOutcome
        ): void => answer(request, { method: call.method, call, outcome, answer: render(outcome), reason: undefined })

        const ask = (request: ProvidersRequest<Known>, asked: Asked, body: Buffer): void => {
          const { integration, source, target } = request
          if (drain.isDraining()) return contain(target, () => answerOutcome(request, asked, refused(draining)))
          const traceparent = headerOf(source.headers["traceparent"])
          perform(integration, asked.call, () => ids.of(named(source)), traceparent, (outcome) => {
            const elsewhere = elsewhereIn(outcome)
            contain(target, () => {
              if (elsewhere === undefined) answerOutcome(request, asked, outcome)
              else forward(request, asked, elsewhere, body)
            })
          })
        }

        /** Serves a vendor's call forwarded by another node: decoded again here, its signature included. */
        const serveForwarded = (
          integration: Known,
          sent: typeof SentCall.Type,
          body: Buffer,
          startedAt: bigint,
          done: (answer: Answer | typeof notOwned) => void
        ): void => {
          const { headers, id, method, now, rest } = sent
          const received = integration.bound.receive(callOf({ headers, method }, rest, now, body))
          // settings differ while one of the nodes has the old ones cached
          if (received._tag !== "Call") return done(notOwned)
          const { call, render } = received
          perform(integration, call, () => id, headers["traceparent"], (outcome) => {
            if (elsewhereIn(outcome) !== undefined) return done(notOwned)
            const answered = render(outcome)
            const latencyMs = Number(clock.monotonicTimeNanosUnsafe() - startedAt) / 1e6
            calls.note(integration, {
              method: call.method,
              call,
              outcome,
              answer: answered,
              reason: undefined,
              at: now,
              latencyMs
            })
            const { body, contentType = "application/json", status } = answered
            done({ status, head: contentType, body })
          })
        }

        forwarder.serve(channel, ({ body, head }, done) => {
          const startedAt = clock.monotonicTimeNanosUnsafe()
          const sent = decodeCall(head)
          const bytes = Buffer.from(body, "latin1")
          const known = calls.peek(sent.slug, clock.currentTimeMillisUnsafe())
          if (known !== undefined) return serveForwarded(known, sent, bytes, startedAt, done)
          fork(calls.find(sent.slug)).addObserver((exit) =>
            Exit.isSuccess(exit) && exit.value !== undefined
              ? serveForwarded(exit.value, sent, bytes, startedAt, done)
              : done(notOwned)
          )
        })

        /** Undefined after a defect, which is answered as one. */
        const readOrRefuse = (request: ProvidersRequest<Known>, body: Buffer): Received | undefined => {
          const { integration: { bound }, now, rest, source } = request
          try {
            return bound.receive(callOf(source, rest, now, body))
          } catch (defect) {
            logDefect(ids.of(named(source)), source.method ?? "", Cause.die(defect))
            reject(request, serverError)
            return undefined
          }
        }

        const receive = (request: ProvidersRequest<Known>, body: Buffer): void => {
          const received = readOrRefuse(request, body)
          switch (received?._tag) {
            case undefined:
              return
            case "NotFound":
              return rejectUnknown(request)
            case "Stranger": {
              const { source, startedAt, target } = request
              return failAuthentication(
                request,
                invalidSignature,
                () => void send(source, target, startedAt, received.answer)
              )
            }
            case "Answered":
              return answer(request, { ...received, call: undefined, outcome: undefined })
            case "Call":
              return ask(request, received, body)
          }
        }

        const read = (request: ProvidersRequest<Known>): void => {
          const { integration: { allowed }, source, target } = request
          const origin = originOfMessage(source)
          if (
            allowed.length > 0 && !isWithin(allowed, clientAddress(origin.peer, origin.forwardedFor, proxies))
          ) return failAuthentication(request, addressNotAllowed, () => reject(request, addressNotAllowed))
          const use = (body: Buffer) => contain(target, () => receive(request, body))
          const stated = source.headers["content-length"]
          const isMeasured = source.headers["transfer-encoding"] === undefined
          const length = isMeasured ? Number(stated ?? 0) : maxBodyBytes
          if (length > maxBodyBytes) return tooLarge(request)
          if (length <= uncountedBytes) return readBody(source, length, use)
          const release = anonymousLimits.reserve(origin, length, () => source.destroy())
          if (release === undefined) return rejectStranger(request, tooManyBodies)
          source.once("close", release)
          const taken = (body: Buffer) => {
            release()
            use(body)
          }
          if (isMeasured) readBody(source, length, taken)
          else readBounded(source, maxBodyBytes, (body) => body === undefined ? tooLarge(request) : taken(body))
        }

        const tooLarge = (request: Request) => {
          // the rest of the body is not read
          request.target.shouldKeepAlive = false
          rejectStranger(request, bodyTooLarge)
        }

        const take: Take = (source, target) => {
          const { url = "" } = source
          if (!url.startsWith(integrationsPath)) return false
          const startedAt = clock.monotonicTimeNanosUnsafe()
          const now = clock.currentTimeMillisUnsafe()
          const [slug = ""] = /^[a-z0-9-]*/.exec(url.slice(integrationsPath.length)) ?? []
          const rest = url.slice(integrationsPath.length + slug.length)
          const request: Request = { slug, source, target, rest, now, startedAt }
          if (!/^(?:[/?]|$)/.test(rest) || slug === "") {
            rejectUnknown(request)
            return true
          }
          const known = calls.peek(slug, now)
          if (known !== undefined) {
            read({ slug, source, target, rest, now, startedAt, integration: known })
            return true
          }
          fork(calls.find(slug)).addObserver((exit) =>
            contain(target, () => {
              if (Exit.isSuccess(exit)) {
                return exit.value === undefined
                  ? rejectUnknown(request)
                  : read({ ...request, integration: exit.value })
              }
              const failure = Exit.findErrorOption(exit)
              if (failure._tag === "None") logDefect(ids.of(named(source)), source.method ?? "", exit.cause)
              reject(request, failure._tag === "Some" ? failure.value : serverError)
            })
          )
          return true
        }

        return VendorLane.of({ take })
      })
    )
}
