/** HTTP server on a port: its listening sockets, limits on path length, unauthenticated callers, connections and time, and the drain at shutdown. */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { ByteSize, Clock, Context, Effect, identity, Layer, Schedule } from "effect"
import { HttpIncomingMessage, HttpMiddleware, HttpRouter, HttpServer } from "effect/http"
import * as Http from "node:http"
import * as Net from "node:net"
import type { Duplex } from "node:stream"
import { type Refusal, refuse } from "../domain/Refusal.ts"
import type { StartupError } from "../platform/StartupError.ts"
import { plainAnswerHeaders } from "./AnswerHeaders.ts"
import { type Contain, keepAliveMs, makeContain } from "./AnswerWriter.ts"
import { Drain } from "./Drain.ts"
import { Endpoints } from "./Endpoints.ts"
import { Forwarding } from "./Forwarding.ts"
import type { Take } from "./Take.ts"
import { routerConfig } from "./Methods.ts"
import { maxBodyBytes, refusalBody, retryOf, withRetry } from "../contract/common/Envelope.ts"
import { type AddressSettings, cannotListen, type ListenAddress, probePort, publicSettings } from "./Ports.ts"
import { writeRefusal } from "./Refusals.ts"
import { RequestIds } from "./RequestIds.ts"
import { originOfMessage } from "./RequestOrigin.ts"
import { makeAdmission } from "./Admission.ts"
import { AnonymousLimits } from "./AnonymousLimits.ts"

/** Maximum number of connections of all sockets of a server; further ones are closed on accept. */
const defaultMaxConnections = 10_000

/**
 * Listening sockets per port. Node.js accepts one connection of each in a turn of its event loop: with a single one, new callers of a busy service, whose
 * turns are long, waited for seconds (`docs/decisions/0054-listening-sockets.md`).
 */
const socketsPerPort = 64

/** Whether several sockets of this process can listen on one port. */
const canShare = process.platform === "linux"

const options: Http.ServerOptions = {
  headersTimeout: 15_000,
  requestTimeout: 30_000,
  connectionsCheckingInterval: 5_000,
  keepAliveTimeout: keepAliveMs,
  // Otherwise Node.js answers without the error envelope.
  requireHostHeader: false,
  // An upgraded socket escapes every timeout and the drain. Only HTTP/1.1 is supported: the header is ignored (RFC 9110, 7.8).
  shouldUpgradeCallback: () => false
}

/** Idle time of a socket in both directions before it is closed. */
const defaultSilenceMs = 120_000

/** Time limit of an incomplete request head, from the start of the drain. */
const headGraceMs = 500

/** Time limit for callers to finish sending a body or receiving an answer, from the start of the drain. */
const callerGraceMs = 3000

const noSuchPath = refuse("NOT_FOUND", "There is no such path.")
const starting = refuse("TRY_AGAIN", "The service is starting. Send the same request again.")
const unreadable = refuse("INVALID_REQUEST", "The request is not HTTP, came too slowly, or has too large headers.")

const statusByError: { readonly [code: string]: number } = {
  HPE_HEADER_OVERFLOW: 431,
  ERR_HTTP_REQUEST_TIMEOUT: 408
}

/** Pending response of a socket. */
const owedOn = (socket: Duplex): Http.ServerResponse | undefined =>
  "_httpMessage" in socket && socket._httpMessage instanceof Http.ServerResponse ? socket._httpMessage : undefined

/** Answers on a socket without a response object, and closes it. */
const answerRaw = (ids: RequestIds["Service"], socket: Duplex, status: number, refusal: Refusal): void => {
  const body = refusalBody(refusal)
  const head = [
    `HTTP/1.1 ${status} ${Http.STATUS_CODES[status] ?? ""}`,
    "Content-Type: application/json",
    `Content-Length: ${Buffer.byteLength(body)}`,
    `X-Request-Id: ${ids.next()}`,
    ...Object.entries(plainAnswerHeaders).map((pair) => pair.join(": ")),
    "Connection: close"
  ]
  socket.end(`${head.join("\r\n")}\r\n\r\n${body}`, () => socket.destroy())
}

/** Answers malformed HTTP with an envelope, unless the answer to another request is pending. */
const answerUnreadable = (ids: RequestIds["Service"]) => (error: NodeJS.ErrnoException, socket: Duplex) => {
  if (owedOn(socket) !== undefined || !socket.writable || error.code === "ECONNRESET") {
    socket.destroy()
    return
  }
  answerRaw(ids, socket, statusByError[error.code ?? ""] ?? 400, unreadable)
}

/** Refuses CONNECT: Node.js hands over the bare socket, without its error handler. */
const answerConnect = (ids: RequestIds["Service"]) => (_: Http.IncomingMessage, socket: Duplex) => {
  socket.on("error", () => socket.destroy())
  answerRaw(ids, socket, 404, noSuchPath)
}

/** Offers requests to the takers in order, before all other listeners; those that ask whether to send their body too. */
const putFirst = (
  server: Http.Server,
  takers: ReadonlyArray<Take>,
  contain: Contain,
  note: (socket: Net.Socket) => void
): void => {
  const emit = server.emit.bind(server)
  const isTaken = (request: Http.IncomingMessage, response: Http.ServerResponse): boolean => {
    note(request.socket)
    let taken = true
    contain(response, () => {
      taken = takers.some((take) => take(request, response))
    })
    return taken
  }
  server.emit = (event: string, ...args: ReadonlyArray<unknown>): boolean => {
    const [request, response] = args
    return (event === "request" || event === "checkContinue") && request instanceof Http.IncomingMessage &&
        response instanceof Http.ServerResponse &&
        isTaken(request, response) || emit(event, ...args)
  }
}

/** Longest path that any route may match. The router decodes a path in a time that grows with the square of its escapes. */
const maxPathLength = 2048

/** Paths of Pitboss's own protocol, every refusal of which says whether to send the message again. */
const providerPath = "/api/v1/provider/"

/** Refuses a path that is longer than any genuine one, before the router takes it apart. */
const makePathLimiter =
  (limits: AnonymousLimits["Service"], ids: RequestIds["Service"]): Take => (request, response) => {
    const { url = "" } = request
    if (url.length <= maxPathLength) return false
    const question = url.indexOf("?")
    if (question >= 0 && question <= maxPathLength) return false
    if (request.headers.upgrade !== undefined) response.shouldKeepAlive = false
    const refusal = limits.take(originOfMessage(request)) ?? noSuchPath
    writeRefusal(
      response,
      url.startsWith(providerPath) ? withRetry(refusal, retryOf(refusal, "same_request")) : refusal,
      ids.next()
    )
    return true
  }

/** Whether a request carries credentials: those are checked whatever the number of callers at its address. */
const isClaimed = ({ headers }: Http.IncomingMessage): boolean =>
  headers["x-api-key"] !== undefined || headers["x-provider-key"] !== undefined ||
  headers["authorization"] !== undefined

const isPreflight = ({ headers, method }: Http.IncomingMessage): boolean =>
  method === "OPTIONS" && headers["access-control-request-method"] !== undefined

/** Refuses unsigned requests of an address over its limit, at minimal cost. */
const makeAnonymousLimiter =
  (limits: AnonymousLimits["Service"], ids: RequestIds["Service"]): Take => (request, response) => {
    if (isClaimed(request) || isPreflight(request)) return false
    const refusal = limits.peek(originOfMessage(request))
    if (refusal === undefined) return false
    // Node.js drops bytes received in one packet with such a request
    if (request.headers.upgrade !== undefined) response.shouldKeepAlive = false
    writeRefusal(response, refusal, ids.next())
    return true
  }

const makeServer = Effect.fnUntraced(
  function*(
    take: Take | undefined,
    { maxConnections = defaultMaxConnections, silenceMs = defaultSilenceMs }: Address,
    endpoints: Endpoints["Service"]
  ) {
    const ids = yield* RequestIds
    const server = Http.createServer(options)
    server.timeout = silenceMs
    // a supervisor gives further connections to another node
    server.maxConnections = maxConnections
    const limits = yield* AnonymousLimits
    const takers = [
      makePathLimiter(limits, ids),
      ...take === undefined ? [] : [take],
      makeAnonymousLimiter(limits, ids),
      endpoints.take
    ]
    const admission = makeAdmission((socket) => {
      server.emit("connection", socket)
      socket.resume()
    })
    putFirst(server, takers, yield* makeContain, admission.noteRequest)
    // Node.js drops bytes received in one packet with such a request: the next one would be read from its middle
    server.on("request", (request: Http.IncomingMessage, response: Http.ServerResponse) => {
      if (request.headers.upgrade !== undefined) response.shouldKeepAlive = false
      // between listening and the listener of the routes: nothing else would answer
      if (server.listenerCount("request") === 1) writeRefusal(response, starting, ids.next())
    })
    server.on("clientError", answerUnreadable(ids))
    server.on("connect", answerConnect(ids))
    // an unknown expectation is ignored
    server.on("checkExpectation", (request: Http.IncomingMessage, response: Http.ServerResponse) => {
      server.emit("request", request, response)
    })
    // Kept: sockets. Open connections. Several nodes: its own.
    const sockets = new Set<Net.Socket>()
    server.on("connection", (socket: Net.Socket) => {
      if (sockets.size >= maxConnections) return void socket.destroy()
      sockets.add(socket)
      socket.once("close", () => sockets.delete(socket))
    })
    const offer = (socket: Net.Socket): void => {
      if (sockets.size + admission.waiting() >= maxConnections) socket.destroy()
      else admission.offer(socket)
    }
    return { server, sockets, offer, admitAll: admission.admitAll, listeners: [] as Array<Net.Server> }
  }
)

type Served = Effect.Success<ReturnType<typeof makeServer>>

/** Whether a socket waits for its caller: incomplete request, or complete answer not yet received. */
const waitsForCaller = (socket: Net.Socket): boolean => {
  const owed = owedOn(socket)
  return owed === undefined || owed.writableEnded || !owed.req.complete
}

const destroyAll = (sockets: ReadonlySet<Net.Socket>, isOver: (socket: Net.Socket) => boolean) =>
  Effect.sync(() => {
    for (const socket of sockets) if (isOver(socket)) socket.destroy()
  })

/**
 * Closes the listener, waits for requests in flight, and closes the rest at the time limit. Node.js counts a socket without a request
 * as busy, and a caller that stops sending or reading as in flight: neither may delay the shutdown for that long.
 */
const drainServer = Effect.fnUntraced(function*({ admitAll, listeners, server, sockets }: Served) {
  const leftMs = yield* (yield* Drain).begin
  for (const listener of [server, ...listeners]) listener.close()
  admitAll()
  // the server itself counts connections of its own socket only
  const closed = Effect.callback<void>((resume) => {
    const check = () => {
      if (sockets.size === 0) resume(Effect.void)
    }
    for (const socket of sockets) socket.once("close", check)
    check()
  })
  const dropIdle = Effect.repeat(Effect.sync(() => server.closeIdleConnections()), Schedule.spaced("50 millis"))
  const dropSilent = Effect.delay(destroyAll(sockets, (socket) => owedOn(socket) === undefined), headGraceMs)
  const dropSlow = Effect.delay(
    Effect.repeat(destroyAll(sockets, waitsForCaller), Schedule.spaced("50 millis")),
    callerGraceMs
  )
  const dropping = Effect.all([dropIdle, dropSilent, dropSlow], { concurrency: "unbounded", discard: true })
  yield* Effect.raceFirst(Effect.interruptible(closed), Effect.interruptible(dropping)).pipe(
    Effect.timeoutOption(leftMs)
  )
  yield* destroyAll(sockets, () => true)
})

export interface Address {
  readonly host: string
  readonly port: number
  /** The public server's by default. */
  readonly settings?: AddressSettings
  /** Second port of the same host, of this process alone when several share the first. */
  readonly ownPort?: number | undefined
  /** Name under which other nodes forward requests about players of this node. */
  readonly channel?: string
  /** Maximum number of connections, also of those on the second port. */
  readonly maxConnections?: number
  /** Idle time-out of a socket while an answer is computed or received, in ms; two minutes by default. */
  readonly silenceMs?: number
}

/** Listens on a port with one more socket, and passes its connections to the server. */
const openListener = ({ listeners, offer }: Served, address: ListenAddress) =>
  Effect.acquireRelease(
    Effect.callback<Net.Server, StartupError>((resume) => {
      const listener = Net.createServer({ allowHalfOpen: true, noDelay: true, pauseOnConnect: true }, offer)
      listener.once("error", (error) => resume(Effect.fail(cannotListen(address, error))))
      const { host, port } = address
      listener.listen({ host, port, exclusive: true, reusePort: canShare }, () =>
        resume(Effect.sync(() => (listeners.push(listener), listener))))
    }),
    (listener) =>
      Effect.sync(() => void listener.close())
  )

/** Listens on a port with as many sockets as belong to one, less those that are open. */
const openListeners = (served: Served, address: ListenAddress, open: number) =>
  Effect.replicateEffect(openListener(served, address), (canShare ? socketsPerPort : 1) - open, { discard: true })

/**
 * Serves routes at an address, with limits on bodies, connections and time; requests in flight are answered when the layer closes. Requests
 * accepted by `take` never reach the routes. Provides the `HttpServer`, with the actual port for `port: 0`.
 */
export const serveAt = <A, E, R>(routes: Layer.Layer<A, E, R>, address: Address, take?: Take) =>
  Layer.unwrap(Effect.gen(function*() {
    const endpoints = Endpoints.make(yield* Clock.Clock)
    const made = yield* makeServer(take, address, endpoints)
    const { server } = made
    const { host, ownPort, port, settings = publicSettings } = address
    const shared = { host, port, hostSetting: settings.host, portSetting: settings.port }
    // a port of several processes belongs to their supervisor, which accepts for them
    const isAlone = ownPort === undefined
    const listening = Layer.effect(
      HttpServer.HttpServer,
      NodeHttpServer.make(() => server, { host, port, reusePort: isAlone && canShare }).pipe(
        Effect.mapError(({ cause }) => cannotListen(shared, cause)),
        isAlone ? (listen) => Effect.andThen(probePort(shared), listen) : identity
      )
    )
    // routes first: a caller would wait for them, where another process answers at once while this one refuses connections
    const served = HttpRouter.toHttpEffect(routes).pipe(
      Effect.map((handler) => Layer.provideMerge(HttpServer.serve(handler), listening)),
      Layer.unwrap,
      Layer.provide([
        NodeHttpServer.layerHttpServices,
        Layer.succeed(Endpoints, endpoints),
        Layer.effect(Forwarding, Forwarding.make(address.channel ?? "public")),
        Layer.succeed(HttpRouter.RouterConfig, routerConfig),
        Layer.succeed(HttpIncomingMessage.MaxBodySize, ByteSize.bytes(maxBodyBytes)),
        Layer.succeed(HttpMiddleware.TracerDisabledWhen, () => true)
      ])
    )
    // Built last, so closed first: before requests in flight are interrupted.
    const drained = Layer.effectDiscard(
      Effect.gen(function*() {
        const drain = yield* Drain
        const bound = server.address()
        if (ownPort !== undefined) {
          const own = { ...shared, port: ownPort, portSetting: settings.ownPort }
          yield* Effect.andThen(probePort(own), openListeners(made, own, 0))
        } else if (typeof bound === "object" && bound !== null) {
          yield* openListeners(made, { ...shared, host: bound.address, port: bound.port }, 1)
        }
        yield* Effect.addFinalizer(() => Effect.provideService(drainServer(made), Drain, drain))
      })
    )
    // Only the server is exposed: an exposed router would also get the routes of a second server.
    return Layer.effect(
      HttpServer.HttpServer,
      Effect.map(
        Layer.build(Layer.provideMerge(drained, served)),
        (context) => Context.get(context, HttpServer.HttpServer)
      )
    )
  }))
