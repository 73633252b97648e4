import { Effect, Exit, Layer, Redacted, References, Scope } from "effect"
import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { chmod, mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { TestProject } from "vitest/node"
import { DatabaseUrl } from "../../src/platform/Database.ts"
import { isRunning } from "../../src/platform/DataDirectoryLock.ts"
import { startEmbeddedPostgres } from "../../src/platform/EmbeddedPostgres.ts"
import { Entropy } from "../../src/platform/Entropy.ts"
import { layerMigrationsWith } from "../../src/platform/Migrations.ts"
import { folderOfServers, inMemory, serverFolderPrefix } from "./ServerFolders.ts"
import { addServiceRole, adminQuery, asService, memoryInFolder, templateName, withDatabase } from "./TestServer.ts"

declare module "vitest" {
  interface ProvidedContext {
    /** The run's own server, as superuser. */
    readonly testServerUrl: string
  }
}

/** Folders of runs that were killed before they could clean up. */
const removeLeftovers = (folder: string) => {
  for (const name of existsSync(folder) ? readdirSync(folder) : []) {
    if (!name.startsWith(serverFolderPrefix)) continue
    try {
      const [pid] = readFileSync(join(folder, name, "service.lock"), "utf8").split("\n")
      if (!isRunning(Number(pid))) rmSync(join(folder, name), { recursive: true, force: true })
    } catch {
      // No claim in it: a run that is just starting, or one that another run is just removing.
    }
  }
}

/** One server for the whole run, with a migrated template that every test file's database is cloned from. */
export default async function setup(project: TestProject) {
  for (const each of [inMemory, tmpdir()]) removeLeftovers(each)
  const dataDir = await mkdtemp(join(folderOfServers(), serverFolderPrefix))
  // Reachable for the user that PostgreSQL runs as when the tests run as root.
  await chmod(dataDir, 0o711)
  const scope = Scope.makeUnsafe()
  const stop = async () => {
    await Effect.runPromise(Scope.close(scope, Exit.void))
    await rm(dataDir, { recursive: true, force: true })
  }
  const start = Effect.gen(function*() {
    const server = yield* startEmbeddedPostgres({
      dataDir,
      // No flush to disk: a power cut loses databases that nobody keeps, and the run is much shorter. What is proved
      // about durability is proved on servers of its own.
      unsafeWithoutSync: true,
      serverSettings: {
        ...memoryInFolder,
        shared_buffers: "128MB",
        max_connections: "300",
        min_wal_size: "80MB",
        autovacuum_naptime: "60s"
      }
    })
    yield* adminQuery(server.url, `CREATE DATABASE ${templateName}`)
    yield* addServiceRole(server.url)
    const ownerUrl = withDatabase(server.url, templateName)
    yield* Effect.scoped(Layer.build(
      layerMigrationsWith({ allowFsyncOff: true }).pipe(
        Layer.provide(Layer.succeed(DatabaseUrl, { url: asService(ownerUrl), ownerUrl, embedded: true }))
      )
    ))
    return Redacted.value(server.url)
  })
  try {
    project.provide(
      "testServerUrl",
      await Effect.runPromise(
        start.pipe(
          Scope.provide(scope),
          Effect.provide(Entropy.layer),
          Effect.provideService(References.MinimumLogLevel, "Warn")
        )
      )
    )
  } catch (error) {
    await stop()
    throw error
  }
  return stop
}
