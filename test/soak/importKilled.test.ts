import { assert, layer } from "@effect/vitest"
import { Effect, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import { spawn } from "node:child_process"
import * as Fs from "node:fs"
import * as Os from "node:os"
import * as Path from "node:path"
import { addPaymentMethod, addTenant } from "../kit/Casino.ts"
import { databaseUrl, layerOwnDatabase } from "../kit/E2eDatabase.ts"
import { makeAgent, staffOf } from "../kit/HttpCalls.ts"
import { addStaff } from "../kit/Keys.ts"
import { compileCache, freePort, startService } from "../kit/ServiceProcess.ts"

// Goal: an import that dies, with or without its service, goes on, and each line is in once or not at all. Method: processes that are killed at different
// places; afterwards totals, rows and the ledger.

const count = 3000
const cli = Path.join(import.meta.dirname, "..", "..", "src", "cli.ts")

const linesOf = (index: number): ReadonlyArray<object> => {
  const external_id = `old-${String(index).padStart(6, "0")}`
  const player = {
    external_id,
    username: `mover_${index}`,
    email: `${external_id}@example.com`,
    first_name: "Mo",
    last_name: `Ver ${index}`,
    birth_date: "1980-01-02",
    country: "DE",
    created_at: "2024-01-02T03:04:05.000Z",
    balance: index
  }
  const withdrawal = {
    kind: "open_withdrawal",
    external_id,
    amount: 7,
    payment_method: "bank",
    external_reference: `w-${index}`,
    created_at: "2026-01-01T00:00:00.000Z"
  }
  return index % 50 === 0 ? [player, withdrawal] : [player]
}

layer(layerOwnDatabase, { excludeTestServices: true })("imports while their process is killed", (it) => {
  it.effect(
    "end with the approved totals and a valid ledger, also after repeated kills",
    () =>
      Effect.scoped(Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const folder = yield* Effect.acquireRelease(
          Effect.sync(() => Fs.mkdtempSync(Path.join(Os.tmpdir(), "pitboss-killed-"))),
          (made) => Effect.sync(() => Fs.rmSync(made, { recursive: true }))
        )
        const file = Path.join(folder, "players.ndjson")
        const lines = Array.from({ length: count }, (_, index) => linesOf(index)).flat()
        Fs.writeFileSync(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(""))
        const port = yield* freePort
        const start = startService({ port, databaseUrl: yield* databaseUrl, environment: { LOG_LEVEL: "error" } })
        let service = yield* start
        const [maker, checker] = [yield* addStaff("Maker"), yield* addStaff("Checker")]
        const agent = yield* makeAgent()
        const { operator } = yield* addTenant(agent, port, "acme")
        yield* addPaymentMethod(operator.id, "bank")

        const begin = (token: string, ...args: ReadonlyArray<string>) => {
          const child = spawn(process.execPath, [cli, ...args], {
            env: {
              PATH: process.env["PATH"],
              NODE_COMPILE_CACHE: compileCache,
              BACKOFFICE_PORT: String(service.backofficePort),
              BACKOFFICE_TOKEN: token
            },
            stdio: ["ignore", "pipe", "inherit"]
          })
          let stdout = ""
          child.stdout.on("data", (chunk: Buffer) => (stdout += chunk.toString("utf8")))
          const closed = new Promise<number | null>((resolve) => {
            child.once("close", resolve)
          })
          const ended = Effect.map(Effect.promise(() => closed), (code) => ({ code, stdout }))
          return { ended, kill: () => child.kill("SIGKILL") }
        }
        const importing = (...flags: ReadonlyArray<string>) =>
          begin(maker, "import", "--operator", "acme", file, "--out", folder, ...flags)
        const progress = Effect.map(
          sql<{ readonly done: number }>`SELECT (SELECT count(*) FROM imported_players)::integer
          + (SELECT count(*) FROM import_chunks)::integer AS done`,
          ([row]) => row?.done ?? 0
        )
        const until = (done: number) =>
          Effect.repeat(Effect.delay(progress, "20 millis"), {
            schedule: Schedule.forever,
            until: (now) => now >= done
          })

        // while it is checked
        const checking = importing()
        yield* until(4)
        checking.kill()
        yield* checking.ended
        const proposed = yield* importing("--resume").ended
        assert.strictEqual(proposed.code, 0)
        const totals = Fs.readFileSync(Path.join(folder, "totals.json"), "utf8")
        const sum = count * (count - 1) / 2
        assert.deepInclude(JSON.parse(totals), { players: count, balances: { EUR: sum }, rejected: 0 })
        const { import: { id } } = JSON.parse(proposed.stdout)
        assert.strictEqual((yield* begin(checker, "import-run", "approve", String(id)).ended).code, 0)

        // while it is posted: the command, the service, and both
        const chunks = yield* progress
        for (const [turn, victims] of (["command", "service", "both"] as const).entries()) {
          const posting = importing("--resume")
          yield* until(chunks + (turn + 1) * count / 5)
          if (victims !== "service") posting.kill()
          if (victims !== "command") {
            service.kill("SIGKILL")
            yield* service.exited
            // the command would wait for a service at the same port: this one begins at another
            posting.kill()
            service = yield* start
          }
          yield* posting.ended
        }
        const posted = yield* importing("--resume").ended
        assert.strictEqual(posted.code, 0)
        assert.strictEqual(JSON.parse(posted.stdout).import.status, "posted")
        assert.strictEqual(Fs.readFileSync(Path.join(folder, "totals.json"), "utf8"), totals)

        const rows =
          sql`SELECT (SELECT count(*) FROM players) AS players, (SELECT count(*) FROM ledger_entries) AS entries,
        (SELECT sum(real_balance) FROM accounts) AS balances, (SELECT count(*) FROM payment_requests) AS payments`
        const before = yield* rows
        assert.deepStrictEqual(before.map((row) => [row["players"], row["balances"], row["payments"]].map(Number)), [
          [count, sum, count / 50]
        ])
        const again = yield* importing().ended
        assert.deepStrictEqual([again.code, Fs.readFileSync(Path.join(folder, "totals.json"), "utf8")], [0, totals])
        assert.deepStrictEqual(yield* rows, before)
        const staff = staffOf(agent, () => service.backofficePort, maker)
        const { status, text } = yield* staff.send("/backoffice/v1/ledger/verification?operator=acme")
        assert.strictEqual(status, 200)
        assert.deepInclude(JSON.parse(text).data, { players: count, violations: [] })
      })),
    120_000
  )
})
