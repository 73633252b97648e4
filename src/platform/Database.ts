/** PostgreSQL connection pools by purpose: commits, look-ups for bets, reads of whole tables, and everything else. */
import { PgClient, PgTypes } from "@effect/sql-pg"
import { Context, Effect, Layer, Predicate, Redacted, Result, Schedule, Schema } from "effect"
import { Reactivity } from "effect/reactivity"
import { SqlClient, type SqlConnection, SqlError, SqlSchema } from "effect/sql"
import { registerColumnArrays } from "./ColumnArrays.ts"
import { DatabaseHosts, followPrimary, primaryOf } from "./DatabaseHosts.ts"
import { EmbeddedPostgres } from "./EmbeddedPostgres.ts"
import { Entropy } from "./Entropy.ts"
import { ensureRole, excessiveRights, roleOf } from "./Privileges.ts"
import { ReportConcurrency } from "./ReportConcurrency.ts"
import { applicationOf, servingPool } from "./ServiceProcesses.ts"
import { lowerPriority } from "./SessionPriority.ts"
import { Settings } from "./Settings.ts"
import { StartupError } from "./StartupError.ts"

/**
 * Address of the database: the embedded server, started on `DATA_DIR`, or the one of `DATABASE_URL`. On the embedded one the service works as a role
 * of its own, whose password is new at every start.
 */
export class DatabaseUrl extends Context.Service<DatabaseUrl, {
  /** For the service's role. */
  readonly url: Redacted.Redacted
  /** For the role that owns the tables and migrates them; absent when that is the service's role. */
  readonly ownerUrl?: Redacted.Redacted | undefined
  readonly embedded: boolean
}>()("pitboss/platform/DatabaseUrl") {
  static readonly layer = Layer.unwrap(Effect.gen(function*() {
    const { databaseOwnerUrl, databaseUrl } = yield* Settings
    if (databaseUrl !== undefined) {
      return Layer.succeed(DatabaseUrl, { url: databaseUrl, ownerUrl: databaseOwnerUrl, embedded: false })
    }
    return Layer.effect(
      DatabaseUrl,
      Effect.gen(function*() {
        const { url: ownerUrl } = yield* EmbeddedPostgres
        const password = (yield* Entropy).token("", 40)
        yield* Effect.provide(ensureRole(serviceRole, password), layerOwnerClient(ownerUrl)).pipe(
          Effect.catchTag("SqlError", (error) => Effect.fail(unreachable(error)))
        )
        return { url: asRole(ownerUrl, serviceRole, password), ownerUrl, embedded: true }
      })
    ).pipe(Layer.provide(EmbeddedPostgres.layer), Layer.provide(Entropy.layer))
  }))
}

/** Role of the service on the embedded server. */
export const serviceRole = "pitboss_service"

/** Address of the same database for another role. */
export const asRole = (url: Redacted.Redacted, role: string, password: string): Redacted.Redacted => {
  const changed = new URL(Redacted.value(url))
  changed.username = role
  changed.password = password
  return Redacted.make(changed.toString())
}

/**
 * The journal's own connections, separate from all others so that a slow report never delays a commit. The planner is restricted to the index plans
 * that the journal's statements are written for.
 *
 *     const sql = yield* JournalClient
 *     yield* sql.withTransaction(...)
 */
export class JournalClient extends Context.Service<JournalClient, SqlClient.SqlClient>()(
  "pitboss/platform/JournalClient"
) {}

/**
 * Connections for what a bet may need beside its commit (loads, look-ups, keys, games, ids, the readiness probe) and for frequent reads by key (profiles,
 * pages of ledgers, what a registration is compared with). Separate from the general pool, so that reports, searches and verifications never delay them. The planner is restricted as on the journal's connections.
 */
export class ServingClient extends Context.Service<ServingClient, SqlClient.SqlClient>()(
  "pitboss/platform/ServingClient"
) {}

/**
 * Connections for reads of whole tables: verifications, exports and reports. Separate from the general pool, so that their sessions can have a low
 * priority ({@link lowerPriority}). There are as many as run at once ({@link ReportConcurrency}).
 */
export class ReportClient extends Context.Service<ReportClient, SqlClient.SqlClient>()(
  "pitboss/platform/ReportClient"
) {}

const readInt8 = (bytes: Uint8Array, offset: number) => {
  const value = Number(new DataView(bytes.buffer, bytes.byteOffset + offset, 8).getBigInt64(0))
  return Number.isSafeInteger(value)
    ? Result.succeed(value)
    : Result.fail(new PgTypes.CodecError({ message: "a bigint is beyond the exact integers of a number" }))
}

/**
 * Decodes `bigint` as a number: all stored values are safe integers (`domain/Money.ts`; ids of a sequence). A larger value fails its statement
 * instead of losing digits.
 */
const types = PgTypes.makeRegistry()
registerColumnArrays(types)
types.register<number | bigint>(PgTypes.OID.int8, {
  encode: (value) => PgTypes.encode(BigInt(value), PgTypes.OID.int8),
  decode: (bytes) => readInt8(bytes, 0),
  read: readInt8
}, { arrayOid: PgTypes.OID.int8Array })

const connection = (url: Redacted.Redacted): PgClient.PgPoolConfig => ({
  url,
  connectTimeout: "2500 millis",
  keepAlive: "10 seconds",
  idleTimeout: "5 minutes"
})

/**
 * Plans for the actual values. A generic plan estimates a page as a tenth of the table, and every player as an average one. Another value is for tests that
 * run the same statements thousands of times on a few rows.
 */
export const GeneralPlans = Context.Reference<"force_custom_plan" | "force_generic_plan">(
  "pitboss/platform/GeneralPlans",
  { defaultValue: () => "force_custom_plan" }
)

const general = (
  url: Redacted.Redacted,
  maxConnections: number,
  plans = GeneralPlans.defaultValue()
): PgClient.PgPoolConfig => ({
  ...connection(url),
  applicationName: "pitboss",
  types,
  maxConnections,
  minConnections: 1,
  startupParameters: {
    synchronous_commit: "on",
    statement_timeout: "30s",
    plan_cache_mode: plans,
    jit: "off",
    timezone: "UTC"
  }
})

/**
 * For statements that read or write a few rows by key: index plans, made once. Planned for its values, a look-up costs more to plan than to run, and reads
 * whole tables until their first statistics.
 */
const plansByKey = {
  plan_cache_mode: "force_generic_plan",
  enable_seqscan: "off",
  enable_hashjoin: "off",
  enable_mergejoin: "off"
}

const serving = (url: Redacted.Redacted, maxConnections: number, process: string): PgClient.PgPoolConfig => {
  const { startupParameters, ...config } = general(url, maxConnections)
  return {
    ...config,
    applicationName: applicationOf(servingPool, process),
    startupParameters: { ...startupParameters, ...plansByKey, statement_timeout: "5s" }
  }
}

/** The two sessions of a verification, or an export, and reports: {@link ReportConcurrency} runs four of those at most. */
const reportConnections = 6

const reporting = (url: Redacted.Redacted): PgClient.PgPoolConfig => {
  const { startupParameters, ...config } = general(url, reportConnections)
  return {
    ...config,
    applicationName: "pitboss-reports",
    minConnections: 0,
    // parallel workers would have the usual priority
    startupParameters: { ...startupParameters, max_parallel_workers_per_gather: "0" }
  }
}

const journal = (url: Redacted.Redacted, maxConnections: number, process: string): PgClient.PgPoolConfig => ({
  ...connection(url),
  applicationName: applicationOf("pitboss-journal", process),
  types,
  maxConnections,
  minConnections: 1,
  startupParameters: {
    synchronous_commit: "on",
    // providers wait at least three seconds
    statement_timeout: "5s",
    // all players' commits wait with the one whose row is locked; the player of a row locked for longer waits alone
    lock_timeout: "20ms",
    ...plansByKey,
    jit: "off",
    timezone: "UTC"
  }
})

/** Connections of each pool of a service. A service alone opens none for a cluster; the owner's is for the start. */
const poolConnections = {
  general: 10,
  reports: reportConnections,
  serving: 6,
  journal: 3,
  cluster: 2,
  owner: 1
} as const

/** Connections that a service opens, alone or as a node of a cluster. */
export const neededConnections = (isCluster: boolean): number => {
  const { cluster, ...alone } = poolConnections
  return Object.values(alone).reduce((sum, size) => sum + size, 0) + (isCluster ? cluster : 0)
}

/** Cluster membership and its locks: a single connection holds the locks for the life of the process. */
const membership = (url: Redacted.Redacted): PgClient.PgPoolConfig => ({
  ...connection(url),
  applicationName: "pitboss-cluster",
  maxConnections: poolConnections.cluster,
  startupParameters: { statement_timeout: "2s", timezone: "UTC" }
})

/** Maximum wait for a connection of the general pool. */
const maxWait = "5 seconds"

const noConnection = (connections: number) =>
  new SqlError.SqlError({
    reason: new SqlError.ConnectionError({
      cause: new Error(`none of ${connections} connections became free within ${maxWait}`),
      message: "no connection became free",
      operation: "acquire"
    })
  })

/** COMMIT of a failed transaction answers ROLLBACK; this is an error, since nothing was committed. */
const commit = (session: SqlConnection.Connection): Effect.Effect<void, SqlError.SqlError> =>
  Effect.flatMap(
    session.executeRaw("COMMIT", []),
    (result) =>
      Predicate.hasProperty(result, "command") && result.command === "COMMIT" ? Effect.void : Effect.fail(
        new SqlError.SqlError({
          reason: new SqlError.UnknownError({
            cause: new Error("the transaction was rolled back"),
            message: "COMMIT was answered with another command",
            operation: "commit"
          })
        })
      )
  )

/**
 * Bounds the wait for a connection of the pool: a longer wait fails as when the database is unavailable. Without the bound, ten slow
 * statements would block all users of the pool.
 */
const boundedWait = (client: PgClient.PgClient, connections: number): SqlConnection.Acquirer => {
  let taken = 0
  const note = Effect.acquireRelease(Effect.sync(() => taken++), () => Effect.sync(() => taken--))
  const soon = Effect.timeoutOrElse(client.reserve, {
    duration: maxWait,
    orElse: () => Effect.fail(noConnection(connections))
  })
  // a timer only when waiting
  return Effect.suspend(() => Effect.andThen(note, taken < connections ? client.reserve : soon))
}

/** A client of the pool's connections, taken in a way of its own. */
const withAcquirer = (client: PgClient.PgClient, acquirer: SqlConnection.Acquirer) =>
  SqlClient.make({
    acquirer,
    compiler: PgClient.makeCompiler(),
    driver: client.driver,
    commit,
    releaseSavepoint: (name) => `RELEASE SAVEPOINT ${name}`,
    prepareTransactionControls: true,
    spanAttributes: [["db.system.name", "postgresql"]]
  })

/** A pool with its first connection: by itself it would connect with the first statement. */
const openPool = (config: PgClient.PgPoolConfig) =>
  Effect.flatMap(
    PgClient.make(config),
    (client) => untilReachable(Effect.as(Effect.scoped(client.reserve), client))
  )

/** Connection of the tables' owner at the start: migrations, roles and rights. */
export const layerOwnerClient = (url: Redacted.Redacted) =>
  PgClient.layerFrom(
    Effect.flatMap(
      untilReachable(primaryOf(url)),
      (primary) => openPool({ ...general(primary, poolConnections.owner), applicationName: "pitboss-owner" })
    )
  )

const ServerFacts = Schema.Struct({
  version: Schema.NumberFromString,
  synchronousCommit: Schema.String,
  fsync: Schema.String,
  readOnly: Schema.String,
  hasCollations: Schema.Boolean
})

/** Reason for the failure of a statement, in one line. */
export const describeSqlError = (error: SqlError.SqlError): string => {
  const cause = error.reason.cause
  const text = cause instanceof Error && cause.message !== "" ? cause.message : error.message
  return text.replaceAll(/\s+/g, " ")
}

const unreachable = (error: SqlError.SqlError) =>
  new StartupError({ message: `the database cannot be reached: ${describeSqlError(error)}` })

/** Time for which a start tries again to connect, and the pause between two attempts. */
const startPatience = "1 minute"
const startPause = "1 second"

/** SQLSTATEs of a server that starts, stops or has no connection left, and error codes of a connection that was cut or got no answer. */
const passingCodes = new Set(["57P03", "57P01", "53300", "ECONNRESET", "ETIMEDOUT", "EAI_AGAIN"])

/** Whether a connection may succeed a moment later: not when it was refused, or its address or password is wrong. */
const isPassing = ({ reason }: SqlError.SqlError): boolean =>
  reason.message.endsWith("Connection timed out") ||
  Predicate.hasProperty(reason.cause, "code") && passingCodes.has(String(reason.cause.code))

/**
 * Connects at the start. On a busy machine a connection may take longer than its time-out, and a server may be starting: tries again for a
 * minute, and says in the log what it waits for.
 */
const untilReachable = <A, R>(
  connect: Effect.Effect<A, SqlError.SqlError, R>
): Effect.Effect<A, StartupError, R> =>
  connect.pipe(
    Effect.tapError((error) =>
      isPassing(error)
        ? Effect.annotateLogs(Effect.logWarning("waiting for the database"), { reason: describeSqlError(error) })
        : Effect.void
    ),
    Effect.retry({
      while: isPassing,
      schedule: Schedule.spaced(startPause).pipe(Schedule.upTo({ duration: startPatience }))
    }),
    Effect.mapError(unreachable)
  )

/** Reason for refusing to run on a server with these settings; undefined when allowed. */
export const refuseServer = (
  facts: typeof ServerFacts.Type,
  options: { readonly allowFsyncOff: boolean }
): string | undefined => {
  if (facts.version < 150_000) {
    return `PostgreSQL 15 or later is needed, this is ${Math.floor(facts.version / 10_000)}`
  }
  if (facts.readOnly !== "off") return "the database is read-only (a standby?), a primary is needed"
  // Our sessions request `on`; a pooler in between may drop that. `remote_apply` is stronger.
  if (facts.synchronousCommit !== "on" && facts.synchronousCommit !== "remote_apply") {
    return `synchronous_commit must be on for the service's sessions, it is ${facts.synchronousCommit}`
  }
  if (!facts.hasCollations) {
    return "the server has no ICU collations, which names are sorted by: use a PostgreSQL that is built with ICU, as all packages are; where this " +
      "one is, run SELECT pg_import_system_collations('pg_catalog') in the database as its superuser"
  }
  if (facts.fsync !== "on" && !options.allowFsyncOff) return "the server runs with fsync off and would lose money"
  return undefined
}

/** Refuses a server that is too old, lacks what migrations need, or would acknowledge unwritten commits. */
export const verifyServer = Effect.fn("verifyServer")(function*(options: { readonly allowFsyncOff: boolean }) {
  const sql = yield* SqlClient.SqlClient
  const facts = yield* SqlSchema.findOne({
    Request: Schema.Void,
    Result: ServerFacts,
    execute: () =>
      sql`SELECT current_setting('server_version_num') AS version,
        current_setting('synchronous_commit') AS "synchronousCommit",
        current_setting('fsync') AS fsync,
        current_setting('transaction_read_only') AS "readOnly",
        EXISTS (SELECT FROM pg_collation WHERE collname = 'und-x-icu') AS "hasCollations"`
  })(undefined).pipe(
    Effect.catchTags({
      SqlError: (error) => Effect.fail(unreachable(error)),
      SchemaError: () =>
        Effect.fail(new StartupError({ message: "the settings of the database server cannot be read" })),
      NoSuchElementError: () =>
        Effect.fail(new StartupError({ message: "the settings of the database server cannot be read" }))
    })
  )
  const refusal = refuseServer(facts, options)
  if (refusal !== undefined) return yield* new StartupError({ message: `DATABASE_URL: ${refusal}` })
})

export interface DatabaseOptions {
  /** Size of the general pool. */
  readonly maxConnections?: number
  readonly maxJournalConnections?: number
  readonly maxServingConnections?: number
  /** Accepts a server that does not flush to disk. For tests only. */
  readonly allowFsyncOff?: boolean
}

/**
 * `SqlClient` (general), {@link ReportClient}, {@link ServingClient} and {@link JournalClient}, on the server of {@link DatabaseUrl}, after verifying that server. While
 * the server is unavailable, a query fails with `SqlError` within three seconds; the pools reconnect by themselves.
 */
export const layerDatabaseWith = (options: DatabaseOptions = {}) =>
  Layer.unwrap(Effect.gen(function*() {
    const { url } = yield* DatabaseUrl
    const { token } = yield* Effect.provide(Entropy, Entropy.layer)
    const process = token("", 8)
    const connections = options.maxConnections ?? poolConnections.general
    const hosts = Layer.effect(DatabaseHosts, untilReachable(followPrimary(url)))
    const open = (config: PgClient.PgPoolConfig) =>
      Effect.flatMap(DatabaseHosts, ({ onPrimary }) => openPool(onPrimary(config)))
    const clients = Layer.mergeAll(
      Layer.effect(
        SqlClient.SqlClient,
        Effect.flatMap(
          open(general(url, connections, yield* GeneralPlans)),
          (client) => withAcquirer(client, boundedWait(client, connections))
        )
      ).pipe(Layer.provide(Reactivity.layer)),
      ReportConcurrency.layer,
      Layer.effect(
        ReportClient,
        Effect.flatMap(
          open(reporting(url)),
          (client) => withAcquirer(client, Effect.tap(client.reserve, lowerPriority))
        )
      ).pipe(Layer.provide(Reactivity.layer)),
      Layer.effect(ServingClient, open(serving(url, options.maxServingConnections ?? poolConnections.serving, process)))
        .pipe(
          Layer.provide(Reactivity.layer)
        ),
      Layer.effect(JournalClient, open(journal(url, options.maxJournalConnections ?? poolConnections.journal, process)))
        .pipe(
          Layer.provide(Reactivity.layer)
        )
    ).pipe(Layer.provideMerge(hosts))
    return Layer.effectDiscard(verifyServer({ allowFsyncOff: options.allowFsyncOff ?? false })).pipe(
      Layer.provideMerge(clients)
    )
  }))

/** Connections of the cluster membership, separate from all others: a lock is kept under any load. */
export const layerMembershipClient = Layer.unwrap(Effect.gen(function*() {
  const { url } = yield* DatabaseUrl
  const { onPrimary } = yield* DatabaseHosts
  return PgClient.layerFrom(openPool(onPrimary(membership(url))))
}))

/** Warns about excessive rights of the service's role, which an intruder would have as well. */
export const layerRightsWarning = Layer.effectDiscard(
  Effect.gen(function*() {
    const { ownerUrl, url } = yield* DatabaseUrl
    const excess = yield* excessiveRights
    if (excess.length === 0) return
    yield* Effect.logWarning("database role has more rights than the service needs").pipe(
      Effect.annotateLogs({
        role: roleOf(url),
        rights: excess.join("; "),
        remedy: ownerUrl === undefined
          ? "set DATABASE_OWNER_URL and a role that owns nothing in DATABASE_URL"
          : "revoke them"
      })
    )
  }).pipe(Effect.catchTags({
    SqlError: (error) => Effect.fail(unreachable(error)),
    SchemaError: () => Effect.fail(new StartupError({ message: "the rights of the database role cannot be read" }))
  }))
)

/** {@link layerDatabaseWith} its defaults, as used by the service. */
export const layerDatabase = layerDatabaseWith()
