import { NodeHttpServer } from "@effect/platform-node"
import { ByteSize, Context, Effect, Layer, Schedule } from "effect"
import { HttpIncomingMessage, HttpMiddleware, HttpRouter, HttpServer, type HttpServerError } from "effect/http"
import * as Http from "node:http"
import type { Duplex } from "node:stream"
import { refuse } from "../domain/Refusal.ts"
import { StartupError } from "../platform/StartupError.ts"
import { Drain } from "./Drain.ts"
import type { Take } from "./ExpressLane.ts"
import { routerConfig } from "./Methods.ts"
import { maxBodyBytes, refusalBody } from "./Refusals.ts"
import { RequestIds } from "./RequestIds.ts"

/** Connections at a time; more are closed as they come. */
const maxConnections = 10_000

const options: Http.ServerOptions = {
  headersTimeout: 15_000,
  requestTimeout: 30_000,
  connectionsCheckingInterval: 5_000,
  // Longer than the minute that load balancers usually keep an idle connection: they let go first.
  keepAliveTimeout: 75_000,
  // Otherwise Node.js answers in words of its own.
  requireHostHeader: false
}

const unreadable = refuse("INVALID_REQUEST", "The request is not HTTP, came too slowly, or has too large headers.")

const statusByError: { readonly [code: string]: number } = {
  HPE_HEADER_OVERFLOW: 431,
  ERR_HTTP_REQUEST_TIMEOUT: 408
}

/** What is not even a request gets an envelope as well, unless the answer to another one is still on its way. */
const answerUnreadable = (ids: RequestIds["Service"]) => (error: NodeJS.ErrnoException, socket: Duplex) => {
  const isAnswering = "_httpMessage" in socket && typeof socket._httpMessage === "object" &&
    socket._httpMessage !== null
  if (isAnswering || !socket.writable || error.code === "ECONNRESET") {
    socket.destroy()
    return
  }
  const status = statusByError[error.code ?? ""] ?? 400
  const body = refusalBody(unreadable)
  const head = [
    `HTTP/1.1 ${status} ${Http.STATUS_CODES[status] ?? ""}`,
    "Content-Type: application/json",
    `Content-Length: ${Buffer.byteLength(body)}`,
    `X-Request-Id: ${ids.next()}`,
    "Connection: close"
  ]
  socket.end(`${head.join("\r\n")}\r\n\r\n${body}`, () => socket.destroy())
}

/** Gives requests to an express lane before anyone else hears of them. */
const putFirst = (server: Http.Server, take: Take): void => {
  const emit = server.emit.bind(server)
  server.emit = (event: string, ...args: ReadonlyArray<unknown>): boolean => {
    const [request, response] = args
    return event === "request" && request instanceof Http.IncomingMessage && response instanceof Http.ServerResponse &&
        take(request, response) || emit(event, ...args)
  }
}

const makeServer = Effect.fnUntraced(function*(take: Take | undefined) {
  const ids = yield* RequestIds
  const server = Http.createServer(options)
  if (take !== undefined) putFirst(server, take)
  server.maxConnections = maxConnections
  server.on("clientError", answerUnreadable(ids))
  // an expectation that nobody defined is answered like a request without one
  server.on("checkExpectation", (request: Http.IncomingMessage, response: Http.ServerResponse) => {
    server.emit("request", request, response)
  })
  return server
})

/** Takes no new connections, waits for what is in flight, and cuts what is left when the time is up. */
const drainServer = Effect.fnUntraced(function*(server: Http.Server) {
  const leftMs = yield* (yield* Drain).begin
  const closed = Effect.callback<void>((resume) => {
    server.close(() => resume(Effect.void))
  })
  const dropIdle = Effect.repeat(Effect.sync(() => server.closeIdleConnections()), Schedule.spaced("50 millis"))
  yield* Effect.raceFirst(Effect.interruptible(closed), Effect.interruptible(dropIdle)).pipe(
    Effect.timeoutOption(leftMs)
  )
  server.closeAllConnections()
})

export interface Address {
  readonly host: string
  readonly port: number
}

const cannotListen = ({ host, port }: Address, { cause }: HttpServerError.ServeError): StartupError =>
  new StartupError({
    message: `cannot listen on ${host}:${port}: ${cause instanceof Error ? cause.message : "unknown"}`
  })

/**
 * Serves routes at an address: bodies, connections and waiting times are bounded, and when the layer closes, requests in
 * flight are answered first. What `take` takes never reaches the routes. Gives the `HttpServer`, which knows the port that
 * `port: 0` became.
 */
export const serveAt = <A, E, R>(routes: Layer.Layer<A, E, R>, address: Address, take?: Take) =>
  Layer.unwrap(Effect.map(makeServer(take), (server) => {
    const listening = Layer.merge(
      Layer.effect(
        HttpServer.HttpServer,
        Effect.mapError(NodeHttpServer.make(() => server, address), (error) => cannotListen(address, error))
      ),
      NodeHttpServer.layerHttpServices
    )
    const served = HttpRouter.serve(routes, { disableLogger: true, disableListenLog: true, routerConfig }).pipe(
      Layer.provideMerge(listening),
      Layer.provide([
        Layer.succeed(HttpIncomingMessage.MaxBodySize, ByteSize.bytes(maxBodyBytes)),
        Layer.succeed(HttpMiddleware.TracerDisabledWhen, () => true)
      ])
    )
    // Built last, so closed first: before requests in flight would be interrupted.
    const drained = Layer.effectDiscard(
      Effect.flatMap(
        Drain,
        (drain) => Effect.addFinalizer(() => Effect.provideService(drainServer(server), Drain, drain))
      )
    )
    // Only the server goes out: with the rest would go the router, and a second server would add its routes to it.
    return Layer.effect(
      HttpServer.HttpServer,
      Effect.map(
        Layer.build(Layer.provideMerge(drained, served)),
        (context) => Context.get(context, HttpServer.HttpServer)
      )
    )
  }))
