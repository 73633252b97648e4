/** TCP proxy that can hold its traffic: nothing is lost or closed, and nothing arrives until it is released. */
import { Effect, type Scope } from "effect"
import * as Net from "node:net"
import { listening } from "./Listening.ts"

export interface HoldingProxy {
  readonly port: number
  /** Stops delivery in both directions; new connections are accepted without an error. */
  readonly hold: () => void
  /** Delivers the held traffic. */
  readonly release: () => void
  /** Breaks every connection. */
  readonly cut: () => void
}

/** A proxy at a free port of the loopback in front of another, until the scope closes. */
export const makeHoldingProxy = (upstreamPort: number): Effect.Effect<HoldingProxy, never, Scope.Scope> =>
  Effect.gen(function*() {
    const sockets = new Set<Net.Socket>()
    let isHeld = false
    const pass = (from: Net.Socket, to: Net.Socket): void => {
      sockets.add(from)
      from.setNoDelay(true)
      from.on("data", (chunk) => void to.write(chunk))
      from.on("error", () => to.destroy())
      from.on("end", () => to.end())
      from.on("close", () => {
        sockets.delete(from)
        to.destroy()
      })
      if (isHeld) from.pause()
    }
    const server = Net.createServer({ allowHalfOpen: true }, (client) => {
      const upstream = Net.connect({ port: upstreamPort, host: "127.0.0.1", allowHalfOpen: true })
      pass(client, upstream)
      pass(upstream, client)
    })
    const cut = (): void => {
      for (const socket of sockets) socket.destroy()
    }
    const port = yield* listening(server, cut)
    return {
      port,
      hold: () => {
        isHeld = true
        for (const socket of sockets) socket.pause()
      },
      release: () => {
        isHeld = false
        for (const socket of sockets) socket.resume()
      },
      cut
    }
  })
