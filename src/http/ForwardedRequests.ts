/** Serves requests forwarded by other nodes, with the endpoints of this node's server. */
import { Cause, Context, Effect, Exit, Fiber, Schema } from "effect"
import { HttpRouter, HttpServerRequest, type HttpServerResponse } from "effect/http"
import { type Answer, Forwarder, notOwned } from "../cluster/Forwarder.ts"
import { Endpoints } from "./Endpoints.ts"
import { CurrentPrincipal, ForwardedHead, Forwarding, misdirected } from "./Forwarding.ts"
import { ReadRequest } from "./ReadRequest.ts"
import { draining, refusalBody, serverError, statusOf } from "../contract/common/Envelope.ts"
import { bodyText } from "./Refusals.ts"
import { RequestIds } from "./RequestIds.ts"
import { makeRequestTraces } from "./RequestTraces.ts"

const decodeHead = Schema.decodeUnknownSync(ForwardedHead)

const answerOf = (response: HttpServerResponse.HttpServerResponse): Answer => ({
  status: response.status,
  head: JSON.stringify(response.headers),
  body: response.body._tag === "Empty" ? "" : bodyText(response)
})

const refusing = (refusal: typeof draining | typeof serverError): Answer => ({
  status: statusOf(refusal),
  head: "{}",
  body: refusalBody(refusal)
})

/** Serves the channel of the current `Endpoints` and `Forwarding`. `context`: services of the endpoints. The scope waits for requests in flight. */
export const serveForwardedRequests = Effect.fnUntraced(function*(context: Context.Context<never>) {
  const forwarder = yield* Forwarder
  if (forwarder.node === undefined) return
  const { channel } = yield* Forwarding
  const endpoints = yield* Endpoints
  const ids = yield* RequestIds
  const traces = yield* makeRequestTraces
  const scope = yield* Effect.scope

  forwarder.serve(channel, ({ body, head }, done) => {
    const { headers, method, peer, principal, target, url } = decodeHead(head)
    // as in the router: HEAD is answered as GET, without the body
    const found = endpoints.find(method === "HEAD" ? "GET" : method, url)
    // an endpoint unknown to this version: the sending node may still become the player's owner
    if (found === undefined) return done(notOwned)
    const source = { url: target, headers, socket: { remoteAddress: peer } }
    const request = new ReadRequest(source, method, url, Buffer.from(body, "latin1"))
    const { handler: { route, serving }, params, searchParams } = found
    const asked = Context.add(
      Context.add(
        Context.add(
          Context.add(context, HttpServerRequest.HttpServerRequest, request),
          HttpServerRequest.ParsedSearchParams,
          searchParams
        ),
        HttpRouter.RouteContext,
        { route, params }
      ),
      CurrentPrincipal,
      principal
    )
    const traced = traces === undefined ? serving : traces.aroundAnswer(
      { method, traceparent: headers["traceparent"], id: ids.of(request) },
      route.path,
      serving,
      (exit) => Exit.isSuccess(exit) ? exit.value.status : 500
    )
    const fiber = Effect.runForkWith(asked)(traced)
    fiber.addObserver((exit) => {
      if (Exit.isFailure(exit)) return done(refusing(Cause.hasInterruptsOnly(exit.cause) ? draining : serverError))
      done(exit.value.status === misdirected.status ? notOwned : answerOf(exit.value))
    })
    // a shutdown waits for it before the services that it uses close
    Fiber.runIn(fiber, scope)
  })
})
