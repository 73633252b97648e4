/**
 * What nodes say to each other: one connection to each peer, of which the peer that opened it calls and the other one answers. Calls travel
 * many in a message. A message is answered with what is answered by then, of whichever message, so that a slow call delays no other; one is
 * always under way, for the answers to come. Forms are kept from release to release, since two releases run side by side; a change is a
 * message of a new name.
 */
import * as NodeSocket from "@effect/platform-node/NodeSocket"
import { Effect, Layer, Predicate, References, Schedule, Schema } from "effect"
import { Rpc, RpcClient, RpcGroup, RpcSerialization, RpcServer } from "effect/rpc"
import { Socket, SocketServer } from "effect/socket"
import * as Tls from "node:tls"
import type { Trust } from "./Trust.ts"

/** A call on its way. `key` is {@link noKey} when the node itself is meant, whatever it owns. */
export interface SentCall {
  readonly id: number
  readonly key: number
  readonly door: string
  readonly head: string
  readonly body: string
}

/** Key of a call to a node. */
export const noKey = -1

/** Statuses beside a door's own: the key is not this node's, and there is no such door. Nothing was done then. */
export const notMineStatus = -1
export const noDoorStatus = -2

export interface SentAnswer {
  readonly id: number
  readonly status: number
  readonly head: string
  readonly body: string
}

const Integers = Schema.Array(Schema.Int)
const Texts = Schema.Array(Schema.String)

/** In columns, which are read and written several times faster than records. `texts`: door, head and body of each. */
const Calls = Schema.Struct({ ids: Integers, keys: Integers, texts: Texts })

/** `texts`: head and body of each. */
const Answers = Schema.Struct({ ids: Integers, statuses: Integers, texts: Texts })

const toColumns = (calls: ReadonlyArray<SentCall>): typeof Calls.Type => {
  const texts: Array<string> = []
  for (const { body, door, head } of calls) texts.push(door, head, body)
  return { ids: calls.map(({ id }) => id), keys: calls.map(({ key }) => key), texts }
}

const fromColumns = ({ ids, keys, texts }: typeof Calls.Type): ReadonlyArray<SentCall> =>
  ids.map((id, index) => ({
    id,
    key: keys[index] ?? noKey,
    door: texts[index * 3] ?? "",
    head: texts[index * 3 + 1] ?? "",
    body: texts[index * 3 + 2] ?? ""
  }))

const answersToColumns = (answers: ReadonlyArray<SentAnswer>): typeof Answers.Type => {
  const texts: Array<string> = []
  for (const { body, head } of answers) texts.push(head, body)
  return { ids: answers.map(({ id }) => id), statuses: answers.map(({ status }) => status), texts }
}

const answersFromColumns = ({ ids, statuses, texts }: typeof Answers.Type): ReadonlyArray<SentAnswer> =>
  ids.map((id, index) => ({
    id,
    status: statuses[index] ?? noDoorStatus,
    head: texts[index * 2] ?? "",
    body: texts[index * 2 + 1] ?? ""
  }))

/** The peer knows another master key. */
class Refused extends Schema.TaggedError<Refused>()("Refused", {}) {}

class Wire extends RpcGroup.make(
  Rpc.make("Hello", {
    payload: { node: Schema.String, proofs: Schema.Array(Schema.String) },
    success: Schema.Struct({ node: Schema.String }),
    error: Refused
  }),
  Rpc.make("Exchange", { payload: Calls, success: Answers, error: Refused })
) {}

/** Time for a connection, and for the first word of the peer. */
const openTime = "2 seconds"

/** Messages of a peer that wait for answers; the oldest of more is answered with nothing, so that the peer can go on. */
const maxParked = 3

/** Bytes of a message: lists may be long. */
const serialization = RpcSerialization.layerSchemaBinary({ maxFrameSize: 256 * 1024 * 1024 })

/** Takes calls on a listening socket: `take` is given each, with what answers it. */
export const answerCalls = (options: {
  readonly node: string
  readonly trust: Trust
  readonly server: SocketServer.SocketServer["Service"]
  readonly take: (call: SentCall, answer: (answer: SentAnswer) => void) => void
}) => {
  /** By connection, for those that have shown that they may call. */
  const callers = new Map<number, Effect.Success<typeof makeCaller>>()
  const handlers = Wire.toLayer({
    Hello: ({ proofs }, { client }) =>
      Effect.gen(function*() {
        if (!options.trust.isProof(proofs)) {
          yield* Effect.logWarning("peer refused: it has another master key")
          return yield* new Refused()
        }
        callers.set(client.id, yield* makeCaller)
        return { node: options.node }
      }),
    Exchange: (columns, { client }) => {
      const caller = callers.get(client.id)
      return caller === undefined
        ? new Refused()
        : caller.exchange(() => {
          for (const call of fromColumns(columns)) options.take(call, caller.answer)
        })
    }
  })
  return RpcServer.layer(Wire, {
    disableTracing: true,
    onDisconnect: (client) => Effect.sync(() => callers.delete(client))
  }).pipe(
    Layer.provide(handlers),
    Layer.provide(RpcServer.layerProtocolSocketServer),
    Layer.provide([serialization, Layer.succeed(SocketServer.SocketServer, options.server)]),
    // a peer that died is no error of this node
    Layer.provide(Layer.succeed(References.UnhandledLogLevel, "Debug"))
  )
}

type Park = (answers: typeof Answers.Type) => void

/** The answers to a peer, which travel with whichever of its messages is the oldest. */
const makeCaller = Effect.gen(function*() {
  const fork = Effect.runForkWith(yield* Effect.context<never>())
  const parked: Array<Park> = []
  let answered: Array<SentAnswer> = []
  let isFlushing = false

  const reply = (): void => {
    const park = parked.shift()
    if (park === undefined) return
    const answers = answered
    answered = []
    park(answersToColumns(answers))
  }

  // what is answered in one turn of the event loop travels together
  const flush = Effect.andThen(
    Effect.yieldNow,
    Effect.sync(() => {
      isFlushing = false
      if (answered.length > 0) reply()
    })
  )
  const flushSoon = (): void => {
    if (isFlushing) return
    isFlushing = true
    fork(flush)
  }

  return {
    answer: (answer: SentAnswer): void => {
      answered.push(answer)
      flushSoon()
    },
    exchange: (begin: () => void) =>
      Effect.callback<typeof Answers.Type>((resume) => {
        const park: Park = (answers) => resume(Effect.succeed(answers))
        parked.push(park)
        begin()
        if (parked.length > maxParked) reply()
        // who was answered meanwhile has waited for a message to travel with
        if (answered.length > 0) flushSoon()
        return Effect.sync(() => {
          const place = parked.indexOf(park)
          if (place >= 0) parked.splice(place, 1)
        })
      })
  }
})

/** The connection could not be opened, or is over. */
export class LineLost extends Schema.TaggedError<LineLost>()("LineLost", { reason: Schema.String }) {}

/** An open connection to a peer. */
export interface Line {
  /** Id of the peer. */
  readonly node: string
  /** Sends calls, perhaps none, and ends with answers, perhaps to others and perhaps none. */
  readonly exchange: (calls: ReadonlyArray<SentCall>) => Effect.Effect<ReadonlyArray<SentAnswer>, LineLost>
}

const describe = (error: unknown): string => {
  const inner = Predicate.hasProperty(error, "reason") && Predicate.hasProperty(error.reason, "cause")
    ? error.reason.cause
    : error
  const text = inner instanceof Error ? inner.message : "unknown"
  return /psk identity|bad record mac/i.test(text) ? "it has another master key" : text
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

const lost = (error: unknown): LineLost => new LineLost({ reason: describe(error) })

/** Opens a connection to the node at `host:port` and runs `use` with it, which ends when the connection does. */
export const dial = (options: {
  readonly node: string
  readonly trust: Trust
  readonly host: string
  readonly port: number
  readonly use: (line: Line) => Effect.Effect<never, LineLost>
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
    const hello = yield* client.Hello({ node, proofs: trust.proofs }).pipe(
      Effect.timeout(openTime),
      Effect.mapError(lost)
    )
    return yield* options.use({
      node: hello.node,
      exchange: (calls) =>
        Effect.mapBoth(client.Exchange(toColumns(calls)), { onSuccess: answersFromColumns, onFailure: lost })
    })
  }).pipe(Effect.scoped, Effect.provide(serialization))
