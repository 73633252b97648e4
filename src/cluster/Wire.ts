/**
 * Connections between nodes: one to each peer, on which the opening side calls and the other side answers. A message carries many calls, or answers
 * of one turn of the event loop in the order of completion, so that a slow call delays no other. It is sent as its length followed by its bytes
 * (`Messages.ts`). (Effect's RPC took four times the processor time per message, and messages of a busy node are small.)
 */
import { Deferred, Effect, Schema, type Scope } from "effect"
import type { Socket } from "node:net"
import * as Tls from "node:tls"
import { makeTurnEnd } from "../platform/TurnEnd.ts"
import {
  lengthBytes,
  markForm,
  type Message,
  answerMessages,
  newestForm,
  readMessage,
  type SentAnswer,
  type SentCall,
  writeCalls,
  writeWord
} from "./Messages.ts"
import type { PeerServer } from "./PeerServer.ts"
import type { Trust } from "./Trust.ts"

/** The connection could not be opened, or has ended. */
export class LineLost extends Schema.TaggedError<LineLost>()("LineLost", { reason: Schema.String }) {}

const otherKey = "the peer's MASTER_KEY differs"

const describe = ({ message }: Error): string => /psk identity|bad record mac/i.test(message) ? otherKey : message

/** Time limit for connecting and for the peer's first message. */
const openTime = "2 seconds"

/** Idle time in ms before TCP keep-alive probes the peer. */
const keepAliveMs = 1000

/** Maximum message size in bytes; large because of lists. */
const maxMessageBytes = 256 * 1024 * 1024

/** Maximum message size in bytes before the caller has proved that it knows the master key. */
const maxStrangeBytes = 64 * 1024

/** Frames messages over a connected socket: `hear` gets each one, `lose` gets the reason of the end, once. */
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
      const message = readMessage(bytes)
      if (message === undefined) return void socket.destroy(new Error("a message cannot be decoded"))
      hear(message)
    }
    if (waiting === 0) received = []
  })
  let reason = "the peer closed the connection"
  socket.on("error", (error) => {
    reason = describe(error)
  })
  socket.on("close", () => lose(reason))
  socket.setNoDelay(true)
  socket.setKeepAlive(true, keepAliveMs)
  socket.resume()
}

interface Caller {
  readonly end: () => void
  /** Sends it the newest epoch, which it returns before its next calls. */
  readonly mark: () => void
}

/**
 * Accepts calls on a listening socket until the scope closes: `take` gets each call, the function that answers it, and whether its caller knew of an
 * epoch of this node when it sent the call. A caller that has connected again sends the calls of its old connection a second time: calls that
 * still arrive over that one are ignored.
 */
export const makeCallServer = (options: {
  readonly node: string
  readonly trust: Trust
  readonly server: PeerServer
  /** Newest epoch of this node, and the registration of a listener for new ones. */
  readonly newestEpoch: () => number
  readonly listen: (listener: () => void) => void
  readonly take: (
    call: SentCall,
    answer: (answer: SentAnswer) => void,
    isKnownEpoch: (epoch: number) => boolean
  ) => void
}): Effect.Effect<void, never, Scope.Scope> =>
  Effect.gen(function*() {
    const fork = Effect.runForkWith(yield* Effect.context<never>())
    const whenTurnEnds = yield* makeTurnEnd
    // Kept: callers. The connection of each calling node. Several nodes: its own.
    const callers = new Map<string, Caller>()
    options.listen(() => callers.forEach(({ mark }) => mark()))
    yield* options.server.serve((socket, prove) => {
      let isKnown = false
      let form = 1
      /** Newest epoch in a mark that the caller has returned. */
      let knownEpoch = 0
      /** Newest epoch in a mark sent to it. */
      let markedEpoch = 0
      let name = ""
      let answered: Array<SentAnswer> = []
      const flush = (): void => {
        const answers = answered
        answered = []
        if (socket.destroyed) return
        for (const message of answerMessages(answers, form, maxMessageBytes)) socket.write(message)
      }
      // answers of one turn of the event loop share a message
      const answer = (one: SentAnswer): void => {
        if (answered.push(one) === 1) whenTurnEnds(flush)
      }
      const caller: Caller = {
        end: () => socket.destroy(),
        mark: () => {
          const epoch = options.newestEpoch()
          if (form < markForm || epoch <= markedEpoch || socket.destroyed) return
          markedEpoch = epoch
          socket.write(writeWord({ kind: "mark", epoch }))
        }
      }
      const isKnownEpoch = (epoch: number): boolean => {
        if (epoch <= knownEpoch || form < markForm) return true
        caller.mark()
        return false
      }
      const ending = fork(Effect.delay(
        Effect.sync(() => {
          if (!isKnown) socket.destroy()
        }),
        openTime
      ))
      speak(
        socket,
        (message) => {
          if (socket.destroyed) return
          if (message.kind === "hello" && !isKnown) {
            isKnown = options.trust.isProof(message.proofs)
            form = message.form ?? form
            if (isKnown) {
              prove()
              name = message.node
              callers.get(name)?.end()
              callers.set(name, caller)
              // no call precedes the welcome
              knownEpoch = options.newestEpoch()
              markedEpoch = knownEpoch
            }
            socket.write(writeWord({ kind: "welcome", node: isKnown ? options.node : null, form: newestForm }))
            if (isKnown) return
            fork(Effect.logWarning("peer refused: its MASTER_KEY differs"))
            socket.end()
          } else if (message.kind === "calls" && isKnown) {
            for (const call of message.calls) options.take(call, answer, isKnownEpoch)
          } else if (message.kind === "mark" && isKnown) {
            knownEpoch = Math.max(knownEpoch, Math.min(message.epoch, markedEpoch))
          } else {
            socket.destroy()
          }
        },
        () => {
          ending.interruptUnsafe()
          if (callers.get(name) === caller) callers.delete(name)
        },
        () => isKnown ? maxMessageBytes : maxStrangeBytes
      )
    })
  })

/** An open connection to a peer. */
export interface Line {
  /** Id of the peer. */
  readonly node: string
  readonly send: (calls: ReadonlyArray<SentCall>) => void
  /** False while the socket's send buffer is full (back-pressure). */
  readonly hasRoom: () => boolean
}

/** TLS socket to a peer. */
const open = (host: string, port: number, trust: Trust) =>
  Effect.acquireRelease(
    Effect.callback<Tls.TLSSocket, LineLost>((resume) => {
      const socket = Tls.connect({ ...trust.client, host, port })
      socket.once("error", (error) => resume(new LineLost({ reason: describe(error) })))
      socket.once("secureConnect", () => resume(Effect.succeed(socket)))
      return Effect.sync(() => socket.destroy())
    }),
    (socket) => Effect.sync(() => socket.destroy()),
    // interruptible: neither the time limit below nor the end of this node waits for a peer that accepts the connection and stays silent
    { interruptible: true }
  ).pipe(
    Effect.timeoutOrElse({ duration: openTime, orElse: () => new LineLost({ reason: "the peer does not answer" }) })
  )

/**
 * Opens a connection to the node at `host:port`: `use` gets it, `hear` gets answers, `goOn` is called when the send buffer has drained. Fails when
 * the connection ends.
 */
export const dial = (options: {
  readonly node: string
  readonly trust: Trust
  readonly host: string
  readonly port: number
  readonly hear: (answers: ReadonlyArray<SentAnswer>) => void
  readonly use: (line: Line) => void
  readonly goOn: () => void
}): Effect.Effect<never, LineLost> =>
  Effect.gen(function*() {
    const { node, trust } = options
    const socket = yield* open(options.host, options.port, trust)
    const over = yield* Deferred.make<never, LineLost>()
    const welcome = yield* Deferred.make<string, LineLost>()
    let form = 1
    speak(
      socket,
      (message) => {
        if (message.kind === "answers") options.hear(message.answers)
        else if (message.kind === "mark") socket.write(writeWord(message))
        else if (message.kind === "welcome") {
          form = message.form ?? form
          Deferred.doneUnsafe(
            welcome,
            message.node === null ? new LineLost({ reason: otherKey }) : Effect.succeed(message.node)
          )
        }
      },
      (reason) => Deferred.doneUnsafe(over, new LineLost({ reason })),
      () => maxMessageBytes
    )
    socket.write(writeWord({ kind: "hello", node, proofs: trust.proofs, form: newestForm }))
    const peer = yield* Effect.raceFirst(Deferred.await(welcome), Deferred.await(over)).pipe(
      Effect.timeoutOrElse({ duration: openTime, orElse: () => new LineLost({ reason: "the peer does not answer" }) })
    )
    socket.on("drain", options.goOn)
    options.use({
      node: peer,
      send: (calls) => void socket.write(writeCalls(calls, form)),
      hasRoom: () => !socket.writableNeedDrain
    })
    return yield* Deferred.await(over)
  }).pipe(Effect.scoped)
