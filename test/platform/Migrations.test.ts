import { PgClient } from "@effect/sql-pg"
import { assert, it, layer } from "@effect/vitest"
import { Deferred, Effect, Fiber, FileSystem, Layer, Path, Redacted } from "effect"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { SqlClient } from "effect/sql"
import { inject } from "vitest"
import { Entropy } from "../../src/platform/Entropy.ts"
import { loadMigrations, type Migration, migrationsFolder, runMigrations } from "../../src/platform/Migrations.ts"
import { adminQuery, withDatabase } from "../kit/TestServer.ts"

/** A database without a single table, unlike the template that the other tests get. */
const EmptyDatabase = Layer.unwrap(Effect.gen(function*() {
  const server = Redacted.make(inject("testServerUrl"))
  const name = `test_${(yield* Entropy).token("", 12).toLowerCase()}`
  yield* Effect.acquireRelease(
    adminQuery(server, `CREATE DATABASE ${name}`),
    () => Effect.ignore(adminQuery(server, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`))
  )
  return PgClient.layer({ url: withDatabase(server, name), maxConnections: 6 })
})).pipe(Layer.provide(Entropy.layer))

const migration = (number: number, statements: ReadonlyArray<string>, checksum = "first"): Migration => ({
  number,
  name: `${String(number).padStart(4, "0")}_test`,
  checksum,
  text: statements.map((statement) => `${statement};`).join("\n")
})

const create = migration(1, ["CREATE TABLE marks (n int)"])
const insert = migration(2, ["INSERT INTO marks VALUES (1)", "INSERT INTO marks VALUES (2)"])

const marks = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql<{ readonly n: number }>`SELECT n FROM marks ORDER BY n`
  return rows.map((row) => row.n)
})

const inEmptyDatabase = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  effect.pipe(Effect.provide(Layer.fresh(EmptyDatabase)))

// Goal: each file runs once, in order. Method: run one, then both, then both again, and look at what they did.
it.effect("applies pending migrations once", () =>
  Effect.gen(function*() {
    assert.deepStrictEqual(yield* runMigrations([create]), ["0001_test"])
    assert.deepStrictEqual(yield* runMigrations([create, insert]), ["0002_test"])
    assert.deepStrictEqual(yield* runMigrations([create, insert]), [])
    assert.deepStrictEqual(yield* marks, [1, 2])
  }).pipe(inEmptyDatabase))

// Goal: services that start together do not run a file twice. Method: four runs at once on one empty database.
it.effect("lets one of several starting services migrate", () =>
  Effect.gen(function*() {
    const runs = yield* Effect.all(Array.from({ length: 4 }, () => runMigrations([create, insert])), {
      concurrency: "unbounded"
    })
    assert.deepStrictEqual(runs.flat().sort(), ["0001_test", "0002_test"])
    assert.deepStrictEqual(yield* marks, [1, 2])
  }).pipe(inEmptyDatabase))

// Goal: a file that fails half way leaves nothing behind. Method: its second statement is wrong; then it is corrected.
it.effect("applies a file wholly or not at all", () =>
  Effect.gen(function*() {
    yield* runMigrations([create])
    const broken = migration(2, ["INSERT INTO marks VALUES (1)", "INSERT INTO nowhere VALUES (2)"])
    const error = yield* Effect.flip(runMigrations([create, broken]))
    assert.strictEqual(error._tag, "StartupError")
    assert.match(error.message, /^migration 0002_test failed: .*nowhere/)
    assert.notInclude(error.message, "\n")
    assert.deepStrictEqual(yield* marks, [])
    yield* runMigrations([create, insert])
    assert.deepStrictEqual(yield* marks, [1, 2])
  }).pipe(inEmptyDatabase))

// Goal: a file holds any statements, with semicolons in texts, comments and function bodies. Method: a file with each.
it.effect("applies scripts with semicolons in texts, comments and functions", () =>
  Effect.gen(function*() {
    const script = migration(2, [
      "-- one; two\nCREATE FUNCTION twice(n int) RETURNS int LANGUAGE plpgsql AS $$ BEGIN RETURN n * 2; END $$",
      "/* ; */ INSERT INTO marks SELECT twice(length('a;b'))"
    ])
    yield* runMigrations([create, script])
    assert.deepStrictEqual(yield* marks, [6])
  }).pipe(inEmptyDatabase))

// Goal: history cannot be rewritten. Method: an edited, a vanished and a late file, each against an applied one.
it.effect("refuses a history that is not the recorded one", () =>
  Effect.gen(function*() {
    yield* runMigrations([create, migration(3, ["PERFORM 1"])])
    const refusal = (migrations: ReadonlyArray<Migration>) =>
      Effect.map(Effect.flip(runMigrations(migrations)), (error) => error.message)
    assert.strictEqual(
      yield* refusal([migration(1, ["PERFORM 1"], "edited"), migration(3, ["PERFORM 1"])]),
      "migration 0001_test was changed after it had been applied"
    )
    assert.strictEqual(
      yield* refusal([create]),
      "the database has migration 0003_test, which this release does not know"
    )
    assert.strictEqual(
      yield* refusal([create, insert, migration(3, ["PERFORM 1"])]),
      "migration 0002_test comes before ones that are already applied"
    )
    assert.deepStrictEqual(yield* marks, [])
  }).pipe(inEmptyDatabase))

layer(NodeServices.layer)("files", (it) => {
  const folderWith = (files: Record<string, string>) =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const path = yield* Path.Path
      const folder = yield* fs.makeTempDirectoryScoped()
      for (const [name, text] of Object.entries(files)) yield* fs.writeFileString(path.join(folder, name), text)
      return folder
    })

  // Goal: the order is that of the numbers, and a misnamed or doubled file cannot slip in. Method: folders of each kind.
  it.effect("are read in order and refused when misnamed", () =>
    Effect.gen(function*() {
      const good = yield* folderWith({ "0002_b.sql": "SELECT 2;", "0001_a.sql": "SELECT 1; SELECT 1;", "notes.md": "" })
      assert.deepStrictEqual(
        (yield* loadMigrations(good)).map(({ name, text }) => [name, text]),
        [["0001_a", "SELECT 1; SELECT 1;"], ["0002_b", "SELECT 2;"]]
      )
      const misnamed = yield* folderWith({ "1_a.sql": "" })
      assert.match((yield* Effect.flip(loadMigrations(misnamed))).message, /1_a\.sql is not named/)
      const doubled = yield* folderWith({ "0001_a.sql": "", "0001_b.sql": "" })
      assert.match((yield* Effect.flip(loadMigrations(doubled))).message, /two migrations have the number 0001/)
    }))

  // Goal: line endings of a checkout do not look like an edit. Method: the same file with either ending.
  it.effect("have the same checksum with either line ending", () =>
    Effect.gen(function*() {
      const unix = yield* loadMigrations(yield* folderWith({ "0001_a.sql": "SELECT 1;\nSELECT 2;\n" }))
      const windows = yield* loadMigrations(yield* folderWith({ "0001_a.sql": "SELECT 1;\r\nSELECT 2;\r\n" }))
      const edited = yield* loadMigrations(yield* folderWith({ "0001_a.sql": "SELECT 1;\nSELECT 3;\n" }))
      assert.strictEqual(unix[0]?.checksum, windows[0]?.checksum)
      assert.notStrictEqual(unix[0]?.checksum, edited[0]?.checksum)
    }))

  // Goal: the service's own files apply to an empty database. Method: apply them, and see that nothing is left to do.
  it.effect("of the service apply", () =>
    Effect.gen(function*() {
      const own = yield* loadMigrations(migrationsFolder)
      assert.isNotEmpty(own)
      assert.strictEqual((yield* runMigrations(own)).length, own.length)
      assert.deepStrictEqual(yield* runMigrations(own), [])
    }).pipe(inEmptyDatabase))

  // Goal: 0040 goes on from what docs/upgrading.md has operators of large tables run before it, and stops readers of grants only for so long.
  // Method: those statements between 0039 and 0040; then 0040 with a long reader in its way, and without.
  it.effect("of bonus costs finds its column and index made by hand, and gives up behind a long reader", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const sql = yield* SqlClient.SqlClient
      const own = (yield* loadMigrations(migrationsFolder)).filter(({ number }) => number <= 40)
      yield* runMigrations(own.slice(0, -1))
      const guide = yield* fs.readFileString("docs/upgrading.md")
      const [, script = ""] = /Migration 0040[^]*?```sql\n([^]*?);\n```/.exec(guide) ?? []
      const statements = script.split(";\n")
      assert.lengthOf(statements, 4)
      for (const statement of statements) yield* sql.unsafe(statement)
      const [isReading, mayEnd] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      const reader = yield* Effect.forkChild(sql.withTransaction(Effect.gen(function*() {
        yield* sql`SELECT 1 FROM player_bonuses`
        yield* Deferred.succeed(isReading, undefined)
        yield* Deferred.await(mayEnd)
      })))
      yield* Deferred.await(isReading)
      assert.include((yield* Effect.flip(runMigrations(own))).message, "lock timeout")
      yield* Deferred.succeed(mayEnd, undefined)
      yield* Fiber.join(reader)
      assert.deepStrictEqual(yield* runMigrations(own), ["0040_bonus_costs"])
      const [column] =
        yield* sql`SELECT column_default FROM information_schema.columns WHERE column_name = 'is_counted'`
      assert.deepStrictEqual(column, { column_default: "true" })
    }).pipe(inEmptyDatabase))
})
