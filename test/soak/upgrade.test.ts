import { assert, layer } from "@effect/vitest"
import { Effect, Fiber, Layer, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import { execFileSync } from "node:child_process"
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { LedgerAudit } from "../../src/features/ledger/LedgerAudit.ts"
import { layerChainUnkeyed } from "../kit/Chains.ts"
import { chanceOf, seedOfRun } from "../kit/Chance.ts"
import { playAll, replayAll, until } from "../kit/Client.ts"
import { databaseUrl, layerOwnDatabase } from "../kit/E2eDatabase.ts"
import { addGame, addPaymentMethod, addStudio, addTenant, seat } from "../kit/Casino.ts"
import { answersEarlier, callerOf, exchange, makeAgent, staffOf } from "../kit/HttpCalls.ts"
import { History } from "../kit/History.ts"
import { audit } from "../kit/HistoryAudit.ts"
import { addStaff, exceptAddedStaff } from "../kit/Keys.ts"
import { withdrawalMethod } from "../kit/Operations.ts"
import { freePort, startService } from "../kit/ServiceProcess.ts"

// Goal: the previous version keeps serving while this one migrates the database and serves beside it (docs/upgrading.md). Method: its sources
// from the git history, on a schema that it made; then this version on the same database, and clients that play the same players through
// both; all recorded answers, and the ledger, are compared with the stored rows. Once as two independent processes, once as
// two nodes of a cluster.

/** The last version without nodes, and the first with today's node protocol. Raise them when a version is released. */
const before = { processes: "bbdc9ff", nodes: "f36364f" }

const root = join(import.meta.dirname, "..", "..")

const git = (...args: ReadonlyArray<string>): Buffer =>
  execFileSync("git", [...args], { cwd: root, maxBuffer: 256 * 1024 * 1024, stdio: ["ignore", "pipe", "ignore"] })

/** An export of the project without its git history cannot find the previous version. */
const hasHistory = (() => {
  try {
    for (const version of Object.values(before)) git("cat-file", "-e", `${version}^{commit}`)
    return true
  } catch {
    return false
  }
})()

/** Sources of a version, with today's packages, in a folder removed with the scope. */
const exportOf = (version: string) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const folder = mkdtempSync(join(tmpdir(), "pitboss-before-"))
      mkdirSync(folder, { recursive: true })
      execFileSync("tar", ["-x", "-C", folder], { input: git("archive", version, "src", "migrations", "package.json") })
      symlinkSync(join(root, "node_modules"), join(folder, "node_modules"))
      return folder
    }),
    (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
  )

const clients = 8
const seed = seedOfRun()

layer(layerOwnDatabase, { excludeTestServices: true })("an upgrade", (it) => {
  const survive = (kind: keyof typeof before) =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const url = yield* databaseUrl
      // the schema must be that version's
      yield* sql`DROP SCHEMA public CASCADE`
      yield* sql`CREATE SCHEMA public`
      yield* sql`GRANT USAGE ON SCHEMA public TO PUBLIC`
      const [oldPort, newPort] = [yield* freePort, yield* freePort]
      const environmentOf = Effect.map(
        freePort,
        (port): Record<string, string> => ({
          LOG_LEVEL: "error",
          ...kind === "nodes" ? { CLUSTER: "on", CLUSTER_PORT: String(port) } : {}
        })
      )
      const folder = yield* exportOf(before[kind])
      const old = yield* startService({
        port: oldPort,
        databaseUrl: url,
        environment: yield* environmentOf,
        main: join(folder, "src", "main.ts")
      })
      answersEarlier(oldPort)
      // today's replays answers that were stored before, and a node forwards to one of before
      answersEarlier(newPort)
      const agent = yield* makeAgent()
      const { call: operator, operator: { id: operatorId } } = yield* addTenant(agent, oldPort, "acme")
      yield* addPaymentMethod(operatorId, withdrawalMethod)
      const studio = yield* addStudio(agent, oldPort, "studio")
      const game = yield* addGame(studio.id, "dice")
      const token = yield* addStaff("Grace")
      const chance = chanceOf(seed)
      const seats = yield* Effect.forEach(
        ["player0", "player1", "player2", "player3"],
        (username) => seat(operator, studio.call, game, { username, balance: chance.pick([500, 20_000, 1_000_000]) })
      )
      const lineOf = ({ backofficePort, port }: { readonly backofficePort: number; readonly port: number }) => ({
        operator: callerOf(agent, port, operator.signer),
        provider: callerOf(agent, port, studio.call.signer),
        staff: staffOf(agent, () => backofficePort, token)
      })

      const today = yield* startService({ port: newPort, databaseUrl: url, environment: yield* environmentOf })
      const lines = [lineOf(old), lineOf(today)]
      const history = new History()
      let isOver = false
      const playing = yield* playAll(clients, {
        history,
        seats,
        chanceOf: (stream) => chanceOf(seed, stream),
        lines,
        isOver: () => isOver
      })
      yield* until(() => history.answers >= 600, playing)
      isOver = true
      yield* Fiber.join(playing)

      const references = new Set(seats.map((_, index) => `first-player${index}`))
      const found = yield* audit(history, { references, others: new Set<number>() })
      assert.deepStrictEqual(found.violations, [])
      assert.strictEqual(history.lost, 0)
      yield* Effect.forEach(lines, (line) => replayAll(history, line), { concurrency: 2 })
      const proof = yield* Effect.flatMap(LedgerAudit, ({ verify }) => verify(undefined)).pipe(
        Effect.provide(LedgerAudit.layer.pipe(Layer.provide(layerChainUnkeyed)))
      )
      assert.deepStrictEqual(exceptAddedStaff(proof.violations), [])

      // rows of either version have their operator; a job fills in those from before the column
      for (const table of ["rounds", "provider_transactions", "game_sessions"]) {
        const counted =
          sql`SELECT count(*) > 0 AS some, count(*) FILTER (WHERE operator_id IS DISTINCT FROM ${operatorId})
            = 0 AS named FROM ${sql(table)}`
        yield* counted.pipe(
          Effect.repeat({ until: ([row]) => row?.named === true, schedule: Schedule.spaced("50 millis") }),
          Effect.timeoutOption("1 minute")
        )
        const [rows] = yield* counted
        assert.deepStrictEqual(rows, { some: true, named: true }, table)
      }
      for (const { hasExited, port } of [old, today]) {
        assert.isFalse(hasExited())
        assert.strictEqual((yield* exchange(agent, port, "/health/ready")).status, 200)
      }
    })

  it.effect.skipIf(!hasHistory)(
    `is survived by the version before (E2E_SEED=${seed})`,
    () => survive("processes"),
    300_000
  )
  it.effect.skipIf(!hasHistory)(
    `is survived by a node of the version before (E2E_SEED=${seed})`,
    () => survive("nodes"),
    300_000
  )
})
