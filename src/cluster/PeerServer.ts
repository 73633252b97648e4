/**
 * TLS server of a node for the other nodes. Callers that have not proved to be a node hold few of its connections, and none for long. Closing the
 * server destroys every connection, even one whose handshake ends meanwhile: effect/platform-node's server leaves such a connection paused, and then
 * waits for ever for it to end.
 */
import { Effect, type Scope } from "effect"
import type { ListenOptions, Socket } from "node:net"
import * as Tls from "node:tls"

export interface PeerServer {
  /** Bound port. */
  readonly port: number
  /**
   * Gives every connection whose handshake succeeded to `handle`, until the scope closes; those from before it too. `prove` says that the caller is
   * a peer: before, the connection counts as a stranger's.
   */
  readonly serve: (handle: (socket: Socket, prove: () => void) => void) => Effect.Effect<void, never, Scope.Scope>
}

/** Time limit of a TLS handshake in ms: a peer needs a few. */
const handshakeMs = 2000

/**
 * Maximum connections whose caller has not proved yet that it is a peer. Beyond it the oldest of them is closed, not the newest: that one may be
 * a peer, which proves itself within milliseconds.
 */
const maxStrangers = 256

/** Same for a TCP connection and the TLS socket over it. */
const callerOf = ({ remoteAddress, remotePort }: Socket): string => `${remoteAddress} ${remotePort}`

/** Listens for peers; fails when the address is not available. */
export const listenForPeers = (
  options: Tls.TlsOptions & ListenOptions
): Effect.Effect<PeerServer, Error, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.callback<{ readonly server: PeerServer; readonly close: Effect.Effect<void> }, Error>((resume) => {
      /** By TCP connection, so that those in their handshake are destroyed as well. */
      const connections = new Set<Socket>()
      /** Of them those of callers that have not proved themselves, by the caller, oldest first. */
      const strangers = new Map<string, Socket>()
      let early: Array<readonly [socket: Socket, prove: () => void]> = []
      let handler: ((socket: Socket, prove: () => void) => void) | undefined
      let isClosed = false
      const end = (): void => {
        isClosed = true
        for (const connection of connections) connection.destroy()
      }
      const server = Tls.createServer({ ...options, handshakeTimeout: handshakeMs })
      server.on("connection", (connection: Socket) => {
        connections.add(connection)
        const caller = callerOf(connection)
        strangers.set(caller, connection)
        connection.once("close", () => {
          connections.delete(connection)
          if (strangers.get(caller) === connection) strangers.delete(caller)
        })
        if (strangers.size <= maxStrangers) return
        for (const [caller, oldest] of strangers) {
          strangers.delete(caller)
          return void oldest.destroy()
        }
      })
      server.on("tlsClientError", (_, socket) => socket.destroy())
      server.on("secureConnection", (socket) => {
        // unhandled, an error of a connection would end the process
        socket.on("error", () => {})
        const caller = callerOf(socket)
        const prove = () => void strangers.delete(caller)
        if (isClosed) socket.destroy()
        else if (handler === undefined) early.push([socket, prove])
        else handler(socket, prove)
      })
      server.on("error", (error) => resume(Effect.fail(error)))
      server.listen(options, () => {
        const address = server.address()
        resume(Effect.succeed({
          server: {
            port: typeof address === "object" && address !== null ? address.port : 0,
            serve: (handle) =>
              Effect.acquireRelease(
                Effect.sync(() => {
                  handler = handle
                  for (const [socket, prove] of early) handle(socket, prove)
                  early = []
                }),
                () => Effect.sync(end)
              )
          },
          close: Effect.callback<void>((closed) => {
            server.close(() => closed(Effect.void))
            end()
          })
        }))
      })
    }),
    ({ close }) => close
  ).pipe(Effect.map(({ server }) => server))
