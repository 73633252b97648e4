/** Proxy to PostgreSQL that cuts a connection at a chosen moment of its traffic. */
import { Effect, type Scope } from "effect"
import * as Net from "node:net"
import { listening } from "../../kit/Listening.ts"

/**
 * Moment of the cut. `before`: the request does not arrive. `meanwhile`: it arrives, and its answer is dropped.
 * `done`: the answer is complete, and is not passed on. `after`: it is passed on.
 */
export const cutMoments = ["before", "meanwhile", "done", "after"] as const
export type CutMoment = (typeof cutMoments)[number]

export interface CuttingProxy {
  readonly port: number
  /** Cuts the next connection of this kind that gets a request, once; completes with the cut. */
  readonly cut: (moment: CutMoment, whose: "journal" | "anybody") => Effect.Effect<void>
  /** Local ports of its connections to PostgreSQL, which identify the service's server processes. */
  readonly callsFrom: () => ReadonlyArray<number>
}

const typeOf = { sync: 0x53, query: 0x51, readyForQuery: 0x5a }

/** Parses message types from a stream. A client's first message has no type: its bytes are passed to `onGreeting`. */
const messageTypes = (hasGreeting: boolean, onGreeting: (bytes: Buffer) => void) => {
  let rest: Buffer = Buffer.alloc(0)
  let greets = hasGreeting
  return (chunk: Buffer): ReadonlyArray<number> => {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
    const types: Array<number> = []
    for (;;) {
      const head = greets ? 0 : 1
      if (rest.length < head + 4) return types
      const length = head + rest.readInt32BE(head)
      if (rest.length < length) return types
      if (greets) onGreeting(rest.subarray(0, length))
      else types.push(rest.readUInt8(0))
      greets = false
      rest = rest.subarray(length)
    }
  }
}

interface Cut {
  readonly moment: CutMoment
  readonly whose: "journal" | "anybody"
  readonly done: () => void
}

/** A proxy at a free port of the loopback, until the scope closes. */
export const makeCuttingProxy = (upstreamPort: number): Effect.Effect<CuttingProxy, never, Scope.Scope> =>
  Effect.gen(function*() {
    const sockets = new Set<Net.Socket>()
    const upstreams = new Set<Net.Socket>()
    let waiting: Cut | undefined

    const serve = (client: Net.Socket): void => {
      const upstream = Net.connect(upstreamPort, "127.0.0.1")
      let isJournal = false
      /** False until the server is ready for a first query; before that nothing is cut. */
      let isOpen = false
      let cut: Cut | undefined
      const close = (): void => {
        client.destroy()
        upstream.destroy()
      }
      const end = (): void => {
        close()
        cut?.done()
        cut = undefined
      }
      const fromClient = messageTypes(true, (greeting) => {
        isJournal = greeting.includes("pitboss-journal")
      })
      const fromServer = messageTypes(false, () => {})

      client.on("data", (chunk) => {
        const types = fromClient(chunk)
        const isAsked = isOpen && types.some((type) => type === typeOf.sync || type === typeOf.query)
        if (isAsked && waiting !== undefined && (isJournal || waiting.whose === "anybody")) {
          cut = waiting
          waiting = undefined
          if (cut.moment === "before") return end()
          // data written before the end arrives before it
          if (cut.moment === "meanwhile") return void upstream.end(chunk, end)
        }
        upstream.write(chunk)
      })
      upstream.on("data", (chunk) => {
        const isReady = fromServer(chunk).includes(typeOf.readyForQuery)
        isOpen ||= isReady
        if (cut?.moment === "done") return isReady ? end() : undefined
        if (cut?.moment === "after" && isReady) return void client.end(chunk, end)
        client.write(chunk)
      })
      for (const socket of [client, upstream]) {
        socket.setNoDelay(true)
        sockets.add(socket)
        socket.on("error", close)
        socket.on("close", () => {
          sockets.delete(socket)
          upstreams.delete(upstream)
          // the other side closed by itself: also a cut
          end()
        })
      }
      upstreams.add(upstream)
    }

    const server = Net.createServer(serve)
    const port = yield* listening(server, () => {
      for (const socket of sockets) socket.destroy()
    })
    return {
      port,
      cut: (moment, whose) =>
        Effect.callback<void>((resume) => {
          waiting = { moment, whose, done: () => resume(Effect.void) }
        }),
      callsFrom: () => [...upstreams].flatMap(({ localPort }) => localPort ?? [])
    }
  })
