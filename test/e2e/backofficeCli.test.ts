import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import * as Fs from "node:fs"
import * as Os from "node:os"
import * as Path from "node:path"
import { command, type CommandOptions, layerBothServers, runCommand, runHere } from "../kit/Backoffice.ts"
import { operatorWith } from "../kit/HttpCalls.ts"
import { bootstrapToken, made, registration } from "../kit/Casino.ts"

// Goal: the command line keeps its contract as a process: streams, exit codes, tokens, progress on a terminal. Effects and refusals of
// the commands are tested in spec/commands*.test.ts. Method: a sample of each kind of end, as processes.

const Envelope = Schema.fromJsonString(Schema.Struct({ error: Schema.Struct({ code: Schema.String }) }))

/** A command that must be refused: exit 1, nothing on standard output, the envelope on standard error. */
const refusedBy = (run: typeof runCommand) =>
  Effect.fnUntraced(function*(args: ReadonlyArray<string>, options: CommandOptions = {}) {
    const { exitCode, stderr, stdout } = yield* run(args, options)
    assert.deepStrictEqual([exitCode, stdout], [1, ""], stderr)
    return Schema.decodeUnknownSync(Envelope)(stderr).error.code
  })
const refused = refusedBy(runCommand)
const refusedHere = refusedBy(runHere)

layer(layerBothServers, { excludeTestServices: true })("the command line", (it) => {
  it.effect("prints the roles that may take an action, without the service", () =>
    Effect.gen(function*() {
      const { exitCode, stderr, stdout } = yield* runHere(["staff", "permissions"], { token: undefined })
      assert.deepStrictEqual([exitCode, stderr], [0, ""])
      const rows: ReadonlyArray<{ readonly [column: string]: unknown }> = JSON.parse(stdout)
      const rowOf = (action: string) => rows.find((row) => row["action"] === action) ?? assert.fail(action)
      const roles = { admin: true, support: false, payments: true, compliance: false }
      assert.deepStrictEqual(rowOf("payment approve"), {
        action: "payment approve",
        ...roles,
        bound_staff: true,
        second_factor: true
      })
      assert.deepInclude(rowOf("node drain"), { admin: true, payments: false, bound_staff: false })
    }))

  it.effect("prints one JSON document and exits with 0", () =>
    Effect.gen(function*() {
      const { exitCode, stderr, stdout } = yield* runCommand(
        ["operator", "create", "--slug", "sample", "--name", "A Sample", "--currency", "EUR"]
      )
      assert.deepStrictEqual([exitCode, stderr], [0, ""])
      assert.deepInclude(JSON.parse(stdout), { slug: "sample", name: "A Sample", currency: "EUR" })
      assert.deepInclude(yield* command("operator", "list"), JSON.parse(stdout))
    }))

  it.effect("prints live events for a given number of seconds", () =>
    Effect.gen(function*() {
      const { exitCode, stderr, stdout } = yield* runHere(["figures", "live", "--seconds", "1"])
      assert.deepStrictEqual([exitCode, stderr], [0, ""])
      assert.match(stdout, /^event: overview$/m)
    }))

  it.effect("exits with 1 and prints the report on standard output when the ledger verification fails", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      yield* made("/operators", { slug: "house", name: "House", currency: "EUR" })
      const key = yield* made("/keys", { operator: "house" })
      const { data } = yield* operatorWith(key).post("/players", registration("ada"))
      const { id } = yield* command("player", "correct", String(data.id), "--amount", "2500", "--reason", "welcome")
      yield* sql`UPDATE ledger_entries SET balance_after = balance_after + 1 WHERE id = ${id}`
      const broken = yield* runCommand(["ledger", "verify"])
      assert.strictEqual(broken.exitCode, 1)
      const { violations } = JSON.parse(broken.stdout)
      assert.deepInclude(violations[0], { rule: "balance_chain", player_id: data.id, subject: `entry ${id}` })
      yield* sql`UPDATE ledger_entries SET balance_after = balance_after - 1 WHERE id = ${id}`
    }))

  it.effect("acts as the account whose token is given by flag, environment variable or file", () =>
    Effect.gen(function*() {
      const staff = yield* command("staff", "create", "--name", "Sam", "--role", "support")
      assert.deepInclude(staff, { name: "Sam", role: "support", active: true })
      const as = { token: staff.token }
      assert.strictEqual(yield* refused(["staff", "create", "--name", "Eve"], as), "INSUFFICIENT_SCOPE")
      // --token takes precedence over the variable
      const listed = yield* runCommand(["staff", "list", "--token", bootstrapToken, "--json"], as)
      const { last_used_at: _used, token: _, ...account } = staff
      const [{ last_used_at: used, ...only }] = JSON.parse(listed.stdout)
      assert.deepStrictEqual(only, account)
      assert.isString(used)
      yield* command("staff", "update", String(staff.id), "--active", "false")
      assert.strictEqual(yield* refusedHere(["player", "list"], as), "INVALID_API_KEY")

      const dataDir = Fs.mkdtempSync(Path.join(Os.tmpdir(), "pitboss-cli-"))
      yield* Effect.addFinalizer(() => Effect.sync(() => Fs.rmSync(dataDir, { recursive: true })))
      const asNobody = { token: undefined, dataDir }
      assert.strictEqual(yield* refusedHere(["operator", "list"], asNobody), "MISSING_CREDENTIALS")
      Fs.writeFileSync(Path.join(dataDir, "backoffice.token"), `${bootstrapToken}\n`)
      assert.strictEqual((yield* runCommand(["operator", "list"], asNobody)).exitCode, 0)
    }))

  it.effect("prints refusals on standard error and exits with 1", () =>
    Effect.gen(function*() {
      assert.strictEqual(yield* refused(["operator", "update", "nobody", "--name", "x"]), "NOT_FOUND")
    }))

  it.effect("prints its usage on standard error and exits with 2", () =>
    Effect.gen(function*() {
      const { exitCode, stderr, stdout } = yield* runCommand(["operator", "create", "--slug", "x", "--name", "x"])
      assert.deepStrictEqual([exitCode, stdout], [2, ""])
      assert.include(stderr, "USAGE")
      const help = yield* runCommand(["operator", "create", "--help"])
      assert.deepStrictEqual([help.exitCode, help.stderr], [0, ""])
      assert.include(help.stdout, "--withdrawal-second-approval-above")
    }))

  for (
    const [line, words] of [["ledger verify", "Proving the ledger"], ["secret list", "Opening every secret"]] as const
  ) {
    it.effect(`${line} shows progress on a terminal only`, () =>
      Effect.gen(function*() {
        const told: Array<string> = []
        const waited = yield* runHere(line.split(" "), { progress: (text) => void told.push(text) })
        const piped = yield* runHere(line.split(" "))
        assert.strictEqual(told[0], `${words} … 0 s`)
        assert.strictEqual(told.at(-1), "", "nothing is left of it")
        assert.deepStrictEqual(waited, piped)
        assert.deepStrictEqual([piped.exitCode, piped.stderr], [0, ""])
        assert.doesNotThrow(() => JSON.parse(piped.stdout))
      }))
  }

  it.effect("shows no progress for a quick command", () =>
    Effect.gen(function*() {
      const told: Array<string> = []
      yield* runHere(["operator", "list"], { progress: (text) => void told.push(text) })
      assert.deepStrictEqual(told, [])
    }))
})
