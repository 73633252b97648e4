/** Starts the embedded server on the given folder, prints its process id and waits to be killed. */
import { Effect, References } from "effect"
import { startEmbeddedPostgres } from "../../src/platform/EmbeddedPostgres.ts"
import { Entropy } from "../../src/platform/Entropy.ts"
import { memoryInFolder } from "./TestServer.ts"

const dataDir = process.argv[2] ?? ""

await Effect.runPromise(
  Effect.scoped(Effect.gen(function*() {
    const { pid } = yield* startEmbeddedPostgres({
      dataDir,
      serverSettings: { ...memoryInFolder, shared_buffers: "16MB" }
    })
    process.stdout.write(`${pid}\n`)
    return yield* Effect.never
  })).pipe(
    Effect.provide(Entropy.layer),
    // Standard output carries the number and nothing else.
    Effect.provideService(References.MinimumLogLevel, "None")
  )
)
