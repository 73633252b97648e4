import { Effect, Redacted, References, type Scope } from "effect"
import { chmod, mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import pg from "pg"
import { startEmbeddedPostgres } from "../../src/platform/EmbeddedPostgres.ts"
import { Entropy } from "../../src/platform/Entropy.ts"
import { BenchError } from "../BenchError.ts"

type Row = Readonly<Record<string, unknown>>

/** The one PostgreSQL server of a run; each target has a database of its own on it. */
export interface Postgres {
  readonly pid: number
  /** The folder its data is in. */
  readonly folder: string
  readonly url: (database: string) => string
  /** Runs SQL in one database over a connection of its own, and returns its rows. */
  readonly query: (
    database: string,
    sql: string,
    values?: ReadonlyArray<unknown>
  ) => Effect.Effect<ReadonlyArray<Row>, BenchError>
}

const temporaryFolder = Effect.acquireRelease(
  Effect.promise(async () => {
    const folder = await mkdtemp(join(tmpdir(), "pitboss-bench-"))
    // Reachable for the user that PostgreSQL runs as when the bench runs as root.
    await chmod(folder, 0o711)
    return folder
  }),
  (folder) => Effect.promise(() => rm(folder, { recursive: true, force: true }))
)

/**
 * Starts the service's own embedded PostgreSQL, with the service's own settings, on fresh data; the server and its
 * data go with the scope.
 */
export const startPostgres: Effect.Effect<Postgres, BenchError, Scope.Scope> = Effect.gen(function*() {
  const folder = yield* temporaryFolder
  const server = yield* startEmbeddedPostgres({ dataDir: folder }).pipe(
    Effect.provide(Entropy.layer),
    Effect.provideService(References.MinimumLogLevel, "Warn"),
    Effect.mapError((error) => new BenchError({ message: error.message }))
  )
  const url = (database: string) => {
    const address = new URL(Redacted.value(server.url))
    address.pathname = `/${database}`
    return address.href
  }
  const query: Postgres["query"] = (database, sql, values = []) =>
    Effect.tryPromise({
      try: async () => {
        const client = new pg.Client({ connectionString: url(database), connectionTimeoutMillis: 10_000 })
        await client.connect()
        try {
          return (await client.query<Row>(sql, [...values])).rows
        } finally {
          await client.end()
        }
      },
      catch: (error) =>
        new BenchError({
          message: `PostgreSQL (${database}): ${error instanceof Error ? error.message : String(error)}`
        })
    })
  return { pid: server.pid, folder, url, query }
})

const reported = [
  "server_version",
  "fsync",
  "synchronous_commit",
  "full_page_writes",
  "wal_level",
  "wal_sync_method",
  "wal_buffers",
  "wal_compression",
  "max_wal_size",
  "checkpoint_timeout",
  "commit_delay",
  "shared_buffers",
  "max_connections",
  "jit"
]

/** The settings that decide how fast a commit is, as the server reports them. */
export const readSettings = (postgres: Postgres): Effect.Effect<Readonly<Record<string, string>>, BenchError> =>
  postgres.query("postgres", "SELECT name, current_setting(name) AS value FROM unnest($1::text[]) AS name", [reported])
    .pipe(Effect.map((rows) => Object.fromEntries(rows.map((row) => [String(row["name"]), String(row["value"])]))))
