/** Reads what the doctor's rules judge. Changes nothing but a file of its own in `DATA_DIR`, which it removes. */
import { Clock, Effect, Redacted, Schema } from "effect"
import { SqlClient } from "effect/sql"
import * as Crypto from "node:crypto"
import * as Fs from "node:fs"
import { dirname, join } from "node:path"
import * as Tls from "node:tls"
import { describeSqlError, layerOwnerClient } from "../../src/platform/Database.ts"
import { isOpenConnection } from "../../src/platform/DatabaseHosts.ts"
import { extension } from "../../src/platform/Invocation.ts"
import { reachable } from "../../src/platform/Loopback.ts"
import { conflict, loadMigrations, migrationsFolder, recordedMigrations } from "../../src/platform/Migrations.ts"
import { monotonicMs } from "../../src/platform/MonotonicClock.ts"
import { excessiveRights } from "../../src/platform/Privileges.ts"
import type { givenSettings } from "../../src/platform/Settings.ts"
import { StartupError } from "../../src/platform/StartupError.ts"
import { lastBackupFile, LastBackup } from "../backup/Backup.ts"
import { openServer, secretNames } from "../backup/DataDirectory.ts"
import type { CertificateReport, DatabaseReport, Report } from "./Rules.ts"

type Given = Effect.Success<typeof givenSettings>

/** How long what does not answer is waited for. */
const patienceMs = 5000
const databasePatience = "15 seconds"

const syncs = 21
const syncBytes = 8192

const attempt = <A>(what: () => A): A | undefined => {
  try {
    return what()
  } catch {
    return undefined
  }
}

const Facts = Schema.Struct({
  version: Schema.NumberFromString,
  fsync: Schema.String,
  synchronousCommit: Schema.String,
  fullPageWrites: Schema.String,
  readOnly: Schema.String,
  hasCollations: Schema.Boolean,
  hasChecksums: Schema.Boolean,
  isArchiving: Schema.Boolean,
  sharedBuffersMb: Schema.Number,
  maxConnections: Schema.Number,
  reservedConnections: Schema.Number,
  roleConnections: Schema.Number,
  otherConnections: Schema.Number,
  isMigrated: Schema.Boolean,
  databaseMs: Schema.Number
})

const readDatabase = Effect.fnUntraced(function*(isEmbedded: boolean) {
  const sql = yield* SqlClient.SqlClient
  const before = yield* Clock.currentTimeMillis
  const [facts] = yield* Effect.flatMap(
    sql`SELECT current_setting('server_version_num') AS version, current_setting('fsync') AS fsync,
      current_setting('synchronous_commit') AS "synchronousCommit", current_setting('full_page_writes') AS "fullPageWrites",
      current_setting('transaction_read_only') AS "readOnly",
      EXISTS (SELECT FROM pg_collation WHERE collname = 'und-x-icu') AS "hasCollations",
      current_setting('data_checksums') = 'on' AS "hasChecksums", current_setting('archive_mode') <> 'off' AS "isArchiving",
      (pg_size_bytes(current_setting('shared_buffers')) / 1048576)::float8 AS "sharedBuffersMb",
      current_setting('max_connections')::float8 AS "maxConnections",
      (current_setting('superuser_reserved_connections')::integer
        + coalesce(current_setting('reserved_connections', true), '0')::integer)::float8 AS "reservedConnections",
      (SELECT rolconnlimit::float8 FROM pg_roles WHERE rolname = current_user) AS "roleConnections",
      (SELECT count(*)::float8 FROM pg_stat_activity WHERE backend_type = 'client backend'
        AND application_name NOT LIKE 'pitboss%') AS "otherConnections",
      to_regclass('schema_migrations') IS NOT NULL AS "isMigrated",
      (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS "databaseMs"`,
    Schema.decodeUnknownEffect(Schema.NonEmptyArray(Facts))
  )
  const middle = (before + (yield* Clock.currentTimeMillis)) / 2
  const recorded = facts.isMigrated ? yield* recordedMigrations : []
  const migrations = yield* loadMigrations(migrationsFolder)
  const { databaseMs, isMigrated: _, ...shown } = facts
  return {
    ...shown,
    excessiveRights: isEmbedded || !facts.isMigrated ? null : yield* excessiveRights,
    pendingMigrations: migrations.filter(({ number }) => !recorded.some((one) => one.number === number)).length,
    migrationConflict: conflict(recorded, migrations) ?? null,
    clockAheadMs: databaseMs - middle
  } satisfies DatabaseReport
})

/** The database, started meanwhile where it is the embedded one and no service runs; why not where it cannot be reached; null where it is not there yet. */
const database = ({ databaseUrl, dataDir }: Given) =>
  Effect.gen(function*() {
    const isEmbedded = databaseUrl === undefined
    if (isEmbedded && !Fs.existsSync(join(dataDir, "postgres", "PG_VERSION"))) return null
    const url = databaseUrl ?? (yield* openServer(dataDir))
    return yield* Effect.provide(Effect.scoped(readDatabase(isEmbedded)), layerOwnerClient(url))
  }).pipe(
    Effect.timeoutOrElse({
      duration: databasePatience,
      orElse: () => new StartupError({ message: `the database does not answer within ${databasePatience}` })
    }),
    Effect.catchTags({
      StartupError: ({ message }) => Effect.succeed(message),
      SqlError: (error) => Effect.succeed(describeSqlError(error)),
      SchemaError: () => Effect.succeed("the settings of the database server cannot be read")
    })
  )

/** The folder, or the one that it will be made in. */
const existing = (folder: string): string => Fs.existsSync(folder) ? folder : existing(dirname(folder))

const disk = Effect.fnUntraced(function*(dataDir: string) {
  const folder = existing(dataDir)
  const file = join(folder, `doctor-${Crypto.randomUUID()}`)
  const write = Effect.try({
    try: () => {
      const { bavail, bsize } = Fs.statfsSync(folder)
      return { freeMb: Math.floor((bavail * bsize) / 1_000_000), handle: Fs.openSync(file, "wx", 0o600) }
    },
    catch: (cause) => new StartupError({ message: cause instanceof Error ? cause.message : String(cause) })
  })
  return yield* write.pipe(
    Effect.flatMap(({ freeMb, handle }) =>
      Effect.gen(function*() {
        const bytes = Buffer.alloc(syncBytes, 1)
        const times: Array<number> = []
        const clock = yield* Clock.Clock
        for (let index = 0; index < syncs; index++) {
          Fs.writeSync(handle, bytes)
          const begun = clock.monotonicTimeNanosUnsafe()
          Fs.fdatasyncSync(handle)
          times.push(Number(clock.monotonicTimeNanosUnsafe() - begun) / 1e6)
        }
        times.sort((one, other) => one - other)
        return { folder, freeMb, syncMedianMs: times[(syncs - 1) / 2] ?? null, problem: null }
      }).pipe(Effect.ensuring(Effect.sync(() => {
        Fs.closeSync(handle)
        Fs.rmSync(file)
      })))
    ),
    Effect.catch(({ message }) => Effect.succeed({ folder, freeMb: 0, syncMedianMs: null, problem: message }))
  )
})

/** Most open files of this process; null where the system does not say. */
const openFiles = (): number | null => {
  const text = attempt(() => Fs.readFileSync("/proc/self/limits", "utf8")) ?? ""
  const [, soft] = /^Max open files\s+(\S+)/m.exec(text) ?? []
  return soft === undefined ? null : soft === "unlimited" ? Number.MAX_SAFE_INTEGER : Number(soft)
}

const certificateOfFile = (file: string): CertificateReport => {
  const endsAt = attempt(() => Date.parse(new Crypto.X509Certificate(Fs.readFileSync(file)).validTo))
  return { where: file, endsAt: endsAt ?? null, problem: endsAt === undefined ? "no certificate can be read" : null }
}

const certificateAt = (url: string) =>
  Effect.callback<CertificateReport>((resume) => {
    const { hostname, port } = new URL(url)
    const report = (endsAt: number | null, problem: string | null) => {
      socket.destroy()
      resume(Effect.succeed({ where: url, endsAt, problem }))
    }
    // one that is not trusted is read as well: its end is what is asked for
    const socket = Tls.connect(
      {
        host: hostname,
        port: Number(port || 443),
        servername: hostname,
        rejectUnauthorized: false,
        timeout: patienceMs
      },
      () => report(Date.parse(socket.getPeerCertificate().valid_to), null)
    )
    socket.once("timeout", () => report(null, "does not answer"))
    socket.once("error", ({ message }) => report(null, message))
  })

const port = ({ host, port: number }: Pick<Given, "host" | "port">) =>
  Effect.tryPromise(async (signal): Promise<Report["port"]> => {
    const response = await fetch(`http://${reachable(host)}:${number}/health/live`, { signal })
    return response.ok && (await response.text()).includes("\"status\":\"ok\"") ? "service" : "other"
  }).pipe(
    Effect.timeout(patienceMs),
    Effect.catch((error) =>
      // refused: nobody listens there
      Effect.succeed<Report["port"]>(
        String(Object(Object(error).cause).cause).includes("ECONNREFUSED") ? "free" : "other"
      )
    )
  )

const switches = (
  { bootstrapTokenRestored, masterKeyLost, providerAllowInsecure, registerAllowInsecure, webhookAllowInsecure }: Given
): ReadonlyArray<string> =>
  Object.entries({
    WEBHOOK_ALLOW_INSECURE: webhookAllowInsecure,
    PROVIDER_ALLOW_INSECURE: providerAllowInsecure,
    REGISTER_ALLOW_INSECURE: registerAllowInsecure,
    MASTER_KEY_LOST: masterKeyLost,
    BOOTSTRAP_TOKEN_RESTORED: bootstrapTokenRestored
  }).flatMap(([name, isOn]) => isOn ? [name] : [])

const secretsOf = ({ bootstrapToken, masterKey, masterKeyPrevious }: Given): Report["secrets"] => {
  const characters = (key: Redacted.Redacted<Uint8Array> | undefined) =>
    key === undefined ? undefined : [...Redacted.value(key)].map((byte) => String.fromCharCode(byte)).join("")
  const named: { readonly [name: string]: string | undefined } = {
    MASTER_KEY: characters(masterKey),
    MASTER_KEY_PREVIOUS: characters(masterKeyPrevious),
    BACKOFFICE_TOKEN: bootstrapToken === undefined ? undefined : Redacted.value(bootstrapToken)
  }
  return Object.entries(named).flatMap(([name, text]) =>
    text === undefined ? [] : [{ name, length: text.length, different: new Set(text).size }]
  )
}

/** The wall clock's change less the time that passed. */
const clockStep = Effect.gen(function*() {
  const read = Effect.all([Clock.currentTimeMillis, monotonicMs])
  const [wall, steady] = yield* read
  yield* Effect.sleep("200 millis")
  const [laterWall, laterSteady] = yield* read
  return laterWall - wall - (laterSteady - steady)
})

const LastBackupText = Schema.fromJsonString(LastBackup)

const lastBackup = Effect.fnUntraced(function*(dataDir: string) {
  const text = attempt(() => Fs.readFileSync(join(dataDir, lastBackupFile), "utf8"))
  if (text === undefined) return null
  const { at, bytes, folder } = yield* Schema.decodeUnknownEffect(LastBackupText)(text)
  return { at: Date.parse(at), folder, bytes }
}, Effect.orElseSucceed(() => null))

/** Reads everything. */
export const readReport = Effect.fnUntraced(function*(given: Given) {
  const { dataDir } = given
  const files = secretNames.map((name) => join(dataDir, name))
  const clusterFiles = given.clusterTls === "off" ? undefined : given.clusterTls
  const urls = [given.publicUrl, given.backofficeUrl].filter((url) => url?.startsWith("https:") === true)
  const isEmbedded = given.databaseUrl === undefined
  return {
    now: yield* Clock.currentTimeMillis,
    nodeVersion: process.versions.node,
    settings: {
      isEmbedded,
      isOpenDatabase: given.databaseUrl !== undefined && isOpenConnection(Redacted.value(given.databaseUrl)),
      isCluster: given.cluster,
      host: given.host,
      backofficeHost: given.backofficeHost,
      publicUrl: given.publicUrl ?? null,
      backofficeUrl: given.backofficeUrl ?? null,
      trustProxy: given.trustProxy,
      playerOrigins: given.playerOrigins === "*" ? "*" : "listed",
      clusterTls: given.clusterTls === "off" ? "off" : given.clusterTls === undefined ? null : "files",
      clockToleranceSeconds: given.clockToleranceSeconds,
      demo: given.demo,
      on: switches(given)
    },
    secrets: secretsOf(given),
    readableSecrets: files.filter((file) => ((attempt(() => Fs.statSync(file).mode) ?? 0) & 0o077) !== 0),
    database: yield* Effect.scoped(database(given)),
    clockStepMs: yield* clockStep,
    disk: yield* disk(dataDir),
    openFiles: openFiles(),
    certificates: [
      ...(clusterFiles ?? []).filter((_, index) => index !== 1).map(certificateOfFile),
      ...yield* Effect.forEach(urls.filter((url) => url !== undefined), certificateAt, { concurrency: 2 })
    ],
    lastBackup: yield* lastBackup(dataDir),
    hasPages: Fs.existsSync(join(import.meta.dirname, "..", "..", "dist", "pages", "index.html")),
    buildsPages: extension === ".ts",
    port: yield* port(given)
  } satisfies Report
})
