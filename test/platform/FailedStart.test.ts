import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { spawn } from "node:child_process"
import * as Fs from "node:fs"
import * as Net from "node:net"
import { join } from "node:path"
import { startEmbeddedPostgres } from "../../src/platform/EmbeddedPostgres.ts"
import { Entropy } from "../../src/platform/Entropy.ts"
import { version } from "../../src/platform/Version.ts"
import { databaseUrl, layerOwnDatabase, serverFolder } from "../kit/E2eDatabase.ts"
import { freePort } from "../kit/ServiceProcess.ts"

// Goal: a start that cannot succeed ends before it has made anything, with one line that names the setting to change. Method: the service as a process on
// a taken port; on databases of an earlier and of a later release; the embedded server on a disk that is too small for what it asks.

const main = join(import.meta.dirname, "..", "..", "src", "main.ts")

/** Listens on a port until the scope closes. */
const occupy = Effect.fnUntraced(function*(port: number) {
  yield* Effect.acquireRelease(
    Effect.callback<Net.Server>((resume) => {
      const server = Net.createServer().listen(port, "127.0.0.1", () => resume(Effect.succeed(server)))
    }),
    (server) => Effect.sync(() => void server.close())
  )
})

const startWith = (environment: { readonly [name: string]: string }) =>
  Effect.callback<{ readonly code: number | null; readonly problem: string }>((resume) => {
    const child = spawn(process.execPath, [main], {
      env: { PATH: process.env["PATH"], DEMO: "off", ...environment },
      stdio: ["ignore", "ignore", "pipe"]
    })
    let problem = ""
    child.stderr.setEncoding("utf8").on("data", (chunk: string) => (problem += chunk))
    child.once("close", (code) => resume(Effect.succeed({ code, problem })))
    return Effect.sync(() => child.kill("SIGKILL"))
  })

for (const setting of ["PORT", "BACKOFFICE_PORT"]) {
  it.live(`an occupied ${setting} fails the start before the database is created, and the error names it`, () =>
    Effect.scoped(Effect.gen(function*() {
      const [dataDir, taken, free] = [yield* serverFolder, yield* freePort, yield* freePort]
      yield* occupy(taken)
      const ports = { PORT: String(free), BACKOFFICE_PORT: String(free), [setting]: String(taken) }
      const { code, problem } = yield* startWith({ DATA_DIR: dataDir, ...ports })
      assert.strictEqual(code, 1, problem)
      assert.match(problem, new RegExp(`^pitboss: ${setting}: cannot listen on 127\\.0\\.0\\.1:${taken} .*\\n$`))
      assert.isFalse(Fs.existsSync(join(dataDir, "postgres")))
    })))
}

it.live("a disk without enough space for the database fails the start, and the error names it", () =>
  Effect.scoped(
    Effect.gen(function*() {
      const dataDir = yield* serverFolder
      const starting = startEmbeddedPostgres({ dataDir, minFreeBytes: Number.MAX_SAFE_INTEGER })
      const { message } = yield* Effect.flip(starting)
      assert.match(
        message,
        /^DATA_DIR: \d+ MiB are free on the disk of .+ Free some, or set DATA_DIR to a larger disk\.$/
      )
      assert.isFalse(Fs.existsSync(join(dataDir, "postgres")))
    }).pipe(Effect.provide(Entropy.layer))
  ))

it.live("a database of another PostgreSQL release fails the start, and the error names both releases", () =>
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const [url, dataDir] = [yield* databaseUrl, yield* serverFolder]
    const problemOf = Effect.map(
      Effect.flatMap(freePort, (port) =>
        startWith({
          DATABASE_URL: url,
          DATA_DIR: dataDir,
          MASTER_KEY: Buffer.alloc(32).toString("base64"),
          PORT: String(port),
          BACKOFFICE_PORT: String(port + 1)
        })),
      ({ code, problem }) => [code, problem]
    )
    yield* sql`INSERT INTO schema_migrations (number, name, checksum, release) VALUES (9999, '9999_later', '', '9.0.0')`
    assert.deepStrictEqual(yield* problemOf, [
      1,
      `pitboss: the database is of release 9.0.0 (migration 9999_later), which is later than ${version}. Start release 9.0.0 or a later one.\n`
    ])
    // the record as 0.1.0 left it
    yield* sql`DELETE FROM schema_migrations`
    yield* sql`ALTER TABLE schema_migrations DROP COLUMN release`
    yield* sql`INSERT INTO schema_migrations (number, name, checksum) VALUES (1, '0001_foundation', ''), (93, '0093_imports_apart', '')`
    assert.deepStrictEqual(yield* problemOf, [
      1,
      `pitboss: the database is of release 0.1.0 (migration 0093_imports_apart), which ${version} cannot upgrade. Start on an empty database, and bring the players by export and import (docs/moving.md).\n`
    ])
  }).pipe(Effect.provide(layerOwnDatabase)))
