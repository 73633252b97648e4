/** Servers of tests at a free port of the loopback. */
import { Effect } from "effect"
import type { Server } from "node:net"

/** Has a server listen until the scope closes, and gives its port. `cut`: breaks the connections there are at the end. */
export const listening = (server: Server, cut: () => void) =>
  Effect.map(
    Effect.acquireRelease(
      Effect.callback<void>((resume) => {
        server.listen(0, "127.0.0.1", () => resume(Effect.void))
      }),
      () =>
        Effect.callback<void>((resume) => {
          server.close(() => resume(Effect.void))
          cut()
        })
    ),
    () => {
      const address = server.address()
      return typeof address === "object" && address !== null ? address.port : 0
    }
  )
