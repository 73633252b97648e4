/** Database of the nodes: that of `DATABASE_URL`, or the embedded one, run by the supervisor for all nodes. */
import { Effect, Layer, Redacted } from "effect"
import { asRole, DatabaseUrl, layerOwnerClient, neededConnections, serviceRole } from "../../src/platform/Database.ts"
import { keepEmbeddedPostgres } from "../../src/platform/EmbeddedPostgres.ts"
import { Entropy } from "../../src/platform/Entropy.ts"
import { layerMigrations } from "../../src/platform/Migrations.ts"
import { ensureRole } from "../../src/platform/Privileges.ts"
import { Settings } from "../../src/platform/Settings.ts"
import { StartupError } from "../../src/platform/StartupError.ts"

/** A node's own, and room to look in while it is replaced by another. */
const connectionsPerNode = neededConnections(true) + 7

const spareConnections = 20

/** The addresses of the migrated database, for the service's role and the owner's, until the scope closes. */
export const openDatabase = Effect.fnUntraced(function*(nodes: number) {
  const { databaseOwnerUrl, databaseUrl, dataDir } = yield* Settings
  const address = yield* Effect.gen(function*() {
    if (databaseUrl !== undefined) return { url: databaseUrl, ownerUrl: databaseOwnerUrl, embedded: false }
    const { url: ownerUrl } = yield* keepEmbeddedPostgres({
      dataDir,
      serverSettings: { max_connections: String(nodes * connectionsPerNode + spareConnections) }
    })
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
