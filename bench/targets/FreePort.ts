import { Effect } from "effect"
import { createServer } from "node:net"
import { BenchError } from "../BenchError.ts"

/** A TCP port that was free a moment ago. */
export const freePort: Effect.Effect<number, BenchError> = Effect.callback((resume) => {
  const server = createServer()
  server.once("error", (error) => resume(Effect.fail(new BenchError({ message: `no free port: ${error.message}` }))))
  server.listen(0, "127.0.0.1", () => {
    const address = server.address()
    const port = address === null || typeof address === "string" ? 0 : address.port
    server.close(() => resume(Effect.succeed(port)))
  })
})
