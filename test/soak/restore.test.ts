import { assert, it } from "@effect/vitest"
import { Effect, Exit, Redacted, Scope } from "effect"
import { spawn } from "node:child_process"
import { join } from "node:path"
import { serverFolder } from "../kit/E2eDatabase.ts"
import { makeAgent } from "../kit/HttpCalls.ts"
import {
  type Address,
  environmentAt,
  expectSame,
  freeAddress,
  playCasino,
  playOn,
  staffToken
} from "../kit/PlayedService.ts"
import { findPostgresTools, runPostgresTool, startSystemPostgres } from "../kit/PostgresTools.ts"
import { startService } from "../kit/ServiceProcess.ts"
import { addServiceRole, adminQuery } from "../kit/TestServer.ts"
import { makeSink } from "../kit/WebhookSink.ts"

// Goal: the backups of docs/operations.md are sufficient. A dump of the database and the master key restore the casino: every
// balance, every answer, every secret. PostgreSQL 15 is sufficient too. Method: the service on a server of the system's own PostgreSQL;
// a casino plays; `pg_dump`, then the service and its database are removed; `pg_restore` into an empty database, another service.

const tools = findPostgresTools()
if (tools === undefined) {
  process.stdout.write("skipped: no PostgreSQL with pg_dump and pg_restore (PATH, PG_BIN, /usr/lib/postgresql/*/bin)\n")
}

const cli = join(import.meta.dirname, "..", "..", "src", "cli.ts")

const verifyLedger = ({ backofficePort }: Address) =>
  Effect.callback<{ readonly exitCode: number | null; readonly stdout: string }>((resume) => {
    const child = spawn(process.execPath, [cli, "ledger", "verify"], {
      env: { PATH: process.env["PATH"], BACKOFFICE_PORT: String(backofficePort), BACKOFFICE_TOKEN: staffToken },
      stdio: ["ignore", "pipe", "ignore"]
    })
    let stdout = ""
    child.stdout.on("data", (chunk: Buffer) => (stdout += chunk.toString("utf8")))
    child.on("close", (exitCode) => resume(Effect.succeed({ exitCode, stdout })))
  })

const scene = Effect.gen(function*() {
  if (tools === undefined) return
  const server = yield* startSystemPostgres(tools)
  const admin = Redacted.make(`${server}/postgres`)
  yield* addServiceRole(admin)
  const agent = yield* makeAgent()
  const sink = yield* makeSink()
  const address = yield* freeAddress
  const dump = join(yield* serverFolder, "casino.dump")
  const start = (database: string) =>
    startService({
      port: address.port,
      databaseUrl: `${server}/${database}`,
      environment: { ...environmentAt(address), MASTER_KEY: Buffer.alloc(32, 7).toString("base64") }
    })

  yield* adminQuery(admin, "CREATE DATABASE before")
  const first = yield* Scope.make()
  yield* Scope.provide(start("before"), first)
  const casino = yield* playCasino(agent, address, sink)
  // while the service runs: a dump is a consistent snapshot and waits for no lock
  yield* runPostgresTool(tools, "pg_dump", ["--format=custom", `--file=${dump}`, `${server}/before`])
  yield* playOn(agent, address, casino, sink)
  yield* Scope.close(first, Exit.void)
  yield* adminQuery(admin, "DROP DATABASE before WITH (FORCE)")

  yield* adminQuery(admin, "CREATE DATABASE after")
  yield* runPostgresTool(tools, "pg_restore", [
    "--exit-on-error",
    "--no-owner",
    "--no-privileges",
    "--single-transaction",
    `--dbname=${server}/after`,
    dump
  ])
  yield* start("after")
  yield* expectSame(agent, address, casino)
  const clean = yield* verifyLedger(address)
  assert.strictEqual(clean.exitCode, 0, clean.stdout)
  const told: { readonly players: number; readonly violations: ReadonlyArray<unknown> } = JSON.parse(clean.stdout)
  assert.deepStrictEqual([told.players, told.violations], [casino.seated.length, []])
  yield* playOn(agent, address, casino, sink)
  assert.strictEqual((yield* verifyLedger(address)).exitCode, 0)
})

it.live.skipIf(tools === undefined)(
  `a dump of PostgreSQL ${tools?.version ?? ""} contains the whole casino`,
  () => Effect.scoped(scene),
  300_000
)
