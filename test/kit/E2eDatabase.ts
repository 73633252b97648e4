/**
 * PostgreSQL server of one test, with durable commits, which the service requires. A service in another process runs on
 * it, and it can be stopped and started while the service runs.
 */
import { Effect, Exit, Layer, Redacted, References, Scope } from "effect"
import { chmod, mkdtemp, rm } from "node:fs/promises"
import { join } from "node:path"
import { DatabaseUrl, layerDatabaseWith } from "../../src/platform/Database.ts"
import { type EmbeddedOptions, startEmbeddedPostgres } from "../../src/platform/EmbeddedPostgres.ts"
import { Entropy } from "../../src/platform/Entropy.ts"
import { Ids } from "../../src/platform/Ids.ts"
import { layerMigrations } from "../../src/platform/Migrations.ts"
import { Secrets } from "../../src/platform/Secrets.ts"
import { Settings } from "../../src/platform/Settings.ts"
import { isRunning } from "../../src/platform/DataDirectoryLock.ts"
import type { StartupError } from "../../src/platform/StartupError.ts"
import { folderOfServers, serverFolderPrefix } from "./ServerFolders.ts"
import { freePort } from "./ServiceProcess.ts"
import { addServiceRole, memoryInFolder } from "./TestServer.ts"

/** A folder for a server, removed with the scope; the next run removes it when this one is killed. */
export const serverFolder = Effect.acquireRelease(
  Effect.promise(async () => {
    const folder = await mkdtemp(join(folderOfServers(), serverFolderPrefix))
    // Reachable for the user that PostgreSQL runs as when the tests run as root.
    await chmod(folder, 0o711)
    return folder
  }),
  // the database of a service that was killed may still be writing its last files
  (folder) => Effect.promise(() => rm(folder, { recursive: true, force: true, maxRetries: 10 }))
)

/** Starts a small server on the folder until the scope closes. */
export const startServer = (options: Pick<EmbeddedOptions, "dataDir" | "port" | "onLine">) =>
  startEmbeddedPostgres({
    ...options,
    serverSettings: { ...memoryInFolder, shared_buffers: "64MB", min_wal_size: "80MB", max_connections: "100" }
  }).pipe(
    Effect.tap(({ url }) => Effect.orDie(addServiceRole(url))),
    Effect.provideService(References.MinimumLogLevel, "Warn"),
    Effect.provide(Entropy.layer)
  )

const clientsOn = (database: Layer.Layer<DatabaseUrl, StartupError>) =>
  Layer.mergeAll(Ids.layer, Secrets.layer).pipe(
    Layer.provideMerge(layerDatabaseWith({ maxConnections: 3, maxJournalConnections: 1 })),
    Layer.provideMerge(layerMigrations),
    Layer.provideMerge(database),
    Layer.provideMerge(Settings.layerTest()),
    Layer.provideMerge(Entropy.layer)
  )

/** Migrated database on a separate server, with its clients and the services for provisioning. */
export const layerOwnDatabase = clientsOn(
  Layer.effect(
    DatabaseUrl,
    Effect.gen(function*() {
      const server = yield* startServer({ dataDir: yield* serverFolder })
      return { url: server.url, embedded: true }
    })
  )
)

/** As {@link layerOwnDatabase}, on a server that is there already. */
export const layerDatabaseAt = (url: Redacted.Redacted) =>
  clientsOn(Layer.succeed(DatabaseUrl, { url, embedded: true }))

/** The address of the database, for a process. */
export const databaseUrl = Effect.map(DatabaseUrl, ({ url }) => Redacted.value(url))

/** A server that can go away and come back, on the same data and at the same address. `onLine`: called with each line of its log. */
export const makeFickleServer = Effect.fnUntraced(
  function*(
    { folder = serverFolder, onLine = () => {} }: {
      readonly folder?: Effect.Effect<string, never, Scope.Scope>
      readonly onLine?: (line: string) => void
    } = {}
  ) {
    const dataDir = yield* folder
    const port = yield* freePort
    let running = yield* Scope.make()
    yield* Effect.addFinalizer(() => Effect.suspend(() => Scope.close(running, Exit.void)))
    const start = Effect.suspend(() => Scope.provide(startServer({ dataDir, port, onLine }), running))
    let server = yield* start
    const endings = { "in order": undefined, "at once": "SIGQUIT", killed: "SIGKILL" } as const
    return {
      url: server.url,
      port,
      pid: () => server.pid,
      hasExited: () => !isRunning(server.pid),
      /** Stops the server: gracefully, immediately, or by killing it. */
      leave: (how: keyof typeof endings) =>
        Effect.gen(function*() {
          const signal = endings[how]
          if (signal !== undefined && isRunning(server.pid)) process.kill(server.pid, signal)
          yield* Scope.close(running, Exit.void)
          running = yield* Scope.make()
        }),
      comeBack: Effect.gen(function*() {
        server = yield* start
      })
    }
  }
)
