import { Effect, type Scope } from "effect"
import pg from "pg"
import { BenchError, failedAt } from "../BenchError.ts"
import {
  accountsStatement,
  catalogueStatements,
  countStatements,
  filledTables,
  historyStatements,
  idsNeeded,
  playerId,
  playerNumbersStatement,
  playerStatements,
  scaffolding,
  type Shape,
  spans
} from "./GeneratorSql.ts"
import { defaultTimes } from "../targets/Postgres.ts"
import { dailyPlayersStatements, daysTable, spanSumsStatements } from "./ReportSql.ts"

/** Rows of players and of entries that one statement makes: enough to be quick, few enough to sort in memory. */
const rowsPerStatement = 250_000

/** Sessions that generate side by side. */
const sessions = 2

type Row = Readonly<Record<string, unknown>>

interface Session {
  readonly run: (sql: string) => Effect.Effect<ReadonlyArray<Row>, BenchError>
}

/**
 * Session with asynchronous commits and without triggers: generated rows are complete. Requires a
 * superuser, as the embedded server's user is.
 */
const openSession = (url: string): Effect.Effect<Session, BenchError, Scope.Scope> => {
  return Effect.acquireRelease(
    Effect.tryPromise({
      try: async () => {
        const client = new pg.Client({
          connectionString: url,
          options:
            "-c synchronous_commit=off -c work_mem=256MB -c maintenance_work_mem=512MB -c temp_buffers=192MB -c timezone=UTC " +
            "-c session_replication_role=replica -c max_parallel_workers_per_gather=0 -c max_parallel_maintenance_workers=0"
        })
        await client.connect()
        return client
      },
      catch: failedAt("PostgreSQL")
    }),
    (client) => Effect.promise(() => client.end())
  ).pipe(Effect.map((client) => ({
    run: (sql) =>
      Effect.tryPromise({
        try: async () => (await client.query<Row>(sql)).rows,
        catch: failedAt(`generating failed at ${sql.trim().slice(0, 60).replaceAll(/\s+/g, " ")}…`)
      })
  })))
}

/** A constraint or an index that is taken away for the time of the filling. */
interface Structure {
  readonly drop: string
  readonly create: string
}

/** Constraints first: theirs are the indexes that cannot be dropped by themselves. Foreign keys are not checked meanwhile. */
const findStructures = Effect.fnUntraced(function*(session: Session) {
  const tables = filledTables.map((name) => `'${name}'::regclass`).join(", ")
  const constraints = yield* session.run(
    `SELECT format('ALTER TABLE %s DROP CONSTRAINT %I', conrelid::regclass, conname) AS drop,
      format('ALTER TABLE %s ADD CONSTRAINT %I %s', conrelid::regclass, conname, pg_get_constraintdef(oid)) AS create
    FROM pg_constraint c WHERE conrelid IN (${tables}) AND contype IN ('p', 'u')
      AND NOT EXISTS (SELECT FROM pg_constraint f WHERE f.contype = 'f' AND f.conindid = c.conindid)`
  )
  const indexes = yield* session.run(
    `SELECT format('DROP INDEX %s', indexrelid::regclass) AS drop, pg_get_indexdef(indexrelid) AS create
    FROM pg_index WHERE indrelid IN (${tables}) AND NOT indisprimary
      AND NOT EXISTS (SELECT FROM pg_constraint WHERE conindid = indexrelid)`
  )
  // the one that takes longest to make first, beside all others
  return [...constraints, ...indexes].map((row): Structure => ({
    drop: String(row["drop"]),
    create: String(row["create"])
  })).sort((one, other) => Number(other.create.includes("USING gin")) - Number(one.create.includes("USING gin")))
})

export interface GenerateOptions {
  readonly url: string
  readonly players: number
  readonly entries: number
  readonly endsAt: number
  /** The operator with nearly all players first. */
  readonly operatorIds: ReadonlyArray<number>
  readonly progress: (text: string) => void
}

/**
 * Fills a migrated database with a casino's year; returns its description. Requires exclusive use of the database: indexes are dropped
 * and triggers disabled meanwhile.
 */
export const generate = Effect.fn("generate")(
  function*(options: GenerateOptions) {
    const { endsAt, entries, operatorIds, players, progress } = options
    const pool = yield* Effect.forEach(Array.from({ length: sessions }), () => openSession(options.url))
    const [main] = pool
    if (main === undefined) return yield* new BenchError({ message: "no session" })

    /** Does all of the work, each piece, statement by statement, in the next session that is free, and says how far it is. */
    const inTurn = Effect.fnUntraced(function*(what: string, work: ReadonlyArray<ReadonlyArray<string>>) {
      const waiting = [...work]
      let done = 0
      progress(`${what}: 0 of ${work.length}`)
      yield* Effect.forEach(pool, (session) =>
        Effect.gen(function*() {
          for (let piece = waiting.shift(); piece !== undefined; piece = waiting.shift()) {
            for (const sql of piece) yield* session.run(sql)
            progress(`${what}: ${++done} of ${work.length}`)
          }
        }), { concurrency: "unbounded", discard: true })
    })

    yield* main.run(defaultTimes)
    const [reserved] = yield* main.run("SELECT nextval('ids')::float8 AS id")
    const shape: Shape = { players, entries, endsAt, operatorIds, firstId: Number(reserved?.["id"]) }
    yield* main.run(`SELECT setval('ids', ${shape.firstId} + 4096 * (${idsNeeded(shape)} / 4096 + 1))`)
    for (const statement of catalogueStatements(shape)) yield* main.run(statement)
    yield* main.run(playerNumbersStatement(shape))
    yield* main.run(daysTable)

    const structures = yield* findStructures(main)
    for (const { drop } of structures) yield* main.run(drop)
    // no cleanup after a partially filled table
    for (const table of filledTables) yield* main.run(`ALTER TABLE ${table} SET (autovacuum_enabled = off)`)

    const blocks = Array.from({ length: Math.ceil(players / rowsPerStatement) }, (_, block) => ({
      from: block * rowsPerStatement + 1,
      to: Math.min(players, (block + 1) * rowsPerStatement)
    }))
    yield* inTurn("players", blocks.map(({ from, to }) => playerStatements(from, to)))
    const parts = spans(Math.ceil(entries / rowsPerStatement), shape)
    yield* inTurn(
      "ledgers",
      parts.map((part, number) => [...historyStatements(part, shape), ...spanSumsStatements(number)])
    )
    yield* inTurn(
      "accounts",
      blocks.map(({ from, to }, number) => [
        ...dailyPlayersStatements(playerId(shape, from), playerId(shape, to), number),
        accountsStatement(from, to, shape),
        "DROP TABLE bench_visits"
      ])
    )
    yield* inTurn("indexes", [
      ...structures.map(({ create }) => [create]),
      ...countStatements(shape).map((sql) => [sql])
    ])
    for (const table of filledTables) yield* main.run(`ALTER TABLE ${table} RESET (autovacuum_enabled)`)
    for (const table of scaffolding) yield* main.run(`DROP TABLE ${table}`)
    yield* inTurn(
      "statistics",
      [...filledTables, "player_counts", "payment_counts"].map((table) => [`VACUUM (ANALYZE) ${table}`])
    )
    const [made] = yield* main.run(`SELECT (SELECT count(*) FROM players)::float8 AS players,
      (SELECT count(*) FROM ledger_entries)::float8 AS entries,
      (SELECT count(*) FROM provider_transactions)::float8 AS transactions,
      (SELECT count(*) FROM payment_requests)::float8 AS payments, pg_database_size(current_database())::float8 AS bytes`)
    return {
      shape,
      made: {
        players: Number(made?.["players"]),
        entries: Number(made?.["entries"]),
        provider_transactions: Number(made?.["transactions"]),
        payments: Number(made?.["payments"]),
        bytes: Number(made?.["bytes"])
      }
    }
  },
  Effect.scoped
)
