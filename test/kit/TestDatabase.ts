import { Context, Effect, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { inject } from "vitest"
import { DatabaseUrl, layerDatabaseWith, ReportClient } from "../../src/platform/Database.ts"
import { Entropy } from "../../src/platform/Entropy.ts"
import { adminQuery, asService, templateName, withDatabase } from "./TestServer.ts"

/** Reports read on the general pool: they see the rows of a test's transaction. */
const clients = Layer.effect(ReportClient, SqlClient.SqlClient).pipe(
  Layer.provideMerge(layerDatabaseWith({ allowFsyncOff: true, maxConnections: 6, maxJournalConnections: 2 }))
)

/** A migrated, empty database per layer. */
export class TestDatabase extends Context.Service<TestDatabase, {
  readonly url: Redacted.Redacted
}>()("pitboss/test/TestDatabase") {
  /** Clones the template and drops the clone when the scope closes, open connections included. */
  static readonly layerUrl = Layer.effect(
    TestDatabase,
    Effect.gen(function*() {
      const { token } = yield* Entropy
      const server = Redacted.make(inject("testServerUrl"))
      const name = `test_${token("", 12).toLowerCase()}`
      yield* Effect.acquireRelease(
        adminQuery(server, `CREATE DATABASE ${name} TEMPLATE ${templateName} STRATEGY FILE_COPY`),
        () => Effect.ignore(adminQuery(server, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`))
      )
      return { url: withDatabase(server, name) }
    })
  ).pipe(Layer.provide(Entropy.layer))

  /**
   * A database of its own with the clients of the service on it: `SqlClient`, `ServingClient`, `JournalClient`,
   * `DatabaseUrl` and `TestDatabase`.
   *
   *     layer(Ids.layer.pipe(Layer.provideMerge(TestDatabase.layer)))("Ids", (it) => { it.effect(...) })
   */
  static readonly layer = clients.pipe(
    Layer.provideMerge(Layer.effect(DatabaseUrl, Effect.map(TestDatabase, ({ url }) => ({ url, embedded: true })))),
    Layer.provideMerge(TestDatabase.layerUrl)
  )

  /** Clients of the service's role, which owns no tables, on the same database, as in production. */
  static readonly layerService = Layer.fresh(clients).pipe(
    Layer.provide(
      Layer.effect(
        DatabaseUrl,
        Effect.map(TestDatabase, ({ url }) => ({ url: asService(url), ownerUrl: url, embedded: true }))
      )
    )
  )
}
