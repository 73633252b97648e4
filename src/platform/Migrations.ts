/** Migrations of the database: numbered files, each applied once and recorded with its checksum. */
import { Effect, Layer, Schema } from "effect"
import { SqlClient, type SqlError, SqlSchema } from "effect/sql"
import { createHash } from "node:crypto"
import * as Fs from "node:fs"
import * as Path from "node:path"
import { DatabaseUrl, describeSqlError, layerOwnerClient, verifyServer } from "./Database.ts"
import { grantRights, roleOf } from "./Privileges.ts"
import { StartupError } from "./StartupError.ts"
import { version } from "./Version.ts"

/** Numbered file of the migrations folder. */
export interface Migration {
  readonly number: number
  readonly name: string
  readonly checksum: string
  /** SQL statements, each terminated by a semicolon. They run inside a `DO` block: a bare SELECT is written as PERFORM. */
  readonly text: string
}

/** Folder shipped with the service. */
export const migrationsFolder = Path.join(import.meta.dirname, "..", "..", "migrations")

/** Advisory lock of migrations; an arbitrary number. */
const lockKey = 7_204_551_038

/** Reads `NNNN_name.sql` files, ordered by number. Fails on any other file name and on a duplicate number. */
export const loadMigrations = Effect.fnUntraced(function*(folder: string) {
  const files = yield* Effect.try({
    try: () =>
      Fs.readdirSync(folder).filter((file) => file.endsWith(".sql")).sort().map((file) => ({
        file,
        text: Fs.readFileSync(Path.join(folder, file), "utf8").replaceAll("\r\n", "\n")
      })),
    catch: () => new StartupError({ message: `the migrations in ${folder} cannot be read` })
  })
  const migrations = files.map(({ file, text }): Migration => ({
    number: Number(/^(\d{4})_[a-z0-9_]+\.sql$/.exec(file)?.[1]),
    name: file.slice(0, -".sql".length),
    checksum: createHash("sha256").update(text).digest("hex"),
    text
  }))
  for (const [index, { name, number }] of migrations.entries()) {
    if (Number.isNaN(number)) {
      return yield* new StartupError({ message: `migration ${name}.sql is not named NNNN_name.sql` })
    }
    if (migrations[index - 1]?.number === number) {
      return yield* new StartupError({ message: `two migrations have the number ${name.slice(0, 4)}` })
    }
  }
  return migrations
})

/** Migration that the database records, with the release that applied it. */
const Applied = Schema.Struct({
  number: Schema.Int,
  name: Schema.String,
  checksum: Schema.String,
  release: Schema.String
})

/** Migrations that a database records, in order. 0.1.0 did not record its release. Fails without the table, or with another one. */
export const recordedMigrations = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  return yield* SqlSchema.findAll({
    Request: Schema.Void,
    Result: Applied,
    execute: () =>
      sql`SELECT number, name, checksum, coalesce(to_jsonb(m) ->> 'release', '0.1.0') AS release
        FROM schema_migrations m ORDER BY number`
  })(undefined)
})

/** What prevents the start on a database, and what to do about it. */
export interface MigrationConflict {
  readonly problem: string
  readonly remedy: string
}

/** Conflict between the recorded migrations, in order, and the files; undefined when there is none. */
export const conflict = (
  recorded: ReadonlyArray<typeof Applied.Type>,
  migrations: ReadonlyArray<Migration>
): MigrationConflict | undefined => {
  const [baseline] = migrations
  const [first] = recorded
  const last = recorded.at(-1)
  if (baseline === undefined || first === undefined || last === undefined) return undefined
  if (first.name !== baseline.name) {
    return {
      problem: `the database is of release ${last.release} (migration ${last.name}), which ${version} cannot upgrade`,
      remedy: "Start on an empty database, and bring the players by export and import (docs/moving.md)."
    }
  }
  for (const { checksum, number } of recorded) {
    const file = migrations.find((migration) => migration.number === number)
    if (file === undefined) {
      return {
        problem: `the database is of release ${last.release} (migration ${last.name}), which is later than ${version}`,
        remedy: `Start release ${last.release} or a later one.`
      }
    }
    if (file.checksum !== checksum) {
      return {
        problem: `migration ${file.name} was changed after it had been applied`,
        remedy: "Start the release whose file it was."
      }
    }
  }
  const late = migrations.find(({ number }) => number < last.number && !recorded.some((row) => row.number === number))
  return late === undefined ? undefined : {
    problem: `migration ${late.name} comes before ones that are already applied`,
    remedy: "Give it the next number."
  }
}

/**
 * Applies the unrecorded migrations, each in one transaction with its record, and returns their names. Services that start together are serialised by
 * an advisory lock. A database from before 1.0.0, an edited, unknown or late migration fails with a {@link StartupError} and nothing is applied.
 */
export const runMigrations = Effect.fn("runMigrations")(function*(migrations: ReadonlyArray<Migration>) {
  const sql = yield* SqlClient.SqlClient
  const failed = (what: string) => (error: SqlError.SqlError) =>
    new StartupError({ message: `${what} failed: ${describeSqlError(error)}` })

  /** Runs `work` while no other service migrates. The time-outs of ordinary statements do not apply to a migration. */
  const exclusively = <A, E, R>(work: Effect.Effect<A, E, R>) =>
    sql.withTransaction(Effect.gen(function*() {
      yield* sql.unsafe("SET LOCAL statement_timeout = 0")
      yield* sql`SELECT pg_advisory_xact_lock(${BigInt(lockKey)})`
      return yield* work
    }))

  yield* exclusively(
    sql.unsafe(`CREATE TABLE IF NOT EXISTS schema_migrations (
      number integer PRIMARY KEY,
      name text NOT NULL,
      checksum text NOT NULL,
      release text NOT NULL,
      applied_at timestamptz NOT NULL DEFAULT now()
    )`)
  ).pipe(Effect.mapError(failed("preparing the database")))

  const applied: Array<string> = []
  for (const migration of migrations) {
    const done = yield* exclusively(Effect.gen(function*() {
      // Read again under the lock: another service may have migrated meanwhile.
      const rows = yield* recordedMigrations
      const found = conflict(rows, migrations)
      if (found !== undefined) return yield* new StartupError({ message: `${found.problem}. ${found.remedy}` })
      if (rows.some((row) => row.number === migration.number)) return false
      // one statement for the driver, whose protocol takes no scripts
      yield* sql.unsafe(`DO $migration$ BEGIN\n${migration.text}\nEND $migration$`).unprepared
      yield* sql`INSERT INTO schema_migrations (number, name, checksum, release)
        VALUES (${migration.number}, ${migration.name}, ${migration.checksum}, ${version})`
      return true
    })).pipe(Effect.catchTags({
      SqlError: (error) => Effect.fail(failed(`migration ${migration.name}`)(error)),
      SchemaError: () => Effect.fail(new StartupError({ message: "the table schema_migrations cannot be decoded" }))
    }))
    if (done) applied.push(migration.name)
  }
  return applied
})

/**
 * Migrates the database at the start of the service, on a connection of the owner that is closed afterwards, and grants the rights of the service's
 * role. Without an owner's address the service's own role migrates.
 */
export const layerMigrationsWith = (options: { readonly allowFsyncOff: boolean }) =>
  Layer.effectDiscard(
    Effect.gen(function*() {
      const { ownerUrl, url } = yield* DatabaseUrl
      const migrate = Effect.gen(function*() {
        yield* verifyServer(options)
        const applied = yield* runMigrations(yield* loadMigrations(migrationsFolder))
        if (applied.length > 0) {
          yield* Effect.annotateLogs(Effect.logInfo("migrations applied"), { migrations: applied.join(", ") })
        }
        if (ownerUrl === undefined) return
        yield* grantRights(roleOf(url)).pipe(Effect.catchTags({
          SqlError: (error) =>
            Effect.fail(
              new StartupError({ message: `granting the service's rights failed: ${describeSqlError(error)}` })
            ),
          SchemaError: () => Effect.fail(new StartupError({ message: "the tables of the database cannot be listed" }))
        }))
      })
      yield* Effect.provide(migrate, layerOwnerClient(ownerUrl ?? url))
    })
  )

/** {@link layerMigrationsWith} for the service. */
export const layerMigrations = layerMigrationsWith({ allowFsyncOff: false })
