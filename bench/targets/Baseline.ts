import { Effect, type Scope } from "effect"
import { createHash, randomBytes } from "node:crypto"
import { readFile } from "node:fs/promises"
import { fileURLToPath } from "node:url"
import { BenchError } from "../BenchError.ts"
import { Listening } from "./Ceiling.ts"
import { startChild } from "./Child.ts"
import { nodeFlags, project } from "./NodeFlags.ts"
import type { Postgres } from "./Postgres.ts"
import type { BaselineStyle } from "./servers/BaselineBets.ts"
import type { Provisioning, Target } from "./Target.ts"

export interface BaselineOptions {
  /** Name of the target; default `baseline`. */
  readonly name?: string
  readonly style: BaselineStyle
  /** Connections to PostgreSQL. */
  readonly poolSize: number
}

/**
 * The baselines, each with the pool that suits it best (docs/benchmarks.md): the transaction as most services write it, BEGIN, lock
 * and read, write, COMMIT; and the whole of it as one call of a stored function, which moves the rules into the database.
 */
export const bestBaselines = {
  baseline: { name: "baseline", style: "statements", poolSize: 12 },
  "one-statement": { name: "one-statement", style: "function", poolSize: 6 }
} as const satisfies Readonly<Record<string, BaselineOptions>>

const providerKey = "bench-provider"
const gameId = "bench-slot"

const provisionSql = `
  WITH new_players AS (
    INSERT INTO players (id, currency) SELECT id, $2 FROM unnest($1::bigint[]) AS id RETURNING id
  ), new_wallets AS (
    INSERT INTO wallets (player_id, entry_seq, wallet_seq, real_balance) SELECT unnest($1::bigint[]), 1, 1, $3::bigint
  ), openings AS (
    INSERT INTO ledger_entries (player_id, seq, id, wallet, type, amount, balance_after)
    SELECT id, 1, nextval('ids'), 'real', 'deposit', $3::bigint, $3::bigint FROM unnest($1::bigint[]) AS id
  )
  INSERT INTO game_sessions (token_hash, player_id, game_id, expires_at)
  SELECT hash, player_id, 1, now() + interval '12 hours'
  FROM unnest($4::bytea[], $1::bigint[]) AS session (hash, player_id)`

/** Idle players from $1 to $2. */
const idleSql = `
  WITH idle AS (
    INSERT INTO players (id, currency) SELECT id, $3 FROM generate_series($1::bigint, $2::bigint) AS id RETURNING id
  )
  INSERT INTO wallets (player_id, real_balance) SELECT id, 0 FROM idle`

/** Invariants of the baseline's ledger, as in the service's `ledger verify`; one row per violation. */
const auditSql = `
  SELECT w.player_id FROM wallets w
  JOIN (
    SELECT player_id, count(*) AS entries, sum(amount) AS total, max(seq) AS last,
      bool_and(balance_after = running) AS consistent
    FROM (
      SELECT player_id, seq, amount, balance_after, sum(amount) OVER (PARTITION BY player_id ORDER BY seq) AS running
      FROM ledger_entries
    ) entries GROUP BY player_id
  ) ledger USING (player_id)
  WHERE ledger.total <> w.real_balance OR ledger.last <> w.entry_seq OR ledger.entries <> w.entry_seq
    OR NOT ledger.consistent
  LIMIT 10`

/** Creates the baseline's database on the common server, fills it, and starts the baseline on it. */
export const startBaseline = (
  postgres: Postgres,
  provisioning: Provisioning,
  options: BaselineOptions
): Effect.Effect<Target, BenchError, Scope.Scope> =>
  Effect.gen(function*() {
    const database = `baseline_${options.style}_${options.poolSize}`
    const secret = randomBytes(32).toString("hex")
    const { name = "baseline" } = options
    const playerIds = Array.from({ length: provisioning.players }, (_, index) => index + 1)
    const sessionTokens = playerIds.map(() => randomBytes(32).toString("hex"))
    yield* postgres.query("postgres", `CREATE DATABASE ${database}`)
    const schema = yield* Effect.tryPromise({
      try: () => readFile(new URL("./servers/baseline.sql", import.meta.url), "utf8"),
      catch: (error) => new BenchError({ message: `baseline.sql: ${String(error)}` })
    })
    yield* postgres.query(database, schema)
    yield* postgres.query(database, "INSERT INTO providers VALUES (1, $1, $2)", [providerKey, secret])
    yield* postgres.query(database, "INSERT INTO games VALUES (1, 1, $1)", [gameId])
    const hashes = sessionTokens.map((token) => createHash("sha256").update(token).digest())
    yield* postgres.query(database, provisionSql, [
      playerIds,
      provisioning.currency,
      provisioning.openingBalance,
      hashes
    ])
    yield* postgres.query(database, idleSql, [
      provisioning.players + 1,
      provisioning.registered ?? provisioning.players,
      provisioning.currency
    ])
    yield* postgres.query(database, "VACUUM ANALYZE")
    const child = yield* startChild({
      name,
      args: [...yield* nodeFlags(project), fileURLToPath(import.meta.resolve("./servers/baseline.ts"))],
      environment: {
        DATABASE_URL: postgres.url(database),
        POOL_SIZE: String(options.poolSize),
        STYLE: options.style
      },
      messages: true
    })
    const { port } = yield* child.receive(Listening)
    return {
      name,
      database,
      pid: () => child.pid,
      host: "127.0.0.1",
      port,
      provider: { key: providerKey, secret },
      gameId,
      players: sessionTokens.map((sessionToken, index) => ({ id: index + 1, sessionToken })),
      openingBalances: sessionTokens.map(() => provisioning.openingBalance),
      balances: (count) =>
        postgres.query(
          database,
          "SELECT real_balance FROM wallets WHERE player_id <= $1 ORDER BY player_id",
          [count]
        ).pipe(Effect.map((rows) => rows.map((row) => Number(row["real_balance"])))),
      work: Effect.undefined,
      audit: postgres.query(database, auditSql).pipe(
        Effect.map((rows) => rows.map((row) => `${name}: the ledger of player ${String(row["player_id"])} is wrong`))
      )
    }
  })
