import { PgClient } from "@effect/sql-pg"
import { assert, it, layer } from "@effect/vitest"
import { Effect, FileSystem, Layer, Path, Redacted } from "effect"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { SqlClient } from "effect/sql"
import { inject } from "vitest"
import { Entropy } from "../../src/platform/Entropy.ts"
import { loadMigrations, type Migration, migrationsFolder, runMigrations } from "../../src/platform/Migrations.ts"
import { version } from "../../src/platform/Version.ts"
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

const refusal = (migrations: ReadonlyArray<Migration>) =>
  Effect.map(Effect.flip(runMigrations(migrations)), (error) => error.message)

const inEmptyDatabase = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  effect.pipe(Effect.provide(Layer.fresh(EmptyDatabase)))

// Goal: each file runs once, in order. Method: run one, then both, then both again, and look at what they did.
it.effect("pending migrations are applied once", () =>
  Effect.gen(function*() {
    assert.deepStrictEqual(yield* runMigrations([create]), ["0001_test"])
    assert.deepStrictEqual(yield* runMigrations([create, insert]), ["0002_test"])
    assert.deepStrictEqual(yield* runMigrations([create, insert]), [])
    assert.deepStrictEqual(yield* marks, [1, 2])
  }).pipe(inEmptyDatabase))

// Goal: services that start together do not run a file twice. Method: four runs at once on one empty database.
it.effect("migrations are applied by one of several services that start together", () =>
  Effect.gen(function*() {
    const runs = yield* Effect.all(Array.from({ length: 4 }, () => runMigrations([create, insert])), {
      concurrency: "unbounded"
    })
    assert.deepStrictEqual(runs.flat().sort(), ["0001_test", "0002_test"])
    assert.deepStrictEqual(yield* marks, [1, 2])
  }).pipe(inEmptyDatabase))

// Goal: a file that fails half way leaves nothing behind. Method: its second statement is wrong; then it is corrected.
it.effect("a migration file is applied entirely or not at all", () =>
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
it.effect("migration files may contain semicolons in string literals, comments and functions", () =>
  Effect.gen(function*() {
    const script = migration(2, [
      "-- one; two\nCREATE FUNCTION twice(n int) RETURNS int LANGUAGE plpgsql AS $$ BEGIN RETURN n * 2; END $$",
      "/* ; */ INSERT INTO marks SELECT twice(length('a;b'))"
    ])
    yield* runMigrations([create, script])
    assert.deepStrictEqual(yield* marks, [6])
  }).pipe(inEmptyDatabase))

// Goal: history cannot be rewritten. Method: an edited and a late file, each against an applied one.
it.effect("a database whose migration history differs from the files is refused", () =>
  Effect.gen(function*() {
    yield* runMigrations([create, migration(3, ["PERFORM 1"])])
    assert.strictEqual(
      yield* refusal([migration(1, ["PERFORM 1"], "edited"), migration(3, ["PERFORM 1"])]),
      "migration 0001_test was changed after it had been applied. Start the release whose file it was."
    )
    assert.strictEqual(
      yield* refusal([create, insert, migration(3, ["PERFORM 1"])]),
      "migration 0002_test comes before ones that are already applied. Give it the next number."
    )
    assert.deepStrictEqual(yield* marks, [])
  }).pipe(inEmptyDatabase))

// Goal: a database of a later release, or of one that cannot be upgraded, is left alone, and its release is named. Method: one with the record of a further
// release; one with the record as 0.1.0 kept it.
it.effect("a database of a later release, or from before 1.0.0, is refused", () =>
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    yield* runMigrations([create, insert])
    yield* sql`UPDATE schema_migrations SET release = '1.7.0' WHERE number = 2`
    assert.strictEqual(
      yield* refusal([create]),
      `the database is of release 1.7.0 (migration 0002_test), which is later than ${version}. Start release 1.7.0 or a later one.`
    )
    yield* sql`ALTER TABLE schema_migrations DROP COLUMN release`
    assert.strictEqual(
      yield* refusal([{ ...migration(1, ["PERFORM 1"]), name: "0001_baseline" }]),
      `the database is of release 0.1.0 (migration 0002_test), which ${version} cannot upgrade. Start on an empty database, and bring the players by export and import (docs/moving.md).`
    )
    assert.deepStrictEqual(yield* marks, [1, 2])
  }).pipe(inEmptyDatabase))

layer(NodeServices.layer)("migration files", (it) => {
  const folderWith = (files: Record<string, string>) =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const path = yield* Path.Path
      const folder = yield* fs.makeTempDirectoryScoped()
      for (const [name, text] of Object.entries(files)) yield* fs.writeFileString(path.join(folder, name), text)
      return folder
    })

  // Goal: the order is that of the numbers, and a misnamed or doubled file cannot slip in. Method: folders of each kind.
  it.effect("are read in the order of their numbers, and refused when misnamed or numbered twice", () =>
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
  it.effect("have the same checksum with Unix and Windows line endings", () =>
    Effect.gen(function*() {
      const unix = yield* loadMigrations(yield* folderWith({ "0001_a.sql": "SELECT 1;\nSELECT 2;\n" }))
      const windows = yield* loadMigrations(yield* folderWith({ "0001_a.sql": "SELECT 1;\r\nSELECT 2;\r\n" }))
      const edited = yield* loadMigrations(yield* folderWith({ "0001_a.sql": "SELECT 1;\nSELECT 3;\n" }))
      assert.strictEqual(unix[0]?.checksum, windows[0]?.checksum)
      assert.notStrictEqual(unix[0]?.checksum, edited[0]?.checksum)
    }))

  // Goal: the service's own files apply to an empty database. Method: apply them, and see that nothing is left to do.
  it.effect("of the service are applied to an empty database", () =>
    Effect.gen(function*() {
      const own = yield* loadMigrations(migrationsFolder)
      assert.isNotEmpty(own)
      assert.strictEqual((yield* runMigrations(own)).length, own.length)
      assert.deepStrictEqual(yield* runMigrations(own), [])
    }).pipe(inEmptyDatabase))
})
