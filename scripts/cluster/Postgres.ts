/** Database of the nodes: that of `DATABASE_URL`, or the embedded one, run by the supervisor for all nodes. */
import { Effect, Exit, Layer, Redacted, Schedule, Scope } from "effect"
import { asRole, DatabaseUrl, layerOwnerClient, serviceRole } from "../../src/platform/Database.ts"
import { startEmbeddedPostgres } from "../../src/platform/EmbeddedPostgres.ts"
import { Entropy } from "../../src/platform/Entropy.ts"
import { layerMigrations } from "../../src/platform/Migrations.ts"
import { ensureRole } from "../../src/platform/Privileges.ts"
import { Settings } from "../../src/platform/Settings.ts"
import { StartupError } from "../../src/platform/StartupError.ts"

/** A node's pools, its membership, and room to look in while it is replaced by another. */
const connectionsPerNode = 35

const spareConnections = 20

/** Starts the embedded server, and again at the same port when it has died. Nodes connect again by themselves. */
const keepEmbeddedPostgres = Effect.fnUntraced(function*(dataDir: string, nodes: number) {
  const serverSettings = { max_connections: String(nodes * connectionsPerNode + spareConnections) }
  let running = yield* Scope.make()
  yield* Effect.addFinalizer(() => Effect.suspend(() => Scope.close(running, Exit.void)))
  const first = yield* Scope.provide(startEmbeddedPostgres({ dataDir, serverSettings }), running)
  let server = first
  const startAgain = Effect.gen(function*() {
    yield* Scope.close(running, Exit.void)
    running = yield* Scope.make()
    server = yield* Scope.provide(startEmbeddedPostgres({ dataDir, serverSettings, port: first.port }), running)
    yield* Effect.annotateLogs(Effect.logInfo("embedded PostgreSQL started again"), { pid: server.pid })
  })
  yield* Effect.suspend(() => server.exited).pipe(
    Effect.andThen(Effect.logWarning("embedded PostgreSQL ended")),
    Effect.andThen(Effect.retry(startAgain, Schedule.spaced("1 second"))),
    Effect.forever,
    Effect.forkScoped
  )
  return first
})

/** The addresses of the migrated database, for the service's role and the owner's, until the scope closes. */
export const openDatabase = Effect.fnUntraced(function*(nodes: number) {
  const { databaseOwnerUrl, databaseUrl, dataDir } = yield* Settings
  const address = yield* Effect.gen(function*() {
    if (databaseUrl !== undefined) return { url: databaseUrl, ownerUrl: databaseOwnerUrl, embedded: false }
    const { url: ownerUrl } = yield* keepEmbeddedPostgres(dataDir, nodes)
    const password = (yield* Entropy).token("", 40)
    yield* Effect.provide(ensureRole(serviceRole, password), layerOwnerClient(ownerUrl)).pipe(
      Effect.catchTag(
        "SqlError",
        () => new StartupError({ message: "the embedded PostgreSQL does not take the service's role" })
      )
    )
    return { url: asRole(ownerUrl, serviceRole, password), ownerUrl, embedded: true }
  })
  yield* Effect.scoped(Layer.build(Layer.provide(layerMigrations, Layer.succeed(DatabaseUrl, address))))
  return {
    DATABASE_URL: Redacted.value(address.url),
    ...(address.ownerUrl === undefined ? {} : { DATABASE_OWNER_URL: Redacted.value(address.ownerUrl) })
  }
})
