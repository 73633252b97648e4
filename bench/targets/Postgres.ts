import { Effect, Redacted, References, type Scope } from "effect"
import { readFileSync } from "node:fs"
import { chmod, mkdir, mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import pg from "pg"
import { runningUrl, startEmbeddedPostgres } from "../../src/platform/EmbeddedPostgres.ts"
import { Entropy } from "../../src/platform/Entropy.ts"
import { runningServer } from "../../src/platform/PostgresProcess.ts"
import { BenchError, failedAt } from "../BenchError.ts"

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

/** A folder in the system's temporary one; it goes with the scope. */
export const temporaryFolder = Effect.acquireRelease(
  Effect.promise(async () => {
    const folder = await mkdtemp(join(tmpdir(), "pitboss-bench-"))
    // Reachable for the user that PostgreSQL runs as when the bench runs as root.
    await chmod(folder, 0o711)
    return folder
  }),
  // a killed server's last processes may still write
  (folder) => Effect.promise(() => rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 }))
)

const lastingFolder = (path: string): Effect.Effect<string, BenchError> =>
  Effect.tryPromise({
    try: async () => {
      const folder = resolve(path)
      await mkdir(folder, { recursive: true })
      await chmod(folder, 0o711)
      return folder
    },
    catch: failedAt(path)
  })

export interface PostgresOptions {
  /** Data is kept here, and found again; a temporary folder when left out. */
  readonly folder?: string | undefined
  /** Settings that override the service's. For data generation only: measurements run with the service's. */
  readonly settings?: Readonly<Record<string, string>>
  /** A free one when left out. */
  readonly port?: number | undefined
}

/** A server by its data folder, its address and the process that it is now. */
const postgresAt = (folder: string, address: () => URL, pid: () => number): Postgres => {
  const url = (database: string) => {
    const own = address()
    own.pathname = `/${database}`
    return own.href
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
      catch: failedAt(`PostgreSQL (${database})`)
    })
  return {
    get pid() {
      return pid()
    },
    folder,
    url,
    query
  }
}

/** Process id of the server of a data folder that takes connections; undefined while there is none. */
export const readyPid = (folder: string): number | undefined => {
  try {
    const lines = readFileSync(join(folder, "postgres", "postmaster.pid"), "utf8").split("\n")
    return lines[7]?.trim() === "ready" ? Number(lines[0]) : undefined
  } catch {
    return undefined
  }
}

/** The server that a service of its own runs on a data folder, whichever process it is now. */
export const embeddedIn = (folder: string): Postgres =>
  postgresAt(
    folder,
    () => {
      const url = runningUrl(folder)
      if (url === undefined) throw new Error(`no server runs on ${folder}`)
      return new URL(Redacted.value(url))
    },
    () => runningServer(join(folder, "postgres"))?.pid ?? 0
  )

/**
 * Starts the service's own embedded PostgreSQL, with the service's own settings. The server goes with the scope, and its data
 * unless they are in a folder of the caller's.
 */
export const startPostgres = Effect.fnUntraced(function*(
  options: PostgresOptions = {}
): Effect.fn.Return<Postgres, BenchError, Scope.Scope> {
  const folder = options.folder === undefined ? yield* temporaryFolder : yield* lastingFolder(options.folder)
  const server = yield* startEmbeddedPostgres({
    dataDir: folder,
    serverSettings: options.settings ?? {},
    ...(options.port === undefined ? {} : { port: options.port })
  }).pipe(
    Effect.provide(Entropy.layer),
    Effect.provideService(References.MinimumLogLevel, "Warn"),
    Effect.mapError((error) => new BenchError({ message: error.message }))
  )
  return postgresAt(folder, () => new URL(Redacted.value(server.url)), () => server.pid)
})

/** Gives the present to times that players of another revision must have and this one's have not: what is inserted below leaves them out. */
export const defaultTimes = `DO $$ DECLARE required text; BEGIN
  FOR required IN SELECT column_name FROM information_schema.columns
    WHERE table_name = 'players' AND data_type LIKE 'timestamp%' AND is_nullable = 'NO' AND is_generated = 'NEVER'
      AND column_default IS NULL AND column_name NOT IN ('created_at', 'updated_at')
  LOOP EXECUTE format('ALTER TABLE players ALTER COLUMN %I SET DEFAULT now()', required); END LOOP;
END $$;`

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
