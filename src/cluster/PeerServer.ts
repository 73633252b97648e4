/**
 * TLS server of a node for its peers. Closing it destroys every connection, also one whose handshake ends meanwhile: that of
 * effect/platform-node leaves such a connection paused, and then waits for its end for ever.
 */
import { Effect, type Scope } from "effect"
import type { ListenOptions, Socket } from "node:net"
import * as Tls from "node:tls"

export interface PeerServer {
  /** Bound port. */
  readonly port: number
  /** Gives every connection whose handshake succeeded to `handle`, until the scope closes; those from before it too. */
  readonly serve: (handle: (socket: Socket) => void) => Effect.Effect<void, never, Scope.Scope>
}

/** Listens for peers; fails when the address is not available. */
export const listenForPeers = (
  options: Tls.TlsOptions & ListenOptions
): Effect.Effect<PeerServer, Error, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.callback<{ readonly server: PeerServer; readonly close: Effect.Effect<void> }, Error>((resume) => {
      /** By TCP connection, so that those in their handshake are destroyed as well. */
      const connections = new Set<Socket>()
      let early: Array<Socket> = []
      let handler: ((socket: Socket) => void) | undefined
      let isClosed = false
      const end = (): void => {
        isClosed = true
        for (const connection of connections) connection.destroy()
      }
      const server = Tls.createServer(options)
      server.on("connection", (connection: Socket) => {
        connections.add(connection)
        connection.once("close", () => connections.delete(connection))
      })
      server.on("tlsClientError", (_, socket) => socket.destroy())
      server.on("secureConnection", (socket) => {
        // unhandled, an error of a connection would end the process
        socket.on("error", () => {})
        if (isClosed) socket.destroy()
        else if (handler === undefined) early.push(socket)
        else handler(socket)
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
                  for (const socket of early) handle(socket)
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
