/**
 * What nodes say to each other: one connection to each peer, of which the peer that opened it calls and the other one answers. Calls travel many in
 * a message, answers as they come, many in a message as well: a slow call delays no other. Forms are kept from release to release, since
 * two releases run side by side; a change is a message of a new name.
 */
import * as NodeSocket from "@effect/platform-node/NodeSocket"
import { Effect, Layer, Predicate, Queue, Schedule, Schema, Stream } from "effect"
import { Rpc, RpcClient, type RpcClientError, RpcGroup, RpcSerialization, RpcServer } from "effect/rpc"
import { Socket, SocketServer } from "effect/socket"
import * as Tls from "node:tls"
import type { Trust } from "./Trust.ts"

/** A call on its way. `key` is -1 when the node itself is meant, whatever it owns. */
const SentCall = Schema.Struct({
  id: Schema.Int,
  key: Schema.Int,
  door: Schema.String,
  head: Schema.String,
  body: Schema.String
})
export type SentCall = typeof SentCall.Type

/** Key of a call to a node. */
export const noKey = -1

/** Statuses beside a door's own: the key is not this node's, and there is no such door. Nothing was done then. */
export const notMineStatus = -1
export const noDoorStatus = -2

const SentAnswer = Schema.Struct({
  id: Schema.Int,
  status: Schema.Int,
  head: Schema.String,
  body: Schema.String
})
export type SentAnswer = typeof SentAnswer.Type

/** The peer knows another master key. */
class Refused extends Schema.TaggedError<Refused>()("Refused", {}) {}

class Wire extends RpcGroup.make(
  Rpc.make("Hello", {
    payload: { node: Schema.String, proofs: Schema.Array(Schema.String) },
    success: Schema.Struct({ node: Schema.String }),
    error: Refused
  }),
  Rpc.make("Calls", { payload: { calls: Schema.Array(SentCall) } }),
  Rpc.make("Answers", { success: SentAnswer, stream: true })
) {}

/** Time for a connection, and for the first word of the peer. */
const openTime = "2 seconds"

const serialization = RpcSerialization.layerSchemaBinary()

/** Takes calls on a listening socket: `take` is given each, with what answers it. */
export const answerCalls = (options: {
  readonly node: string
  readonly trust: Trust
  readonly server: SocketServer.SocketServer["Service"]
  readonly take: (call: SentCall, answer: (answer: SentAnswer) => void) => void
}) => {
  const callers = new Map<number, Queue.Queue<SentAnswer>>()
  const handlers = Wire.toLayer({
    Hello: ({ proofs }, { client }) =>
      Effect.gen(function*() {
        if (!options.trust.isProof(proofs)) {
          yield* Effect.logWarning("peer refused: it has another master key")
          return yield* new Refused()
        }
        callers.set(client.id, yield* Queue.unbounded<SentAnswer>())
        return { node: options.node }
      }),
    Calls: ({ calls }, { client }) =>
      Effect.sync(() => {
        const answers = callers.get(client.id)
        if (answers === undefined) return
        const answer = (answer: SentAnswer) => void Queue.offerUnsafe(answers, answer)
        for (const call of calls) options.take(call, answer)
      }),
    Answers: (_, { client }) =>
      Effect.suspend(() => {
        const answers = callers.get(client.id)
        return answers === undefined ? Effect.interrupt : Effect.succeed(answers)
      })
  })
  return RpcServer.layer(Wire, {
    disableTracing: true,
    onDisconnect: (client) => Effect.sync(() => callers.delete(client))
  }).pipe(
    Layer.provide(handlers),
    Layer.provide(RpcServer.layerProtocolSocketServer),
    Layer.provide([serialization, Layer.succeed(SocketServer.SocketServer, options.server)])
  )
}

/** An open connection to a peer. */
export interface Line {
  /** Id of the peer. */
  readonly node: string
  /** Ends when the peer has taken them. */
  readonly send: (calls: ReadonlyArray<SentCall>) => Effect.Effect<void, RpcClientError.RpcClientError>
}

/** The connection could not be opened, or is over. */
export class LineLost extends Schema.TaggedError<LineLost>()("LineLost", { reason: Schema.String }) {}

const describe = (error: unknown): string => {
  const inner = Predicate.hasProperty(error, "reason") && Predicate.hasProperty(error.reason, "cause")
    ? error.reason.cause
    : error
  return inner instanceof Error ? inner.message : "unknown"
}

/** Socket to a peer, with TLS. */
const open = (host: string, port: number, trust: Trust) =>
  NodeSocket.fromDuplex(
    Effect.acquireRelease(
      Effect.callback<Tls.TLSSocket, Socket.SocketError>((resume) => {
        const socket = Tls.connect({ ...trust.client, host, port })
        socket.setNoDelay(true)
        const fail = (cause: Error) =>
          resume(
            Effect.fail(new Socket.SocketError({ reason: new Socket.SocketOpenError({ kind: "Unknown", cause }) }))
          )
        socket.once("error", fail)
        socket.once("secureConnect", () => resume(Effect.succeed(socket)))
        return Effect.sync(() => socket.destroy())
      }),
      (socket) => Effect.sync(() => socket.destroy())
    ),
    { openTimeout: openTime }
  )

/**
 * Opens a connection to the node at `host:port` and keeps it while it lasts: `use` is given it and runs beside it, `hear` gets what is
 * answered. Fails when either is over.
 */
export const dial = (options: {
  readonly node: string
  readonly trust: Trust
  readonly host: string
  readonly port: number
  readonly hear: (answers: ReadonlyArray<SentAnswer>) => void
  readonly use: (line: Line) => Effect.Effect<never, RpcClientError.RpcClientError>
}): Effect.Effect<never, LineLost> =>
  Effect.gen(function*() {
    const { node, trust } = options
    const socket = yield* open(options.host, options.port, trust)
    const protocol = yield* RpcClient.makeProtocolSocket({ retryPolicy: Schedule.recurs(0) }).pipe(
      Effect.provideService(Socket.Socket, socket)
    )
    const client = yield* RpcClient.make(Wire, { disableTracing: true }).pipe(
      Effect.provideService(RpcClient.Protocol, protocol)
    )
    const hello = yield* client.Hello({ node, proofs: trust.proofs }).pipe(Effect.timeout(openTime))
    const hearing = Effect.andThen(
      Stream.runForEachArray(client.Answers(), (answers) => Effect.sync(() => options.hear(answers))),
      new LineLost({ reason: "the peer ended it" })
    )
    const using = options.use({ node: hello.node, send: (calls) => client.Calls({ calls }, { discard: true }) })
    return yield* Effect.raceFirst(hearing, using)
  }).pipe(
    Effect.scoped,
    Effect.provide(serialization),
    Effect.mapError((error) => error._tag === "LineLost" ? error : new LineLost({ reason: describe(error) }))
  )
