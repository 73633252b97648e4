/**
 * Outermost middleware: request id, error envelope for all failures inside, duration metric, headers of every response, and the refusal
 * of new requests while the service drains.
 */
import { Cause, Clock, Context, Effect, Exit, Fiber, type Types } from "effect"
import { HttpRouter, HttpServerError, HttpServerRequest, HttpServerResponse } from "effect/http"
import type { IncomingMessage } from "node:http"
import { RoutedApi } from "../contract/Api.ts"
import { Forwarder } from "../cluster/Forwarder.ts"
import type { RenderedReply } from "../domain/state/Idempotency.ts"
import { type Refusal, refuse } from "../domain/Refusal.ts"
import { Settings } from "../platform/Settings.ts"
import { networks } from "../auth/Addresses.ts"
import { type Headers, linesOf, makeAnswerHeaders, preparedLines } from "./AnswerHeaders.ts"
import { makeContain, makeWriteAnswer } from "./AnswerWriter.ts"
import { type CrossOrigin, makeCrossOrigin } from "./CrossOrigin.ts"
import { Drain } from "./Drain.ts"
import { serveForwardedRequests } from "./ForwardedRequests.ts"
import { type Ending, Endpoints, type Found } from "./Endpoints.ts"
import { servedBy } from "./Forwarding.ts"
import { type RouteOf, routesOf } from "./Methods.ts"
import { draining, serverError } from "../contract/common/Envelope.ts"
import { answerCause, bodyText, refusalResponse } from "./Refusals.ts"
import { namedBy, RequestIds } from "./RequestIds.ts"
import { RequestMetrics } from "./RequestMetrics.ts"
import { originOf } from "./RequestOrigin.ts"
import { forRouter } from "./RequestTarget.ts"
import { makeRequestTraces, recordAnswer } from "./RequestTraces.ts"
import { AnonymousLimits } from "./AnonymousLimits.ts"

/** Paths outside the API. */
const healthPaths = ["/health", "/health/live", "/health/ready"] as const
const documentPaths = ["/openapi.json", "/docs"] as const

/** Routes without authentication, with the weight of a call in the address's limit. */
const weights = new Map<string, number>([
  ["none", 1],
  ...[...healthPaths, "/metrics"].map((path) => [path, 1] as const),
  ...documentPaths.map((path) => [path, 20] as const)
])

const noSuchRoute = refuse("NOT_FOUND", "There is no such path.")
const unacceptable = refuse("INVALID_REQUEST", "The request cannot be processed as it was sent.")

const isUnknownRoute = (cause: Cause.Cause<unknown>): boolean =>
  cause.reasons.some(({ _tag, ...reason }) =>
    _tag === "Fail" && "error" in reason && HttpServerError.isHttpServerError(reason.error) &&
    reason.error.reason._tag === "RouteNotFound"
  )

/** Headers of an answer that the direct path derives from the body or from the common headers. */
const addedByWriter = new Set(["content-length", "cache-control", servedBy])

/** 405 where the path has other methods, else 404. */
const answerUnknown = (request: HttpServerRequest.HttpServerRequest, routeOf: RouteOf) => {
  const { methods = [] } = routeOf(request.url) ?? {}
  if (methods.length === 0) return refusalResponse(noSuchRoute)
  const allow = methods.join(", ")
  const refusal: Refusal = refuse("METHOD_NOT_ALLOWED", `This path takes ${allow}.`, { allowed_methods: methods })
  return HttpServerResponse.setHeader(refusalResponse(refusal), "allow", allow)
}

/** Types of answers that are the service's own at any status: its envelope, and a page. */
const ownTypes = /^(?:application\/json|text\/html)/

/** Replaces a refusal by the framework with the service's envelope. */
const inEnvelope = (response: HttpServerResponse.HttpServerResponse) =>
  response.status < 400 || ownTypes.test(response.headers["content-type"] ?? "")
    ? response
    : HttpServerResponse.setStatus(
      refusalResponse(response.status < 500 ? unacceptable : serverError),
      response.status
    )

/** Path template of the route. */
const routeIn = (context: Context.Context<never>): string =>
  Context.getOrUndefined(context, HttpRouter.RouteContext)?.route.path ?? "none"

type Handler = Effect.Effect<
  HttpServerResponse.HttpServerResponse,
  Types.unhandled,
  HttpServerRequest.HttpServerRequest
>

/** Whether a 503 lacks the header: refusals encoded by an endpoint's schema have none. One that advises against a repetition gets none. */
const needsRetryAfter = (answer: HttpServerResponse.HttpServerResponse): boolean =>
  answer.status === 503 && answer.headers["retry-after"] === undefined &&
  !bodyText(answer).includes("\"retry\":\"never\"")

/** `crossOrigin`: only for servers called by browsers from other origins. `always`: headers of every answer. */
export const makeOutermostMiddleware = (
  routeOf: RouteOf,
  { always, crossOrigin }: { readonly always?: Headers; readonly crossOrigin?: CrossOrigin } = {}
) =>
  Effect.gen(function*() {
    const ids = yield* RequestIds
    const drain = yield* Drain
    const metrics = yield* RequestMetrics
    const anonymousLimits = yield* AnonymousLimits
    const clock = yield* Clock.Clock
    const traces = yield* makeRequestTraces
    const { node } = yield* Forwarder
    const answerHeaders = makeAnswerHeaders(networks((yield* Settings).trustProxy))

    /** Headers of every answer; a `Cache-Control` set by the answer, as by documents, is kept. */
    const headersOf = (
      request: HttpServerRequest.HttpServerRequest,
      route: string,
      answer: HttpServerResponse.HttpServerResponse
    ): Headers => {
      const { headers } = request
      const own = answer.headers["cache-control"]
      return {
        ...answerHeaders(() => originOf(request).peer, headers["x-forwarded-proto"]),
        ...own === undefined ? undefined : { "cache-control": own },
        "x-request-id": ids.last(request),
        ...node === undefined ? undefined : { [servedBy]: answer.headers[servedBy] ?? node },
        ...needsRetryAfter(answer) ? { "retry-after": "1" } : undefined,
        ...crossOrigin?.headers(request, route),
        ...always
      }
    }

    const finish = (
      request: HttpServerRequest.HttpServerRequest,
      startedAt: bigint,
      response: HttpServerResponse.HttpServerResponse
    ) =>
      Effect.contextWith((context: Context.Context<never>) => {
        const route = routeIn(context)
        const weight = weights.get(route)
        // answered preflights are not counted: browsers send them before they can authenticate
        const refusal = weight === undefined || response.status === 204
          ? undefined
          : anonymousLimits.take(originOf(request), weight)
        const known = route === "none" ? routeOf(request.url)?.path ?? route : route
        const answer = refusal === undefined ? inEnvelope(response) : refusalResponse(refusal)
        if (traces !== undefined) recordAnswer(context, request.method, route, answer.status)
        metrics.observe(request.method, route, answer.status, clock.monotonicTimeNanosUnsafe() - startedAt)
        return Effect.succeed(HttpServerResponse.setHeaders(answer, {
          ...headersOf(request, known, answer),
          ...drain.isDraining() ? { "connection": "close" } : undefined
        }))
      })

    const answered = (
      handler: Handler
    ): Effect.Effect<HttpServerResponse.HttpServerResponse, Types.unhandled, HttpServerRequest.HttpServerRequest> =>
      Effect.flatMap(HttpServerRequest.HttpServerRequest, (received) => {
        const request = forRouter(received)
        const startedAt = clock.monotonicTimeNanosUnsafe()
        if (drain.isDraining()) return finish(request, startedAt, refusalResponse(draining))
        const preflight = crossOrigin?.preflight(request, routeOf)
        if (preflight !== undefined) return finish(request, startedAt, preflight)
        const routed = request === received
          ? handler
          : Effect.provideService(handler, HttpServerRequest.HttpServerRequest, request)
        return Effect.matchCauseEffect(routed, {
          onSuccess: (response) => finish(request, startedAt, response),
          onFailure: (cause) =>
            Effect.flatMap(
              isUnknownRoute(cause)
                ? Effect.succeed(answerUnknown(request, routeOf))
                : Effect.provideService(answerCause(cause), RequestIds, ids),
              (response) => finish(request, startedAt, response)
            )
        })
      })

    const write = yield* makeWriteAnswer
    const contain = yield* makeContain
    const scope = yield* Effect.scope
    // flat, with room for the additions of a request: a deeper context would be copied per request
    const context = Context.makeUnsafe<never>(new Map((yield* Effect.context<never>()).mapUnsafe), { maxDepth: 16 })

    /** As `finish`, on the direct path. */
    const answerDirectly = (
      { handler, request, source, startedAt, target }: Found,
      response: HttpServerResponse.HttpServerResponse
    ): void => {
      const { path } = handler.route
      const answer = inEnvelope(response)
      const { body, status } = answer
      metrics.observe(request.method, path, status, clock.monotonicTimeNanosUnsafe() - startedAt)
      const lines = linesOf(headersOf(request, path, answer)) + linesOf(answer.headers, addedByWriter)
      write(source, target, status, lines, body._tag === "Empty" ? undefined : bodyText(answer))
    }

    const headersFor = ({ headers, socket }: IncomingMessage): Headers => {
      const proto = headers["x-forwarded-proto"]
      return answerHeaders(() => socket.remoteAddress, typeof proto === "string" ? proto : undefined)
    }

    /** As `answerDirectly`, for an operator's request started without a fiber. */
    const answerStarted = (
      { handler, request, source, startedAt, target }: Found,
      lines: string,
      { body, status }: RenderedReply
    ): void => {
      metrics.observe(request.method, handler.route.path, status, clock.monotonicTimeNanosUnsafe() - startedAt)
      const about = `content-type: application/json\r\nx-request-id: ${ids.last(namedBy(source))}\r\n`
      write(source, target, status, preparedLines(headersFor(source)) + lines + about, body)
    }

    // Kept: started, whenAllEnded. Requests that were started without a fiber. Several nodes: its own: a shutdown waits for them.
    /** Requests started without a fiber that are not answered yet. */
    const started = new Set<Found>()
    let whenAllEnded = (): void => {}
    const end = (found: Found): void => {
      if (started.delete(found) && started.size === 0) whenAllEnded()
    }

    // as for writes in fibers: a shutdown waits for them before the services that they use close, until the database's time-outs end them or the
    // hard stop ends the process
    yield* Effect.addFinalizer(() =>
      Effect.callback<void>((resume) => {
        whenAllEnded = () => resume(Effect.void)
        if (started.size === 0) whenAllEnded()
      })
    )

    /** Runs an endpoint, or its remaining part, in a fiber. */
    const serve: Ending["serve"] = (found, serving) => {
      const { handler: { route }, params, request, searchParams, target } = found
      const traced = traces === undefined ? serving : traces.aroundAnswer(
        { method: request.method, traceparent: request.headers["traceparent"], id: ids.of(request) },
        route.path,
        serving,
        (exit) => Exit.isSuccess(exit) ? exit.value.status : 500
      )
      const asked = Context.add(
        Context.add(
          Context.add(context, HttpServerRequest.HttpServerRequest, request),
          HttpServerRequest.ParsedSearchParams,
          searchParams
        ),
        HttpRouter.RouteContext,
        { route, params }
      )
      const fork = Effect.runForkWith(asked)
      const finish = (exit: Exit.Exit<HttpServerResponse.HttpServerResponse, Types.unhandled>): void => {
        contain(target, () => {
          if (Exit.isSuccess(exit)) return answerDirectly(found, exit.value)
          if (Cause.hasInterruptsOnly(exit.cause)) {
            // interrupted by a disconnect or by the shutdown
            if (!target.destroyed) answerDirectly(found, refusalResponse(draining))
            return
          }
          fork(Effect.provideService(answerCause(exit.cause), RequestIds, ids))
            .addObserver(finish)
        })
        end(found)
      }
      const fiber = fork(traced)
      fiber.addObserver(finish)
      // a shutdown waits for it before the services that it uses close
      Fiber.runIn(fiber, scope)
      // a disconnect interrupts reads only
      if (request.method !== "GET" || fiber.pollUnsafe() !== undefined) return
      target.once("close", () => {
        if (!target.writableEnded) fiber.interruptUnsafe()
      })
    }

    yield* serveForwardedRequests(context)
    const endpoints = yield* Endpoints
    const ending: Ending = {
      answer: (found, lines, reply) => {
        contain(found.target, () => answerStarted(found, lines(), reply))
        end(found)
      },
      serve: (found, serving) =>
        contain(found.target, () => {
          let isServing = false
          try {
            serve(found, serving)
            isServing = true
          } finally {
            if (!isServing) end(found)
          }
        })
    }
    const isStarted = (found: Found): boolean => {
      const { start } = found.handler
      // traces need fibers
      if (start === undefined || traces !== undefined) return false
      started.add(found)
      let isBegun = false
      try {
        return isBegun = start(found, endpoints.atOnce(found.handler), ending)
      } finally {
        if (!isBegun) end(found)
      }
    }

    const runFound = (found: Found): void => {
      const { handler } = found
      if (drain.isDraining()) return answerDirectly(found, refusalResponse(draining))
      if (!isStarted(found)) serve(found, handler.serving)
    }
    // run by the events of sockets, where nothing else would catch a defect
    endpoints.runWith((found) => contain(found.target, () => runFound(found)))

    if (traces === undefined) return answered
    return (handler: Handler) =>
      Effect.contextWith((context: Context.Context<HttpServerRequest.HttpServerRequest>) => {
        const request = Context.get(context, HttpServerRequest.HttpServerRequest)
        const { headers, method } = request
        const about = { method, traceparent: headers["traceparent"], id: ids.of(request) }
        return traces.around(about, answered(handler))
      })
  })

/** The outermost middleware of the public server. */
export const OutermostMiddleware = HttpRouter.middleware(
  Effect.flatMap(Settings, ({ docs, playerOrigins }) =>
    makeOutermostMiddleware(
      routesOf(RoutedApi, docs ? [...healthPaths, ...documentPaths] : healthPaths),
      { crossOrigin: makeCrossOrigin(playerOrigins) }
    )),
  { global: true }
)
