import { assert, it } from "@effect/vitest"
import { Effect, Exit, Layer, Logger, Queue, Redacted, References, Schedule, Scope } from "effect"
import { spawn } from "node:child_process"
import * as Fs from "node:fs"
import * as Os from "node:os"
import * as Path from "node:path"
import { isRunning } from "../../src/platform/DataDirectoryLock.ts"
import {
  type EmbeddedOptions,
  keepEmbeddedPostgres,
  startEmbeddedPostgres
} from "../../src/platform/EmbeddedPostgres.ts"
import { Entropy } from "../../src/platform/Entropy.ts"
import { adminQuery, memoryInFolder } from "../kit/TestServer.ts"

// These tests start and kill servers of their own: real processes and real time, never the run's shared server.

/** An empty folder outside any other run's, removed at the end. */
const dataFolder = Effect.acquireRelease(
  Effect.sync(() => Fs.mkdtempSync(Path.join(Os.tmpdir(), "pitboss-embedded-"))),
  (folder) => Effect.sync(() => Fs.rmSync(folder, { recursive: true, force: true }))
)

/** Small and quick to start. fsync stays on by default, as in the service. */
const optionsOf = (dataDir: string, unsafeWithoutSync = false): EmbeddedOptions => ({
  dataDir,
  unsafeWithoutSync,
  serverSettings: { ...memoryInFolder, shared_buffers: "16MB", min_wal_size: "80MB", max_connections: "20" }
})

const quietly = <A, E, R>(start: Effect.Effect<A, E, R>) =>
  start.pipe(Effect.provide(Entropy.layer), Effect.provideService(References.MinimumLogLevel, "Error"))

const start = (dataDir: string, unsafeWithoutSync = false) =>
  quietly(startEmbeddedPostgres(optionsOf(dataDir, unsafeWithoutSync)))

/** Waits until the operating system reports the end of a process. */
const ended = (pid: number) =>
  Effect.sync(() => isRunning(pid)).pipe(
    Effect.repeat({ while: (running) => running, schedule: Schedule.spaced("20 millis") })
  )

it.live("the embedded PostgreSQL keeps its data over a restart and runs with durable settings", () =>
  // Goal: committed data survives a restart, and the settings that make a commit durable are on.
  // Method: write, stop, start again on the same folder, read; ask the server for its settings.
  Effect.gen(function*() {
    const dataDir = yield* dataFolder
    yield* Effect.scoped(Effect.gen(function*() {
      const { url } = yield* start(dataDir)
      yield* adminQuery(url, "CREATE TABLE kept AS SELECT 42 AS n")
    }))
    yield* Effect.scoped(Effect.gen(function*() {
      const { url } = yield* start(dataDir)
      assert.deepStrictEqual(yield* adminQuery(url, "SELECT n FROM kept"), [{ n: 42 }])
      const settings = yield* adminQuery(
        url,
        `SELECT name, setting FROM pg_settings
          WHERE name IN ('fsync', 'full_page_writes', 'synchronous_commit', 'listen_addresses') ORDER BY name`
      )
      assert.deepStrictEqual(settings, [
        { name: "fsync", setting: "on" },
        { name: "full_page_writes", setting: "on" },
        { name: "listen_addresses", setting: "127.0.0.1" },
        { name: "synchronous_commit", setting: "on" }
      ])
      const wrong = new URL(Redacted.value(url))
      wrong.password = "wrong"
      const refused = yield* Effect.flip(adminQuery(Redacted.make(wrong.toString()), "SELECT 1"))
      assert.strictEqual(refused.reason._tag, "AuthenticationError")
    }))
    assert.strictEqual(Fs.statSync(Path.join(dataDir, "postgres.password")).mode & 0o777, 0o600)
    assert.isFalse(Fs.existsSync(Path.join(dataDir, "postgres", "postmaster.pid")), "a clean stop leaves no pid file")
    assert.isFalse(Fs.existsSync(Path.join(dataDir, "service.lock")))
  }))

it.live("the embedded PostgreSQL writes checkpoints often enough to recover within seconds", () =>
  // Goal: a crash under full load leaves a short recovery. Method: the settings that bound it, on a server with the service's own;
  // `npm run bench -- recovery` measures their effect.
  Effect.gen(function*() {
    const dataDir = yield* dataFolder
    const { url } = yield* startEmbeddedPostgres({ dataDir, unsafeWithoutSync: true }).pipe(
      Effect.provide(Entropy.layer),
      Effect.provideService(References.MinimumLogLevel, "Error")
    )
    const settings = yield* adminQuery(
      url,
      "SELECT name, setting, unit FROM pg_settings WHERE name IN ('max_wal_size', 'checkpoint_timeout') ORDER BY name"
    )
    assert.deepStrictEqual(settings, [
      { name: "checkpoint_timeout", setting: "30", unit: "s" },
      { name: "max_wal_size", setting: "512", unit: "MB" }
    ])
  }))

it.live("the embedded PostgreSQL does not get the service's environment", () =>
  // Goal: SQL cannot read the secrets of the service's environment. Method: set them, and read the server's environment
  // from outside and with SQL that runs a program.
  Effect.gen(function*() {
    yield* Effect.acquireRelease(
      Effect.sync(() =>
        Object.assign(process.env, { MASTER_KEY: "planted-master-key", BACKOFFICE_TOKEN: "planted-token" })
      ),
      () =>
        Effect.sync(() => {
          delete process.env["MASTER_KEY"]
          delete process.env["BACKOFFICE_TOKEN"]
        })
    )
    const { pid, url } = yield* start(yield* dataFolder, true)
    assert.notInclude(Fs.readFileSync(`/proc/${pid}/environ`, "utf8"), "planted")
    yield* adminQuery(url, "CREATE TABLE environment (line text)")
    yield* adminQuery(url, "COPY environment FROM PROGRAM 'env'")
    const lines = yield* adminQuery(url, "SELECT line FROM environment")
    assert.include(JSON.stringify(lines), "PATH=")
    assert.notInclude(JSON.stringify(lines), "planted")
  }))

it.live("the start refuses a folder that a running service owns, and leaves that service alone", () =>
  // Goal: two services never share a folder. Method: start on a folder in use; the first server must still answer.
  Effect.gen(function*() {
    const dataDir = yield* dataFolder
    const { url } = yield* start(dataDir, true)
    const refused = yield* Effect.flip(Effect.scoped(start(dataDir, true)))
    assert.strictEqual(
      refused.message,
      `DATA_DIR: ${dataDir} belongs to another running service (process ${process.pid})`
    )
    assert.deepStrictEqual(yield* adminQuery(url, "SELECT 1 AS n"), [{ n: 1 }])
  }))

it.live("the start stops the server of a killed service and takes over its folder", () =>
  // Goal: after a kill -9 the next start works and finds the data, though the old server may still run.
  // Method: a running server whose owner, by the lock file, no longer exists; start again beside it.
  Effect.gen(function*() {
    const dataDir = yield* dataFolder
    const first = yield* start(dataDir)
    yield* adminQuery(first.url, "CREATE TABLE kept AS SELECT 42 AS n")
    const gone = spawn(process.execPath, ["--version"], { stdio: "ignore" })
    yield* Effect.callback<void>((resume) => {
      gone.once("exit", () => resume(Effect.void))
    })
    yield* Effect.sync(() => Fs.writeFileSync(Path.join(dataDir, "service.lock"), `${gone.pid}\nsome boot 1\n`))
    const second = yield* start(dataDir)
    yield* first.exited
    assert.notStrictEqual(second.pid, first.pid)
    assert.deepStrictEqual(yield* adminQuery(second.url, "SELECT n FROM kept"), [{ n: 42 }])
  }))

it.live("a server that dies alone is started again at its address with its data, until it is told to stop", () =>
  // Goal: nobody has to start a service again because its PostgreSQL was killed. Method: kill it twice, each time asking at the address of the first
  // start and looking at the lock, which stays the same file; then stop, after which neither a server nor a lock is left.
  Effect.gen(function*() {
    const dataDir = yield* dataFolder
    const pidOf = () => Number(Fs.readFileSync(Path.join(dataDir, "postgres", "postmaster.pid"), "utf8").split("\n")[0])
    const pids = yield* Effect.scoped(Effect.gen(function*() {
      const { pid, url } = yield* quietly(keepEmbeddedPostgres(optionsOf(dataDir)))
      yield* adminQuery(url, "CREATE TABLE kept AS SELECT 42 AS n")
      const pids = [pid]
      const lockedAt = () => Fs.statSync(Path.join(dataDir, "service.lock"), { bigint: true }).ctimeNs
      const firstLockedAt = lockedAt()
      for (let turn = 0; turn < 2; turn++) {
        const [last = 0] = pids.slice(-1)
        process.kill(last, "SIGKILL")
        yield* ended(last)
        const rows = yield* adminQuery(url, "SELECT n FROM kept").pipe(
          Effect.retry(Schedule.spaced("20 millis")),
          Effect.timeout("60 seconds")
        )
        assert.deepStrictEqual(rows, [{ n: 42 }])
        assert.strictEqual(lockedAt(), firstLockedAt)
        pids.push(pidOf())
      }
      return pids
    }))
    assert.strictEqual(new Set(pids).size, 3)
    assert.deepStrictEqual(pids.filter(isRunning), [])
    assert.isFalse(Fs.existsSync(Path.join(dataDir, "service.lock")))
  }))

it.live("the start ignores a crashed server's pid file, even when the pid now belongs to another program", () =>
  // Goal: a stale pid file needs no manual action. Method: crash the server; then again, with a pid file that names this
  // test's own process, which runs and is not PostgreSQL.
  Effect.gen(function*() {
    const dataDir = yield* dataFolder
    const pidFile = Path.join(dataDir, "postgres", "postmaster.pid")
    for (const forge of [false, true]) {
      yield* Effect.scoped(Effect.gen(function*() {
        const server = yield* start(dataDir)
        yield* adminQuery(server.url, "CREATE TABLE IF NOT EXISTS kept AS SELECT 42 AS n")
        process.kill(server.pid, "SIGKILL")
        yield* server.exited
      }))
      assert.isTrue(Fs.existsSync(pidFile))
      if (forge) {
        const [, ...rest] = Fs.readFileSync(pidFile, "utf8").split("\n")
        Fs.writeFileSync(pidFile, [process.pid, ...rest].join("\n"))
      }
      yield* Effect.scoped(Effect.gen(function*() {
        const { url } = yield* start(dataDir)
        assert.deepStrictEqual(yield* adminQuery(url, "SELECT n FROM kept"), [{ n: 42 }])
      }))
    }
  }))

it.live("the start replaces an unfinished creation of the data folder", () =>
  // Goal: a kill during the first start does not block the next one.
  // Method: what a killed initdb leaves where it works: some of its files, the one with the version among them.
  Effect.gen(function*() {
    const dataDir = yield* dataFolder
    const unfinished = Path.join(dataDir, "postgres.unfinished")
    Fs.mkdirSync(Path.join(dataDir, "postgres"))
    Fs.mkdirSync(Path.join(unfinished, "base"), { recursive: true })
    Fs.writeFileSync(Path.join(unfinished, "PG_VERSION"), "18\n")
    const { url } = yield* start(dataDir, true)
    assert.deepStrictEqual(yield* adminQuery(url, "SELECT 1 AS n"), [{ n: 1 }])
    assert.isFalse(Fs.existsSync(unfinished))
  }))

it.live("the start leaves a folder unchanged that has files but is not a complete database", () =>
  // Goal: no start removes what it has not made. Method: files of somebody else; a database without its version; one without its password.
  Effect.gen(function*() {
    for (
      const [names, reason] of [
        [["postgres/notes.txt"], "has files but no PG_VERSION"],
        [["postgres/base/1/1259", "postgres/global/pg_control", "postgres.password"], "has files but no PG_VERSION"],
        [["postgres/PG_VERSION", "postgres/global/pg_control"], "postgres.password is missing"]
      ] as const
    ) {
      const dataDir = yield* dataFolder
      for (const name of names) {
        const file = Path.join(dataDir, name)
        Fs.mkdirSync(Path.dirname(file), { recursive: true })
        Fs.writeFileSync(file, name)
      }
      const before = Array.from(Fs.readdirSync(dataDir, { recursive: true }), String).toSorted()
      const { uid } = Fs.statSync(Path.join(dataDir, "postgres"))
      assert.include((yield* Effect.flip(Effect.scoped(start(dataDir, true)))).message, reason)
      assert.deepStrictEqual(Array.from(Fs.readdirSync(dataDir, { recursive: true }), String).toSorted(), before)
      for (const name of names) assert.strictEqual(Fs.readFileSync(Path.join(dataDir, name), "utf8"), name)
      assert.strictEqual(Fs.statSync(Path.join(dataDir, "postgres")).uid, uid)
    }
  }))

it.live("a restart creates no new database, and succeeds when the missing folder is back", () =>
  // Goal: a disk that is away for a while costs no data. Method: take away the version, the password, the database, the whole folder, and kill the server;
  // once the log says that it does not start, nothing is in their place. Bring it back, and ask at the first address.
  Effect.gen(function*() {
    const dataDir = Path.join(yield* dataFolder, "data")
    for (const name of ["postgres/PG_VERSION", "postgres.password", "postgres", ""]) {
      yield* Effect.scoped(Effect.gen(function*() {
        const reasons = yield* Queue.unbounded<string>()
        const logger = Logger.make<unknown, void>(({ fiber }) => {
          const { reason } = fiber.getRef(References.CurrentLogAnnotations)
          if (typeof reason === "string") Queue.offerUnsafe(reasons, reason)
        })
        const { pid, url } = yield* keepEmbeddedPostgres(optionsOf(dataDir)).pipe(
          Effect.provide(Layer.merge(Entropy.layer, Logger.layer([logger])))
        )
        yield* adminQuery(url, "CREATE TABLE IF NOT EXISTS kept AS SELECT 42 AS n")
        const [there, away] = [Path.join(dataDir, name), `${dataDir}.away`]
        Fs.renameSync(there, away)
        const others = () => Fs.existsSync(dataDir) ? Fs.readdirSync(dataDir).toSorted() : []
        const before = others()
        process.kill(pid, "SIGKILL")
        assert.match(yield* Queue.take(reasons), /^DATA_DIR: .+ (?:has no database any more|has files but|is missing)/)
        assert.isFalse(Fs.existsSync(there), name)
        assert.deepStrictEqual(others(), before)
        Fs.renameSync(away, there)
        const rows = yield* adminQuery(url, "SELECT n FROM kept").pipe(
          Effect.retry(Schedule.spaced("20 millis")),
          Effect.timeout("60 seconds")
        )
        assert.deepStrictEqual(rows, [{ n: 42 }])
      }))
    }
  }), 120_000)

it.live("the embedded PostgreSQL runs in a folder whose parent only its owner may enter", () =>
  // Goal: a clone below a private home works, as root too, where PostgreSQL must run as another user.
  // Method: two private folders above the data directory.
  Effect.gen(function*() {
    const dataDir = Path.join(yield* dataFolder, "home", "clone", ".data")
    Fs.mkdirSync(Path.dirname(dataDir), { recursive: true, mode: 0o700 })
    const { url } = yield* start(dataDir, true)
    assert.deepStrictEqual(yield* adminQuery(url, "SELECT 1 AS n"), [{ n: 1 }])
  }))

it.live("the embedded PostgreSQL does not outlive a killed service", () =>
  // Goal: kill -9 leaves no server behind (Linux; elsewhere the next start stops it), and the next start works.
  // Method: a process of its own starts the server and is killed; wait for the server to end.
  Effect.gen(function*() {
    const dataDir = yield* dataFolder
    const holder = spawn(process.execPath, [
      Path.join(import.meta.dirname, "..", "kit", "holdPostgres.ts"),
      dataDir
    ], {
      stdio: ["ignore", "pipe", "inherit"]
    })
    yield* Effect.addFinalizer(() => Effect.sync(() => holder.kill("SIGKILL")))
    const pid = yield* Effect.callback<number>((resume) => {
      holder.stdout.once("data", (line) => resume(Effect.succeed(Number(line))))
    })
    assert.isTrue(isRunning(pid))
    holder.kill("SIGKILL")
    if (process.platform === "linux") yield* ended(pid)
    const { url } = yield* start(dataDir, true)
    assert.deepStrictEqual(yield* adminQuery(url, "SELECT 1 AS n"), [{ n: 1 }])
  }))

it.live("the start says in one line why a folder cannot be used", () =>
  // Goal: a wrong DATA_DIR gives a one-line error without a stack. Method: a file in place of the folder.
  Effect.gen(function*() {
    const file = Path.join(yield* dataFolder, "file")
    Fs.writeFileSync(file, "")
    const scope = yield* Scope.make()
    const refused = yield* Effect.flip(Scope.provide(start(file), scope))
    assert.match(refused.message, /^DATA_DIR: .*cannot be used/)
    assert.notInclude(refused.message, "\n")
    yield* Scope.close(scope, Exit.void)
  }))
