/**
 * Serves game provider calls of every protocol directly from Node.js's request, because the router and the response pipeline take more processor time
 * of a bet than all other work (`docs/decisions/0041-one-way-through-http.md`).
 *
 * Every request below the path of an entry point goes here, whatever its form. The provider's protocol reads it and words the response, including its
 * own form of *try again*.
 */
import { Cause, Clock, Context, Effect, Exit, Layer } from "effect"
import type { IncomingMessage, ServerResponse } from "node:http"
import { clientAddress, networks } from "../auth/Addresses.ts"
import { invalidSignature } from "../auth/Checks.ts"
import { type Answer, type Answered, Forwarder, type NotAnswered, notOwned } from "../cluster/Forwarder.ts"
import { bodyTooLarge, draining, maxBodyBytes, serverError } from "../contract/common/Envelope.ts"
import { type Refusal, refuse } from "../domain/Refusal.ts"
import { Settings } from "../platform/Settings.ts"
import type { CallHead, Received, VendorAnswer, WalletOutcome } from "../protocols/Protocol.ts"
import type { Wallet } from "../protocols/Wallet.ts"
import { elsewhereOf } from "../store/PlayerActors.ts"
import { AnonymousLimits, tooManyBodies, uncountedBytes } from "./AnonymousLimits.ts"
import { makeAnswerHeaders, preparedLines } from "./AnswerHeaders.ts"
import { makeContain, makeWriteAnswer } from "./AnswerWriter.ts"
import { AuthenticationFailures } from "./AuthenticationFailures.ts"
import { Drain } from "./Drain.ts"
import { type Admission, type Admitted, type EntryPoint, openCall, type OpenedCall } from "./EntryPoint.ts"
import { channel, decodeCall, encodeCall } from "./ForwardedCalls.ts"
import { refuseUnanswered, servedBy } from "./Forwarding.ts"
import { CurrentLaneRequest, type LaneRequest } from "./LogFields.ts"
import { readBody, readBounded } from "./RequestBody.ts"
import { namedBy, RequestIds } from "./RequestIds.ts"
import { RequestMetrics } from "./RequestMetrics.ts"
import { originOfMessage } from "./RequestOrigin.ts"
import { makeRequestTraces } from "./RequestTraces.ts"
import type { Take } from "./Take.ts"

type Asked = Extract<Received, { readonly _tag: "Call" }>
type AnsweredAlone = Extract<Received, { readonly _tag: "Answered" }>

/** An answered call. */
export interface AnsweredCall {
  /** Epoch milliseconds. */
  readonly at: number
  readonly received: Asked | AnsweredAlone
  /** Undefined for a call that did not reach the wallet. */
  readonly outcome: WalletOutcome | undefined
  readonly answer: VendorAnswer
  readonly latencyMs: number
}

/** What the lane serves: entry points, the wallet, and the record of calls. */
export interface ProviderCalls<Provider extends { readonly providerId: number }> {
  readonly entryPoints: ReadonlyArray<EntryPoint<Provider>>
  readonly wallet: Wallet<Provider>
  readonly note: (provider: Provider, answered: AnsweredCall) => void
}

const noSuchCall = refuse("NOT_FOUND", "There is no such provider, or its protocol has no such call.")

const refused = (refusal: Refusal): WalletOutcome => ({ _tag: "Refused", refusal, playerRef: null, funds: null })

const headerOf = (value: string | ReadonlyArray<string> | undefined): string | undefined =>
  typeof value === "string" ? value : value?.join(", ")

/** A request at an entry point. */
interface Request<Provider> extends OpenedCall<Provider> {
  readonly source: IncomingMessage
  readonly target: ServerResponse
  readonly startedAt: bigint
}

interface AdmittedRequest<Provider> extends Request<Provider> {
  readonly admitted: Admitted<Provider>
}

/** Player id when the wallet refused because another node owns the player. */
const elsewhereIn = (outcome: WalletOutcome): number | undefined =>
  outcome._tag === "Refused" ? elsewhereOf(outcome.refusal) : undefined

/** Longest body that is dropped before the answer. */
const maxDroppedBytes = 4 * maxBodyBytes

/** Expectation of a caller that sends its body once it is told to. */
const asksToContinue = /(?:^|\W)100-continue(?:$|\W)/i

/** Header lines of a protocol's answer. */
const linesOfAnswer = ({ contentType = "application/json", headers }: VendorAnswer): string => {
  let lines = `content-type: ${contentType}\r\n`
  if (headers !== undefined) { for (const name of Object.keys(headers)) lines += `${name}: ${headers[name]}\r\n` }
  return lines
}

/** The lane of this process, for the server's listener. */
export class ProviderLane
  extends Context.Service<ProviderLane, { readonly take: Take }>()("pitboss/http/ProviderLane")
{
  /** Layer over a wallet. */
  static readonly layerOf = <Provider extends { readonly providerId: number }, E, R>(
    makeCalls: Effect.Effect<ProviderCalls<Provider>, E, R>
  ) =>
    Layer.effect(
      ProviderLane,
      Effect.gen(function*() {
        const calls = yield* makeCalls
        const { entryPoints, wallet } = calls
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

        const entryPointOf = (target: string): EntryPoint<Provider> | undefined => {
          for (const entry of entryPoints) if (target.startsWith(entry.path)) return entry
          return undefined
        }

        /** Writes an answer, of another node when one is given. Returns the milliseconds since the request began. */
        const send = (
          { head, incoming, source, startedAt, target }: Request<Provider>,
          status: number,
          lines: string,
          body: string,
          node = forwarder.node
        ): number => {
          const tookNs = clock.monotonicTimeNanosUnsafe() - startedAt
          metrics.observe(head.method, incoming.route, status, tookNs)
          const { headers, socket } = source
          const common = preparedLines(
            answerHeaders(() => socket.remoteAddress, headerOf(headers["x-forwarded-proto"]))
          )
          const id = `x-request-id: ${ids.last(namedBy(source))}\r\n`
          write(
            source,
            target,
            status,
            common + lines + id + (node === undefined ? "" : `${servedBy}: ${node}\r\n`),
            body
          )
          return Number(tookNs) / 1e6
        }

        const sendAnswer = (request: Request<Provider>, answer: VendorAnswer): number =>
          send(request, answer.status, linesOfAnswer(answer), answer.body)

        /** Refuses a call that was not read, in its protocol's words. */
        const reject = (request: Request<Provider>, refusal: Refusal): void =>
          void sendAnswer(request, request.incoming.refuse(refusal))

        /** Refuses a caller who is not known to be a provider, and counts it against its address. */
        const rejectStranger = (request: Request<Provider>, refusal: Refusal): void =>
          reject(request, anonymousLimits.take(originOfMessage(request.source)) ?? refusal)

        /** Notes a failed authentication, counts it against the caller's address, and answers unless that has failed too often. */
        const failAuthentication = (
          request: Request<Provider>,
          failure: Refusal,
          name: string | undefined,
          render: () => void
        ): void => {
          fork(failures.note("provider", failure, originOfMessage(request.source), name)).addObserver((exit) =>
            contain(request.target, () =>
              Exit.isSuccess(exit) && exit.value.code === "RATE_LIMITED"
                ? reject(request, exit.value)
                : render())
          )
        }

        const logDefect = (id: string, method: string, route: string, cause: Cause.Cause<unknown>): void => {
          fork(
            Effect.logError("provider call failed", cause).pipe(
              Effect.annotateLogs({ request_id: id, method, path: route })
            )
          )
        }

        const idOf = ({ source }: Request<Provider>): string => ids.of(namedBy(source))

        /** Calls the wallet, without a fiber when no lookup is needed. */
        const perform = (
          { entry, head, incoming: { route } }: OpenedCall<Provider>,
          provider: Provider,
          { call, render }: Asked,
          id: () => string,
          done: (outcome: WalletOutcome) => void
        ): void => {
          const finish = (exit: Exit.Exit<WalletOutcome>): void => {
            if (Exit.isSuccess(exit)) return done(exit.value)
            // interrupted by the shutdown
            if (Cause.hasInterruptsOnly(exit.cause)) return done(refused(draining))
            logDefect(id(), head.method, route, exit.cause)
            done(refused(serverError))
          }
          try {
            if (traces === undefined && wallet.start(provider, call, finish)) return
          } catch (defect) {
            return finish(Exit.die(defect))
          }
          const about: LaneRequest = { id, method: head.method, path: route, providerId: provider.providerId }
          const run = wallet.run(provider, call)
          const traced = traces === undefined ? run : traces.aroundAnswer(
            { method: head.method, traceparent: head.header("traceparent"), id: id() },
            entry.spanOf(route, call),
            run,
            (exit) => Exit.isSuccess(exit) ? render(exit.value).status : 500
          )
          Effect.runForkWith(Context.add(context, CurrentLaneRequest, about))(Effect.uninterruptible(traced))
            .addObserver(finish)
        }

        /** Forwards a call to the player's node, which also records it. It may be retried: calls are idempotent by their transaction ids. */
        const forward = (request: AdmittedRequest<Provider>, asked: Asked, playerId: number, body: Buffer): void => {
          const { head, source, target } = request
          const headers: Record<string, string> = {}
          for (const [name, value] of Object.entries(source.headers)) headers[name] = headerOf(value) ?? ""
          const address = head.address()
          const sent = encodeCall({
            method: head.method,
            target: head.target,
            headers,
            ...address !== undefined && { address },
            now: head.now,
            id: idOf(request)
          })
          const conclude = (exit: Exit.Exit<Answered, NotAnswered>): void => {
            if (Exit.isSuccess(exit)) {
              const { body, head, node, status } = exit.value
              return void send(request, status, head, body, node)
            }
            const failure = Exit.findErrorOption(exit)
            answerOutcome(
              request,
              asked,
              refused(failure._tag === "Some" ? refuseUnanswered(failure.value) : serverError)
            )
          }
          const message = { head: sent, body: body.toString("latin1") }
          forwarder.post(playerId, channel, message, { isRepeatable: true }, (exit) =>
            contain(target, () =>
              conclude(exit)))
        }

        /** Answers a call that was read, and notes it. */
        const answerRead = (
          request: AdmittedRequest<Provider>,
          received: Asked | AnsweredAlone,
          answer: VendorAnswer,
          outcome: WalletOutcome | undefined
        ): void => {
          const latencyMs = sendAnswer(request, answer)
          const { admitted: { provider }, head: { now: at } } = request
          calls.note(provider, { at, received, outcome, answer, latencyMs })
        }

        const answerOutcome = (request: AdmittedRequest<Provider>, asked: Asked, outcome: WalletOutcome): void =>
          answerRead(request, asked, asked.render(outcome), outcome)

        const ask = (request: AdmittedRequest<Provider>, asked: Asked, body: Buffer): void => {
          const { admitted: { provider }, target } = request
          if (drain.isDraining()) {
            return answerOutcome(request, asked, refused(draining))
          }
          const playerId = forwarder.node === undefined ? undefined : wallet.playerOf(provider, asked.call)
          if (playerId !== undefined && !forwarder.isHere(playerId)) {
            return forward(request, asked, playerId, body)
          }
          perform(request, provider, asked, () =>
            idOf(request), (outcome) => {
            const elsewhere = elsewhereIn(outcome)
            contain(target, () => {
              if (elsewhere === undefined) {
                answerOutcome(request, asked, outcome)
              } else forward(request, asked, elsewhere, body)
            })
          })
        }

        /** Serves a call forwarded by another node: read again here, its signature included. */
        const serveForwarded = (
          opened: OpenedCall<Provider>,
          id: string,
          admission: Admission<Provider>,
          body: Buffer,
          done: (answer: Answer | typeof notOwned) => void
        ): void => {
          const startedAt = clock.monotonicTimeNanosUnsafe()
          // keys and settings differ while one of the nodes has the old ones cached
          const received = admission._tag === "Admitted" ? admission.receive(body) : undefined
          if (admission._tag !== "Admitted" || received?._tag !== "Call") {
            return done(notOwned)
          }
          const { provider } = admission
          perform(opened, provider, received, () =>
            id, (outcome) => {
            if (elsewhereIn(outcome) !== undefined) {
              return done(notOwned)
            }
            const answer = received.render(outcome)
            const latencyMs = Number(clock.monotonicTimeNanosUnsafe() - startedAt) / 1e6
            calls.note(provider, { at: opened.head.now, received, outcome, answer, latencyMs })
            done({ status: answer.status, head: linesOfAnswer(answer), body: answer.body })
          })
        }

        forwarder.serve(channel, ({ body, head }, done) => {
          const { address, headers, id, method, now, target } = decodeCall(head)
          const entry = entryPointOf(target)
          if (entry === undefined) {
            return done(notOwned)
          }
          const header = (name: string) =>
            headers[name]
          const opened = openCall(entry, { method, target, header, now, address: () => address })
          const bytes = Buffer.from(body, "latin1")
          const { admission } = opened.incoming
          if (!Effect.isEffect(admission)) return serveForwarded(opened, id, admission, bytes, done)
          fork(admission).addObserver((exit) =>
            Exit.isSuccess(exit) ? serveForwarded(opened, id, exit.value, bytes, done) : done(notOwned)
          )
        })

        /** Answers what the protocol answers alone. */
        const answerAlone = (request: AdmittedRequest<Provider>, received: AnsweredAlone): void => {
          const { head, incoming } = request
          if (traces !== undefined) {
            const about = { method: head.method, traceparent: head.header("traceparent"), id: idOf(request) }
            fork(traces.aroundAnswer(about, incoming.route, Effect.void, () => received.answer.status))
          }
          answerRead(request, received, received.answer, undefined)
        }

        /** Undefined after a defect, which is answered as one. */
        const readOrRefuse = (request: AdmittedRequest<Provider>, body: Buffer): Received | undefined => {
          const { admitted, head, incoming } = request
          try {
            return admitted.receive(body)
          } catch (defect) {
            logDefect(idOf(request), head.method, incoming.route, Cause.die(defect))
            reject(request, serverError)
            return undefined
          }
        }

        const receive = (request: AdmittedRequest<Provider>, body: Buffer): void => {
          const received = readOrRefuse(request, body)
          switch (received?._tag) {
            case undefined:
              return
            case "NotFound":
              return rejectStranger(request, noSuchCall)
            case "Stranger": {
              const { answer, refusal = invalidSignature } = received
              return failAuthentication(
                request,
                refusal,
                request.admitted.name,
                () => void sendAnswer(request, answer)
              )
            }
            case "Answered":
              return answerAlone(request, received)
            case "Call":
              return ask(request, received, body)
          }
        }

        /**
         * Answers without a body's bytes. Of a connection that ends with its answer they are dropped first: a caller who still sends would lose the answer
         * with the connection. One that stays open drops them afterwards, until the time limit of a request.
         */
        const answerWithoutBody = ({ source, target }: Request<Provider>, answer: () => void): void => {
          const { "content-length": length = 0, expect } = source.headers
          const isDropped = !target.shouldKeepAlive && expect === undefined && Number(length) > 0 &&
            Number(length) <= maxDroppedBytes
          if (!isDropped) return answer()
          source.once("end", () => contain(target, answer))
          source.resume()
        }

        const tooLarge = (request: Request<Provider>): void =>
          answerWithoutBody(request, () => rejectStranger(request, bodyTooLarge))

        const read = (request: AdmittedRequest<Provider>): void => {
          const { source, target } = request
          const use = (body: Buffer) => contain(target, () => receive(request, body))
          const isMeasured = source.headers["transfer-encoding"] === undefined
          const length = isMeasured ? Number(source.headers["content-length"] ?? 0) : maxBodyBytes
          if (length > maxBodyBytes) return tooLarge(request)
          if (asksToContinue.test(source.headers.expect ?? "")) target.writeContinue()
          if (length <= uncountedBytes) return readBody(source, length, use)
          const release = anonymousLimits.reserve(originOfMessage(source), length, () => source.destroy())
          if (release === undefined) return rejectStranger(request, tooManyBodies)
          source.once("close", release)
          const taken = (body: Buffer) => {
            release()
            use(body)
          }
          if (isMeasured) readBody(source, length, taken)
          else readBounded(source, maxBodyBytes, (body) => body === undefined ? tooLarge(request) : taken(body))
        }

        const proceed = (request: Request<Provider>, admission: Admission<Provider>): void => {
          if (admission._tag === "Admitted") {
            const { entry, head, incoming, source, startedAt, target } = request
            return read({ entry, head, incoming, source, target, startedAt, admitted: admission })
          }
          const { name, refusal } = admission
          answerWithoutBody(request, () =>
            name === null
              ? rejectStranger(request, refusal)
              : failAuthentication(request, refusal, name, () => reject(request, refusal)))
        }

        const headOf = (source: IncomingMessage): CallHead => {
          const { headers, method = "", url = "" } = source
          return {
            method,
            target: url,
            header: (name) => headerOf(headers[name]),
            now: clock.currentTimeMillisUnsafe(),
            address: () => {
              const { forwardedFor, peer } = originOfMessage(source)
              return clientAddress(peer, forwardedFor, proxies)
            }
          }
        }

        const take: Take = (source, target) => {
          const entry = entryPointOf(source.url ?? "")
          if (entry === undefined) return false
          // Node.js drops bytes received in one packet with the first, and expects no other request after an answer that no body preceded
          if (source.headers.upgrade !== undefined || source.headers.expect !== undefined) {
            target.shouldKeepAlive = false
          }
          const head = headOf(source)
          const startedAt = clock.monotonicTimeNanosUnsafe()
          const incoming = entry.open(head)
          const request: Request<Provider> = { entry, head, incoming, source, target, startedAt }
          const { admission, route } = incoming
          if (!Effect.isEffect(admission)) {
            proceed(request, admission)
            return true
          }
          fork(admission).addObserver((exit) =>
            contain(target, () => {
              if (Exit.isSuccess(exit)) return proceed(request, exit.value)
              const failure = Exit.findErrorOption(exit)
              if (failure._tag === "None") logDefect(idOf(request), head.method, route, exit.cause)
              reject(request, failure._tag === "Some" ? failure.value : serverError)
            })
          )
          return true
        }

        return ProviderLane.of({ take })
      })
    )
}
