/**
 * Physical backup of the embedded database while it runs: its files between `pg_backup_start` and `pg_backup_stop`, and the WAL of that time.
 *
 * What was erased before is not in it (docs/decisions/0069-one-command.md): indexes over what names persons are built anew, removed rows are vacuumed,
 * the room that they leave in pages is emptied in the copy, and the WAL begins afterwards.
 */
import { DateTime, Effect, Schedule, Schema } from "effect"
import { SqlClient } from "effect/sql"
import * as Fs from "node:fs"
import { join } from "node:path"
import { describeSqlError, layerOwnerClient } from "../../src/platform/Database.ts"
import { syncFolder } from "../../src/platform/EmbeddedPostgres.ts"
import { StartupError } from "../../src/platform/StartupError.ts"
import { openServer, readSecrets } from "./DataDirectory.ts"
import { copyFile, firstPageOf, listDatabase } from "./Files.ts"
import { dataFolder, type FileEntry, writeManifest } from "./Manifest.ts"

/** Tables with indexes of names, addresses and numbers of persons: inner pages of an index, and words of one for a search, outlive their rows. */
const personalIndexes = ["players", "former_identities"]

/** Kinds of relations whose pages keep nothing between their pointers and their rows. */
const standardPages = new Set(["heap", "btree"])

/** How long a backup waits for older transactions, for which removed rows are kept. */
const oldestWait = "30 seconds"

/** The last backup of a `DATA_DIR`: when it ended, where and of what size. */
export const lastBackupFile = "last-backup.json"
export const LastBackup = Schema.Struct({ at: Schema.String, folder: Schema.String, bytes: Schema.Number })

/** Folder that a backup may be written to, or restored into: absent, else empty. */
export const claimFolder = (folder: string) =>
  Effect.try({
    try: () => {
      Fs.mkdirSync(folder, { recursive: true, mode: 0o700 })
      return Fs.readdirSync(folder).length === 0
    },
    catch: (cause) => new StartupError({ message: `${folder} cannot be written (${String(cause)})` })
  }).pipe(Effect.filterOrFail((isEmpty) => isEmpty, () => new StartupError({ message: `${folder} is not empty` })))

const Started = Schema.Struct({ lsn: Schema.String, segment: Schema.String })
const Stopped = Schema.Struct({ lsn: Schema.String, segment: Schema.String, label: Schema.String })
const Facts = Schema.Struct({
  version: Schema.String,
  hasChecksums: Schema.Boolean,
  database: Schema.String,
  isMigrated: Schema.Boolean
})
const Relation = Schema.Struct({ file: Schema.String, kind: Schema.String })
const Truth = Schema.Struct({ isTrue: Schema.Boolean })
const Xid = Schema.Struct({ xid: Schema.String })

/** What a backup says of itself. */
interface BackupReport {
  readonly folder: string
  readonly started_at: string
  readonly ended_at: string
  readonly files: number
  readonly bytes: number
  /** False: a transaction older than the backup kept removed rows from being vacuumed, so that what was erased may be in it. */
  readonly erased_data_left_out: boolean
}

const run = Effect.fnUntraced(function*(dataDir: string, folder: string, passphrase: string) {
  const sql = yield* SqlClient.SqlClient
  // one session: PostgreSQL ends the backup and drops the slot with it
  const session = yield* sql.reserve
  const execute = (statement: string) => session.executeUnprepared(statement, [], undefined)
  const rows = <A>(schema: Schema.Codec<A, unknown>, statement: string) =>
    Effect.flatMap(execute(statement), Schema.decodeUnknownEffect(Schema.NonEmptyArray(schema)))
  const startedAt = DateTime.formatIso(yield* DateTime.now)

  yield* execute("SET statement_timeout = 0")
  const [facts] = yield* rows(
    Facts,
    `SELECT current_setting('server_version') AS version, current_setting('data_checksums') = 'on' AS "hasChecksums",
      (SELECT oid::text FROM pg_database WHERE datname = current_database()) AS database,
      to_regclass('players') IS NOT NULL AS "isMigrated"`
  )

  /** Waits until no transaction is older than now; false when one goes on. */
  const outlived = Effect.gen(function*() {
    const [{ xid }] = yield* rows(Xid, "SELECT pg_current_xact_id()::text AS xid")
    const look = rows(
      Truth,
      `SELECT EXISTS (SELECT FROM pg_stat_activity WHERE pid <> pg_backend_pid()
        AND least(backend_xid::text::bigint, backend_xmin::text::bigint) < (${BigInt(xid)} & 4294967295)) AS "isTrue"`
    )
    return yield* look.pipe(
      Effect.repeat({ until: ([{ isTrue }]) => !isTrue, schedule: Schedule.spaced("100 millis") }),
      Effect.as(true),
      Effect.timeoutOrElse({ duration: oldestWait, orElse: () => Effect.succeed(false) })
    )
  })
  if (facts.isMigrated) {
    const [{ isTrue: hasErased }] = yield* rows(
      Truth,
      `SELECT EXISTS (SELECT FROM players WHERE erased_at IS NOT NULL OR erased_classes <> '{}') AS "isTrue"`
    )
    // of a backup that was broken off
    const leftovers = yield* execute(
      `SELECT indexrelid::regclass::text AS name FROM pg_index
        WHERE NOT indisvalid AND indrelid = ANY ('{${personalIndexes.join(",")}}'::regclass[])`
    ).pipe(Effect.flatMap(Schema.decodeUnknownEffect(Schema.Array(Schema.Struct({ name: Schema.String })))))
    for (const { name } of leftovers) yield* execute(`DROP INDEX CONCURRENTLY IF EXISTS ${name}`)
    for (const table of hasErased ? personalIndexes : []) yield* execute(`REINDEX TABLE CONCURRENTLY ${table}`)
  }
  const isOlderGone = yield* outlived
  // statistics hold values as well, in rows that their successors leave
  yield* execute("VACUUM (ANALYZE, INDEX_CLEANUP ON)")
  const isStatisticGone = yield* outlived
  yield* execute("VACUUM (INDEX_CLEANUP ON) pg_catalog.pg_statistic")

  // keeps the WAL that the backup needs
  yield* execute(
    "SELECT slot_name::text FROM pg_create_physical_replication_slot('pitboss_backup_' || pg_backend_pid(), true, true)"
  )
  const [start] = yield* rows(
    Started,
    "SELECT lsn::text, pg_walfile_name(lsn) AS segment FROM pg_backup_start('pitboss', true) AS lsn"
  )
  const relations = new Map(
    (yield* rows(
      Relation,
      `SELECT pg_relation_filenode(c.oid)::text AS file, a.amname::text AS kind FROM pg_class c JOIN pg_am a ON a.oid = c.relam
        WHERE pg_relation_filenode(c.oid) IS NOT NULL`
    )).map(({ file, kind }) => [`base/${facts.database}/${file}`, kind])
  )
  const source = join(dataDir, "postgres")
  const target = join(folder, dataFolder, "postgres")
  const listing = yield* Effect.sync(() => listDatabase(source))
  const files: Array<FileEntry> = []
  const copy = (from: string, path: string, pages?: Parameters<typeof copyFile>[3]) =>
    Effect.try({
      try: () => {
        const entry = copyFile(from, join(folder, dataFolder, path), path, pages)
        if (entry !== undefined) files.push(entry)
      },
      catch: (cause) =>
        new StartupError({
          message: `${path} cannot be copied (${cause instanceof Error ? cause.message : String(cause)})`
        })
    })
  for (const path of listing.files) {
    const first = firstPageOf(path)
    const kind = relations.get(path.replace(/\.\d+$/, ""))
    yield* copy(
      join(source, path),
      `postgres/${path}`,
      first === undefined
        ? undefined
        : { first, hasChecksums: facts.hasChecksums, isEmptied: kind !== undefined && standardPages.has(kind) }
    )
  }
  // remembered ends are of before the last commit in the backup
  for (const name of Fs.readdirSync(dataDir).filter((file) => /^ledger-ends-.*\.json$/.test(file))) {
    yield* copy(join(dataDir, name), name)
  }
  // all that was answered until now is in it
  const endedAt = DateTime.formatIso(yield* DateTime.now)
  const [stop] = yield* rows(
    Stopped,
    `SELECT lsn::text, pg_walfile_name(lsn) AS segment, labelfile AS label FROM pg_backup_stop(false)`
  )
  const segments = Fs.readdirSync(join(source, "pg_wal")).filter((name) =>
    /^[0-9A-F]{24}$/.test(name) && name >= start.segment && name <= stop.segment
  )
  for (const name of segments.sort()) yield* copy(join(source, "pg_wal", name), `postgres/pg_wal/${name}`)
  const label = join(folder, "label")
  yield* Effect.sync(() => Fs.writeFileSync(label, stop.label, { mode: 0o600 }))
  yield* copy(label, "postgres/backup_label")
  yield* Effect.sync(() => {
    Fs.rmSync(label)
    for (const path of listing.folders) Fs.mkdirSync(join(target, path), { recursive: true, mode: 0o700 })
    for (const path of ["", ...listing.folders]) syncFolder(join(target, path))
  })
  yield* writeManifest(
    folder,
    {
      started_at: startedAt,
      ended_at: endedAt,
      start_lsn: start.lsn,
      end_lsn: stop.lsn,
      postgres_version: facts.version,
      folders: listing.folders.map((path) => `postgres/${path}`),
      files
    },
    yield* readSecrets(dataDir),
    passphrase
  )
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0)
  yield* Effect.sync(() => {
    syncFolder(folder)
    // doctor looks at it
    Fs.writeFileSync(
      join(dataDir, lastBackupFile),
      JSON.stringify({ at: endedAt, folder, bytes } satisfies typeof LastBackup.Type),
      { mode: 0o600 }
    )
  })
  return {
    folder,
    started_at: startedAt,
    ended_at: endedAt,
    files: files.length,
    bytes,
    erased_data_left_out: isOlderGone && isStatisticGone
  } satisfies BackupReport
})

/** Backs up the embedded database of `dataDir` into an empty or absent folder. The service may run; else the database is started meanwhile. */
export const backUp = Effect.fnUntraced(function*(dataDir: string, folder: string, passphrase: string) {
  if (!Fs.existsSync(join(dataDir, "postgres", "PG_VERSION"))) {
    return yield* new StartupError({ message: `DATA_DIR: ${dataDir} holds no embedded database` })
  }
  // before the work: a missing key is told at once
  yield* readSecrets(dataDir)
  yield* claimFolder(folder)
  const url = yield* openServer(dataDir)
  return yield* Effect.scoped(run(dataDir, folder, passphrase)).pipe(
    Effect.provide(layerOwnerClient(url)),
    Effect.catchTags({
      SqlError: (error) => Effect.fail(new StartupError({ message: `the backup failed: ${describeSqlError(error)}` })),
      SchemaError: () => Effect.fail(new StartupError({ message: "the database does not say what a backup needs" }))
    })
  )
})
