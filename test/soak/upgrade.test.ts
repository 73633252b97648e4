import { assert, layer } from "@effect/vitest"
import { Effect, Fiber, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { execFileSync } from "node:child_process"
import { mkdtempSync, rmSync, symlinkSync } from "node:fs"
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
import { laterMain } from "../kit/PatchedSource.ts"
import { freePort, startService } from "../kit/ServiceProcess.ts"

// Goal: the release before keeps serving while the next one migrates the database and serves beside it (docs/upgrading.md), and does not start again
// after it. Method: the release before on a schema that it made; then the next one on the same database, and clients that play the same players through
// both; all recorded answers, and the ledger, are compared with the stored rows. Once as two independent processes, once as two nodes of a cluster.

/** Releases after which there was another one, as tags or commits of the git history. */
const released: ReadonlyArray<string> = []

/** The release before. Undefined until one follows 1.0.0: then these sources are it, and the next one is a copy of them with a migration more. */
const before = released.at(-1)

/** What releases may do to the schema of the one before: a column that a trigger fills in where the release before writes, and a table. */
const expansion = `
ALTER TABLE rounds ADD COLUMN stake_digits integer;
CREATE FUNCTION count_stake_digits() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.stake_digits := length(NEW.real_stake::text);
  RETURN NEW;
END
$$;
CREATE TRIGGER count_stake_digits BEFORE INSERT OR UPDATE ON rounds FOR EACH ROW EXECUTE FUNCTION count_stake_digits();
CREATE INDEX rounds_stake_digits ON rounds (stake_digits) WHERE stake_digits > 7;
CREATE TABLE stake_digits (digits integer PRIMARY KEY, rounds bigint NOT NULL);`

const root = join(import.meta.dirname, "..", "..")

const git = (...args: ReadonlyArray<string>): Buffer =>
  execFileSync("git", [...args], { cwd: root, maxBuffer: 256 * 1024 * 1024, stdio: ["ignore", "pipe", "ignore"] })

/** An export of the project without its git history cannot find the release before. */
const hasHistory = (() => {
  if (before === undefined) return true
  try {
    git("cat-file", "-e", `${before}^{commit}`)
    return true
  } catch {
    return false
  }
})()

/** `main.ts` of a release, with today's packages, in a folder removed with the scope. */
const mainOf = (release: string) =>
  Effect.map(
    Effect.acquireRelease(
      Effect.sync(() => {
        const folder = mkdtempSync(join(tmpdir(), "pitboss-before-"))
        execFileSync("tar", ["-x", "-C", folder], {
          input: git("archive", release, "src", "migrations", "package.json")
        })
        symlinkSync(join(root, "node_modules"), join(folder, "node_modules"))
        return folder
      }),
      (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
    ),
    (folder) => join(folder, "src", "main.ts")
  )

const own = join(root, "src", "main.ts")

/** `main.ts` of the release before, and of the next one. */
const releases = Effect.gen(function*() {
  return before === undefined
    ? { former: own, next: yield* laterMain("99.0.0", expansion) }
    : { former: yield* mainOf(before), next: own }
})

const clients = 8
const seed = seedOfRun()

layer(layerOwnDatabase, { excludeTestServices: true })("a rolling upgrade", (it) => {
  const survive = (kind: "processes" | "nodes") =>
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
      const { former, next } = yield* releases
      const startFormer = Effect.flatMap(
        environmentOf,
        (environment) => startService({ port: oldPort, databaseUrl: url, environment, main: former })
      )
      const old = yield* startFormer
      if (before !== undefined) {
        answersEarlier(oldPort)
        // the next one replays answers that were stored before, and a node forwards to one of before
        answersEarlier(newPort)
      }
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

      const today = yield* startService({
        port: newPort,
        databaseUrl: url,
        environment: yield* environmentOf,
        main: next
      })
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

      for (const { hasExited, port } of [old, today]) {
        assert.isFalse(hasExited())
        assert.strictEqual((yield* exchange(agent, port, "/health/ready")).status, 200)
      }
      old.kill("SIGTERM")
      yield* old.exited
      const { output } = yield* Effect.flip(startFormer)
      assert.match(output, /^pitboss: the database is of release \S+ \(migration \S+\), which is later than .+$/m)
    })

  it.effect.skipIf(!hasHistory)(
    `keeps services of the previous and the next release correct on one database (E2E_SEED=${seed})`,
    () => survive("processes"),
    300_000
  )
  it.effect.skipIf(!hasHistory)(
    `keeps nodes of the previous and the next release correct in one cluster (E2E_SEED=${seed})`,
    () => survive("nodes"),
    300_000
  )
})
