import { PgClient, PgTypes } from "@effect/sql-pg"
import { Context, Effect, Layer, Predicate, Redacted, Result, Schema } from "effect"
import { Reactivity } from "effect/reactivity"
import { SqlClient, type SqlConnection, SqlError, SqlSchema } from "effect/sql"
import { registerColumnArrays } from "./ColumnArrays.ts"
import { DatabaseHosts, followPrimary, primaryOf } from "./DatabaseHosts.ts"
import { EmbeddedPostgres } from "./EmbeddedPostgres.ts"
import { Entropy } from "./Entropy.ts"
import { ensureRole, excessiveRights, roleOf } from "./Privileges.ts"
import { Settings } from "./Settings.ts"
import { StartupError } from "./StartupError.ts"

/**
 * Where the database is. The layer is the embedded server, started on `DATA_DIR`, or the one `DATABASE_URL` names. On the embedded
 * one the service works as a role of its own, whose password is new at every start.
 */
export class DatabaseUrl extends Context.Service<DatabaseUrl, {
  /** The service's role. */
  readonly url: Redacted.Redacted
  /** The role that owns the tables and migrates them; without it the service's role does. */
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

/** The service's role on the embedded server. */
export const serviceRole = "pitboss_service"

/** The same database for another role. */
export const asRole = (url: Redacted.Redacted, role: string, password: string): Redacted.Redacted => {
  const changed = new URL(Redacted.value(url))
  changed.username = role
  changed.password = password
  return Redacted.make(changed.toString())
}

/**
 * The journal's own connections, separate from all others so that a slow report never delays a commit. The
 * planner is held to the prepared plans over indexes that the journal's statements are written for.
 *
 *     const sql = yield* JournalClient
 *     yield* sql.withTransaction(...)
 */
export class JournalClient extends Context.Service<JournalClient, SqlClient.SqlClient>()(
  "pitboss/platform/JournalClient"
) {}

/**
 * The connections for what a bet may need beside its commit: loads, look-ups, keys, games, ids, the probe of readiness. Apart from
 * the general ones, so that reports, searches and verifications never stand before them.
 */
export class ServingClient extends Context.Service<ServingClient, SqlClient.SqlClient>()(
  "pitboss/platform/ServingClient"
) {}

const readInt8 = (bytes: Uint8Array, offset: number) => {
  const value = Number(new DataView(bytes.buffer, bytes.byteOffset + offset, 8).getBigInt64(0))
  return Number.isSafeInteger(value)
    ? Result.succeed(value)
    : Result.fail(new PgTypes.CodecError({ message: "a bigint is beyond the exact integers of a number" }))
}

/**
 * Reads `bigint` as a number: all that the tables hold are safe integers (`domain/Money.ts`; ids of a sequence). A value beyond
 * fails its statement instead of losing digits.
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

const general = (url: Redacted.Redacted, maxConnections: number): PgClient.PgPoolConfig => ({
  ...connection(url),
  applicationName: "pitboss",
  types,
  maxConnections,
  minConnections: 1,
  startupParameters: {
    synchronous_commit: "on",
    statement_timeout: "30s",
    // Planned for the values at hand. A plan for any value takes a page for a tenth of the table, and a player for a mean one.
    plan_cache_mode: "force_custom_plan",
    jit: "off",
    timezone: "UTC"
  }
})

const serving = (url: Redacted.Redacted, maxConnections: number): PgClient.PgPoolConfig => {
  const { startupParameters, ...config } = general(url, maxConnections)
  return {
    ...config,
    applicationName: "pitboss-serving",
    // every statement of these reads a few rows by their keys
    startupParameters: { ...startupParameters, statement_timeout: "5s" }
  }
}

const journal = (url: Redacted.Redacted, maxConnections: number): PgClient.PgPoolConfig => ({
  ...connection(url),
  applicationName: "pitboss-journal",
  types,
  maxConnections,
  minConnections: 1,
  startupParameters: {
    synchronous_commit: "on",
    // providers wait three seconds and more
    statement_timeout: "5s",
    // everybody's commit waits with the one whose row is held; the player of a row held longer waits alone
    lock_timeout: "50ms",
    plan_cache_mode: "force_generic_plan",
    enable_seqscan: "off",
    enable_hashjoin: "off",
    enable_mergejoin: "off",
    jit: "off",
    timezone: "UTC"
  }
})

/** Membership and locks of the cluster: one connection is the locks, for as long as the process lives. */
const membership = (url: Redacted.Redacted): PgClient.PgPoolConfig => ({
  ...connection(url),
  applicationName: "pitboss-cluster",
  maxConnections: 2,
  startupParameters: { statement_timeout: "2s", timezone: "UTC" }
})

/** How long a statement or a transaction waits for a connection of the general pool while all are taken. */
const longestWait = "5 seconds"

const noConnection = (connections: number) =>
  new SqlError.SqlError({
    reason: new SqlError.ConnectionError({
      cause: new Error(`none of ${connections} connections became free within ${longestWait}`),
      message: "no connection became free",
      operation: "acquire"
    })
  })

/** COMMIT of a transaction that has failed answers ROLLBACK, and that is an error: nothing was committed. */
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
 * The client's pool with a bound on the wait for a connection: who waits longer fails as when the database is away. Nothing may wait for
 * as long as others please: ten slow statements would stop everybody who needs the pool.
 */
const withBoundedWait = (client: PgClient.PgClient, connections: number) => {
  let taken = 0
  const note = Effect.acquireRelease(Effect.sync(() => taken++), () => Effect.sync(() => taken--))
  const soon = Effect.timeoutOrElse(client.reserve, {
    duration: longestWait,
    orElse: () => Effect.fail(noConnection(connections))
  })
  // a timer only for who has to wait
  const acquirer: SqlConnection.Acquirer = Effect.suspend(() =>
    Effect.andThen(note, taken < connections ? client.reserve : soon)
  )
  return SqlClient.make({
    acquirer,
    compiler: PgClient.makeCompiler(),
    driver: client.driver,
    commit,
    releaseSavepoint: (name) => `RELEASE SAVEPOINT ${name}`,
    prepareTransactionControls: true,
    spanAttributes: [["db.system.name", "postgresql"]]
  })
}

/** A connection for what the owner of the tables does at the start: migrations, roles and rights. */
export const layerOwnerClient = (url: Redacted.Redacted) =>
  PgClient.layerFrom(
    primaryOf(url).pipe(
      Effect.flatMap((primary) => PgClient.make({ ...general(primary, 1), applicationName: "pitboss-owner" })),
      Effect.mapError(unreachable)
    )
  )

const ServerFacts = Schema.Struct({
  version: Schema.NumberFromString,
  synchronousCommit: Schema.String,
  fsync: Schema.String,
  readOnly: Schema.String
})

/** Why a statement failed, in one line. */
export const describeSqlError = (error: SqlError.SqlError): string => {
  const cause = error.reason.cause
  const text = cause instanceof Error && cause.message !== "" ? cause.message : error.message
  return text.replaceAll(/\s+/g, " ")
}

const unreachable = (error: SqlError.SqlError) =>
  new StartupError({ message: `the database cannot be reached: ${describeSqlError(error)}` })

/** Why the service will not run on a server with these settings; undefined when it will. */
export const refuseServer = (
  facts: typeof ServerFacts.Type,
  options: { readonly allowFsyncOff: boolean }
): string | undefined => {
  if (facts.version < 150_000) {
    return `PostgreSQL 15 or later is needed, this is ${Math.floor(facts.version / 10_000)}`
  }
  if (facts.readOnly !== "off") return "the database only reads (a standby?), a primary is needed"
  // Our sessions ask for `on`; a pooler in between can swallow that. `remote_apply` waits for more, not less.
  if (facts.synchronousCommit !== "on" && facts.synchronousCommit !== "remote_apply") {
    return `synchronous_commit must be on for the service's sessions, it is ${facts.synchronousCommit}`
  }
  if (facts.fsync !== "on" && !options.allowFsyncOff) return "the server runs with fsync off and would lose money"
  return undefined
}

/** Refuses a server that is too old or would acknowledge what it has not written. */
export const verifyServer = Effect.fn("verifyServer")(function*(options: { readonly allowFsyncOff: boolean }) {
  const sql = yield* SqlClient.SqlClient
  const facts = yield* SqlSchema.findOne({
    Request: Schema.Void,
    Result: ServerFacts,
    execute: () =>
      sql`SELECT current_setting('server_version_num') AS version,
        current_setting('synchronous_commit') AS "synchronousCommit",
        current_setting('fsync') AS fsync,
        current_setting('transaction_read_only') AS "readOnly"`
  })(undefined).pipe(
    Effect.catchTags({
      SqlError: (error) => Effect.fail(unreachable(error)),
      SchemaError: () => Effect.fail(new StartupError({ message: "the database does not say what it is" })),
      NoSuchElementError: () => Effect.fail(new StartupError({ message: "the database does not say what it is" }))
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
  /** Accept a server that does not flush to disk. For tests only. */
  readonly allowFsyncOff?: boolean
}

/**
 * `SqlClient` (general), {@link ServingClient} and {@link JournalClient}, on the server of {@link DatabaseUrl}, after looking
 * that server over. A query while the server is away fails with `SqlError` within three seconds; the pools connect
 * again by themselves when it is back.
 */
export const layerDatabaseWith = (options: DatabaseOptions = {}) =>
  Layer.unwrap(Effect.gen(function*() {
    const { url } = yield* DatabaseUrl
    const connections = options.maxConnections ?? 10
    const hosts = Layer.effect(DatabaseHosts, Effect.mapError(followPrimary(url), unreachable))
    const open = (config: PgClient.PgPoolConfig) =>
      DatabaseHosts.pipe(
        Effect.flatMap(({ onPrimary }) => PgClient.make(onPrimary(config))),
        Effect.mapError(unreachable)
      )
    const clients = Layer.mergeAll(
      Layer.effect(
        SqlClient.SqlClient,
        Effect.flatMap(open(general(url, connections)), (client) => withBoundedWait(client, connections))
      ).pipe(Layer.provide(Reactivity.layer)),
      Layer.effect(ServingClient, open(serving(url, options.maxServingConnections ?? 6))).pipe(
        Layer.provide(Reactivity.layer)
      ),
      Layer.effect(JournalClient, open(journal(url, options.maxJournalConnections ?? 3))).pipe(
        Layer.provide(Reactivity.layer)
      )
    ).pipe(Layer.provideMerge(hosts))
    return Layer.effectDiscard(verifyServer({ allowFsyncOff: options.allowFsyncOff ?? false })).pipe(
      Layer.provideMerge(clients)
    )
  }))

/** The connections of the cluster's membership, apart from all others: a lock is kept however busy the service is. */
export const layerMembershipClient = Layer.unwrap(Effect.gen(function*() {
  const { url } = yield* DatabaseUrl
  const { onPrimary } = yield* DatabaseHosts
  return PgClient.layerFrom(PgClient.make(onPrimary(membership(url))).pipe(Effect.mapError(unreachable)))
}))

/** Says which rights the service's role has too many: its account is worth as much to an intruder as what it may do. */
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
    SchemaError: () => Effect.fail(new StartupError({ message: "the database does not say what its roles may do" }))
  }))
)

/** {@link layerDatabaseWith} its defaults: what the service runs on. */
export const layerDatabase = layerDatabaseWith()
