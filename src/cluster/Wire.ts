/**
 * What nodes say to each other: one connection to each peer, of which the peer that opened it calls and the other one answers. Calls travel
 * many in a message, and answers as they come, those of one turn of the event loop in a message, so that a slow call delays no other. A
 * message is its length and JSON, read by a schema. Forms are kept from release to release, since two releases run side by side; a change
 * is a message of a new kind. (Effect's RPC took four times the processor time of a message, and messages of a busy node are small.)
 */
import { NodeSocket } from "@effect/platform-node"
import { Deferred, Effect, Fiber, References, Schema, type Scope } from "effect"
import type { SocketServer } from "effect/socket"
import type { Socket } from "node:net"
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

/** The first word of who calls, and that of who answers: an id, or null for a caller with another master key. */
const Hello = Schema.Struct({ kind: Schema.Literal("hello"), node: Schema.String, proofs: Texts })
const Welcome = Schema.Struct({ kind: Schema.Literal("welcome"), node: Schema.NullOr(Schema.String) })

/** In columns, which are read and written several times faster than records. `texts`: door, head and body of each. */
const Calls = Schema.Struct({ kind: Schema.Literal("calls"), ids: Integers, keys: Integers, texts: Texts })

/** `texts`: head and body of each. */
const Answers = Schema.Struct({ kind: Schema.Literal("answers"), ids: Integers, statuses: Integers, texts: Texts })

const Message = Schema.fromJsonString(Schema.Union([Calls, Answers, Hello, Welcome]))
type Message = typeof Message.Type
const readMessage = Schema.decodeUnknownOption(Message)

const toColumns = (calls: ReadonlyArray<SentCall>): Message => {
  const texts: Array<string> = []
  for (const { body, door, head } of calls) texts.push(door, head, body)
  return { kind: "calls", ids: calls.map(({ id }) => id), keys: calls.map(({ key }) => key), texts }
}

const fromColumns = ({ ids, keys, texts }: typeof Calls.Type): ReadonlyArray<SentCall> =>
  ids.map((id, index) => ({
    id,
    key: keys[index] ?? noKey,
    door: texts[index * 3] ?? "",
    head: texts[index * 3 + 1] ?? "",
    body: texts[index * 3 + 2] ?? ""
  }))

const answersToColumns = (answers: ReadonlyArray<SentAnswer>): Message => {
  const texts: Array<string> = []
  for (const { body, head } of answers) texts.push(head, body)
  return {
    kind: "answers",
    ids: answers.map(({ id }) => id),
    statuses: answers.map(({ status }) => status),
    texts
  }
}

const answersFromColumns = ({ ids, statuses, texts }: typeof Answers.Type): ReadonlyArray<SentAnswer> =>
  ids.map((id, index) => ({
    id,
    status: statuses[index] ?? noDoorStatus,
    head: texts[index * 2] ?? "",
    body: texts[index * 2 + 1] ?? ""
  }))

/** The connection could not be opened, or is over. */
export class LineLost extends Schema.TaggedError<LineLost>()("LineLost", { reason: Schema.String }) {}

const otherKey = "it has another master key"

const describe = ({ message }: Error): string => /psk identity|bad record mac/i.test(message) ? otherKey : message

/** Time for a connection, and for the first word of the peer. */
const openTime = "2 seconds"

/** Idle time before TCP asks whether the peer is still there, milliseconds. */
const keepAliveMs = 1000

/** Bytes of a message: lists may be long. */
const maxMessageBytes = 256 * 1024 * 1024

/** Of a caller who has not shown the master key yet. */
const maxStrangeBytes = 64 * 1024

const lengthBytes = 4

/** Messages over a connected socket: `hear` is given each, `lose` is told once why there are no more. */
const speak = (
  socket: Socket,
  hear: (message: Message) => void,
  lose: (reason: string) => void,
  maxBytes: () => number
) => {
  let received: Array<Buffer> = []
  let waiting = 0
  let wanted = lengthBytes
  let isBody = false

  const take = (): Buffer => {
    const bytes = received.length === 1 && received[0] !== undefined ? received[0] : Buffer.concat(received)
    const taken = bytes.subarray(0, wanted)
    received = [bytes.subarray(wanted)]
    waiting -= wanted
    return taken
  }

  socket.on("data", (chunk: Buffer) => {
    received.push(chunk)
    waiting += chunk.length
    while (waiting >= wanted) {
      const bytes = take()
      if (!isBody) {
        wanted = bytes.readUInt32BE(0)
        isBody = true
        if (wanted > maxBytes()) return void socket.destroy(new Error("a message is too long"))
        continue
      }
      wanted = lengthBytes
      isBody = false
      const message = readMessage(bytes.toString("utf8"))
      if (message._tag === "None") return void socket.destroy(new Error("a message is not understood"))
      hear(message.value)
    }
    if (waiting === 0) received = []
  })
  let reason = "the peer ended it"
  socket.on("error", (error) => {
    reason = describe(error)
  })
  socket.on("close", () => lose(reason))
  socket.setNoDelay(true)
  socket.setKeepAlive(true, keepAliveMs)
  socket.resume()

  /** False when the peer has to take some of it before more is sent. */
  const send = (message: Message): boolean => {
    const text = JSON.stringify(message)
    const bytes = Buffer.allocUnsafe(lengthBytes + Buffer.byteLength(text))
    bytes.writeUInt32BE(bytes.length - lengthBytes, 0)
    bytes.write(text, lengthBytes, "utf8")
    return socket.write(bytes)
  }
  return { send }
}

/** Takes calls on a listening socket, until interrupted: `take` is given each, with what answers it. */
export const answerCalls = (options: {
  readonly node: string
  readonly trust: Trust
  readonly server: SocketServer.SocketServer["Service"]
  readonly take: (call: SentCall, answer: (answer: SentAnswer) => void) => void
}): Effect.Effect<void, never, Scope.Scope> => {
  const serve = Effect.gen(function*() {
    const given = yield* Effect.serviceOption(NodeSocket.NetSocket)
    if (given._tag === "None") return yield* Effect.die(new Error("the server gives no sockets"))
    const socket = given.value
    const fork = Effect.runForkWith(yield* Effect.context<never>())
    yield* Effect.callback<void>((resume) => {
      let isKnown = false
      let answered: Array<SentAnswer> = []
      // what is answered in one turn of the event loop travels together
      const flush = Effect.andThen(
        Effect.yieldNow,
        Effect.sync(() => {
          const answers = answered
          answered = []
          if (!socket.destroyed) send(answersToColumns(answers))
        })
      )
      const answer = (one: SentAnswer): void => {
        if (answered.push(one) === 1) fork(flush)
      }
      const { send } = speak(
        socket,
        (message) => {
          if (message.kind === "hello" && !isKnown) {
            isKnown = options.trust.isProof(message.proofs)
            send({ kind: "welcome", node: isKnown ? options.node : null })
            if (isKnown) return
            fork(Effect.logWarning("peer refused: it has another master key"))
            socket.end()
          } else if (message.kind === "calls" && isKnown) {
            for (const call of fromColumns(message)) options.take(call, answer)
          } else {
            socket.destroy()
          }
        },
        () => resume(Effect.void),
        () => isKnown ? maxMessageBytes : maxStrangeBytes
      )
      const ending = fork(Effect.delay(
        Effect.sync(() => {
          if (!isKnown) socket.destroy()
        }),
        openTime
      ))
      return Effect.andThen(Effect.sync(() => socket.destroy()), Fiber.interrupt(ending))
    })
  })
  // a peer that died is no error of this node
  return options.server.run(() => serve).pipe(
    Effect.provideService(References.UnhandledLogLevel, "Debug"),
    Effect.forkScoped,
    Effect.asVoid
  )
}

/** An open connection to a peer. */
export interface Line {
  /** Id of the peer. */
  readonly node: string
  /** Ends when there is room for more. */
  readonly send: (calls: ReadonlyArray<SentCall>) => Effect.Effect<void>
}

/** Socket to a peer, with TLS. */
const open = (host: string, port: number, trust: Trust) =>
  Effect.acquireRelease(
    Effect.callback<Tls.TLSSocket, LineLost>((resume) => {
      const socket = Tls.connect({ ...trust.client, host, port })
      socket.once("error", (error) => resume(new LineLost({ reason: describe(error) })))
      socket.once("secureConnect", () => resume(Effect.succeed(socket)))
      return Effect.sync(() => socket.destroy())
    }),
    (socket) => Effect.sync(() => socket.destroy())
  ).pipe(
    Effect.timeoutOrElse({ duration: openTime, orElse: () => new LineLost({ reason: "it does not answer" }) })
  )

/**
 * Opens a connection to the node at `host:port`: `use` is given it and runs beside it, `hear` gets what is answered. Fails when either is over.
 */
export const dial = (options: {
  readonly node: string
  readonly trust: Trust
  readonly host: string
  readonly port: number
  readonly hear: (answers: ReadonlyArray<SentAnswer>) => void
  readonly use: (line: Line) => Effect.Effect<never>
}): Effect.Effect<never, LineLost> =>
  Effect.gen(function*() {
    const { node, trust } = options
    const socket = yield* open(options.host, options.port, trust)
    const over = yield* Deferred.make<never, LineLost>()
    const welcome = yield* Deferred.make<string, LineLost>()
    const { send } = speak(
      socket,
      (message) => {
        if (message.kind === "answers") options.hear(answersFromColumns(message))
        else if (message.kind === "welcome") {
          Deferred.doneUnsafe(
            welcome,
            message.node === null ? new LineLost({ reason: otherKey }) : Effect.succeed(message.node)
          )
        }
      },
      (reason) => Deferred.doneUnsafe(over, new LineLost({ reason })),
      () => maxMessageBytes
    )
    send({ kind: "hello", node, proofs: trust.proofs })
    const peer = yield* Effect.raceFirst(Deferred.await(welcome), Deferred.await(over)).pipe(
      Effect.timeoutOrElse({ duration: openTime, orElse: () => new LineLost({ reason: "it does not answer" }) })
    )
    const roomLater = Effect.callback<void>((resume) => {
      const done = () => resume(Effect.void)
      socket.once("drain", done)
      return Effect.sync(() => socket.off("drain", done))
    })
    const line: Line = {
      node: peer,
      send: (calls) => Effect.suspend(() => send(toColumns(calls)) ? Effect.void : roomLater)
    }
    return yield* Effect.raceFirst(options.use(line), Deferred.await(over))
  }).pipe(Effect.scoped)
