import { Effect, type Scope } from "effect"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"

/** Takes webhooks: answers at once, except below `/hang`, where it never does. */
export interface Sink {
  readonly port: number
  /** Deliveries answered, by id, and when the last of them came (`performance.now()`). */
  readonly deliveries: ReadonlySet<string>
  readonly lastAt: () => number
  readonly repeats: () => number
  readonly hanging: () => number
}

export const startSink: Effect.Effect<Sink, never, Scope.Scope> = Effect.gen(function*() {
  const deliveries = new Set<string>()
  let [lastAt, repeats, hanging] = [0, 0, 0]
  const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
    request.resume()
    request.once("end", () => {
      if (request.url?.startsWith("/hang") === true) {
        hanging++
        return
      }
      const id = String(request.headers["x-service-delivery"])
      if (deliveries.has(id)) repeats++
      deliveries.add(id)
      lastAt = performance.now()
      response.writeHead(204).end()
    })
  })
  yield* Effect.acquireRelease(
    Effect.callback<void>((resume) => {
      server.listen(0, "127.0.0.1", () => resume(Effect.void))
    }),
    () =>
      Effect.callback<void>((resume) => {
        server.close(() => resume(Effect.void))
        server.closeAllConnections()
      })
  )
  const address: AddressInfo | string | null = server.address()
  return {
    port: typeof address === "object" && address !== null ? address.port : 0,
    deliveries,
    lastAt: () => lastAt,
    repeats: () => repeats,
    hanging: () => hanging
  }
})
