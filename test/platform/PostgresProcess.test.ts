import { assert, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { spawn } from "node:child_process"
import * as Fs from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { openServer } from "../../scripts/backup/DataDirectory.ts"
import { runningUrl } from "../../src/platform/EmbeddedPostgres.ts"
import { Entropy } from "../../src/platform/Entropy.ts"

// Goal: backup and doctor take a process for the running server only when it serves the folder. Method: a pid file that names this test's own process, then
// one that names a process in the folder.

const dataFolder = Effect.acquireRelease(
  Effect.sync(() => {
    const dataDir = Fs.mkdtempSync(join(tmpdir(), "pitboss-running-"))
    Fs.mkdirSync(join(dataDir, "postgres"))
    Fs.writeFileSync(join(dataDir, "postgres.password"), "secret\n")
    return dataDir
  }),
  (dataDir) => Effect.sync(() => Fs.rmSync(dataDir, { recursive: true }))
)

const writePidFile = (dataDir: string, pid: number) => {
  const directory = join(dataDir, "postgres")
  Fs.writeFileSync(join(directory, "postmaster.pid"), `${pid}\n${directory}\n1\n54321\n`)
}

it.effect("a pid file that names another program's process does not count as a running server", () =>
  Effect.gen(function*() {
    const dataDir = yield* dataFolder
    writePidFile(dataDir, process.pid)
    assert.isUndefined(runningUrl(dataDir))
    // a server is started then, and this folder has no database
    const refused = yield* Effect.flip(openServer(dataDir))
    assert.include(refused.message, "has files but no PG_VERSION")
  }).pipe(Effect.scoped, Effect.provide(Entropy.layer)))

it.effect("a pid file that names a process in the folder gives the address of the running server", () =>
  Effect.gen(function*() {
    const dataDir = yield* dataFolder
    const { pid } = yield* Effect.acquireRelease(
      Effect.callback<ReturnType<typeof spawn>>((resume) => {
        const script = "setInterval(() => {}, 1000)"
        const child = spawn(process.execPath, ["-e", script], { cwd: join(dataDir, "postgres"), stdio: "ignore" })
        child.once("spawn", () => resume(Effect.succeed(child)))
      }),
      (child) => Effect.sync(() => child.kill("SIGKILL"))
    )
    writePidFile(dataDir, pid ?? 0)
    const url = "postgres://pitboss:secret@127.0.0.1:54321/postgres"
    assert.deepStrictEqual(runningUrl(dataDir), Redacted.make(url))
    assert.strictEqual(Redacted.value(yield* openServer(dataDir)), url)
  }).pipe(Effect.scoped, Effect.provide(Entropy.layer)))
