import { createHash } from "node:crypto"
import { standardError } from "../../../src/platform/Output.ts"
import pg from "pg"

/** How the baseline talks to PostgreSQL; each is one transaction per bet. */
export const baselineStyles = ["function", "pipelined", "statements"] as const
export type BaselineStyle = (typeof baselineStyles)[number]

export interface Bet {
  readonly providerId: number
  readonly transactionId: string
  readonly sessionToken: string
  readonly gameId: number
  readonly roundId: string
  readonly amount: number
  readonly currency: string
}

/** A bet that moved money, now or (`replayed`) when it first came. */
interface Settled {
  readonly status: "processed" | "replayed"
  readonly entryId: number
  readonly balance: number
  readonly bonusBalance: number
  readonly walletSeq: number
}

interface Refused {
  readonly refusal: string
}

export type PlaceBet = (bet: Bet) => Promise<Settled | Refused>

// bigint columns as numbers: money and ids are safe integers here.
pg.types.setTypeParser(pg.types.builtins.INT8, Number)

const tokenHash = (token: string): Buffer => createHash("sha256").update(token).digest()

interface FunctionRow {
  readonly outcome: string
  readonly entry_id: number
  readonly balance: number
  readonly bonus: number
  readonly sequence: number
}

/**
 * `function`: the whole transaction is one call of a stored function, one round trip; PostgreSQL commits at its end.
 */
const functionStyle = (pool: pg.Pool): PlaceBet => async (bet) => {
  try {
    const { rows } = await pool.query<FunctionRow>({
      name: "place_bet",
      text: "SELECT * FROM place_bet($1, $2, $3, $4, $5, $6, $7)",
      values: [
        bet.providerId,
        bet.transactionId,
        tokenHash(bet.sessionToken),
        bet.gameId,
        bet.roundId,
        bet.amount,
        bet.currency
      ]
    })
    const row = rows[0]
    if (row === undefined) throw new Error("place_bet returned no row")
    return row.outcome === "processed" || row.outcome === "replayed"
      ? {
        status: row.outcome,
        entryId: row.entry_id,
        balance: row.balance,
        bonusBalance: row.bonus,
        walletSeq: row.sequence
      }
      : { refusal: row.outcome }
  } catch (error) {
    if (error instanceof pg.DatabaseError && error.code === "PB001") return { refusal: error.message }
    throw error
  }
}

interface LockedRow {
  readonly player_id: number
  readonly game_id: number
  readonly expires_at: Date
  readonly currency: string
  readonly status: string
  readonly can_bet: boolean
  readonly exclusion_until: Date | null
  readonly real_balance: number
  readonly bonus_balance: number
  readonly entry_seq: number
  readonly wallet_seq: number
}

const lockText = `
  SELECT s.player_id, s.game_id, s.expires_at, p.currency, p.status, p.can_bet, p.exclusion_until, w.real_balance,
    w.bonus_balance, w.entry_seq, w.wallet_seq
  FROM game_sessions s JOIN players p ON p.id = s.player_id JOIN wallets w ON w.player_id = p.id
  WHERE s.token_hash = $1 FOR UPDATE OF w`

// Everything hangs on the round: when it is closed nothing is written and no row comes back.
const writeText = `
  WITH round AS (
    INSERT INTO rounds (player_id, game_id, round_id, real_stake, bonus_stake, paid_wins, closed)
    VALUES ($1::bigint, $2::bigint, $3::text, $4::bigint, 0, 0, false)
    ON CONFLICT (player_id, game_id, round_id) DO UPDATE SET real_stake = rounds.real_stake + excluded.real_stake
      WHERE NOT rounds.closed
    RETURNING nextval('ids') AS entry_id
  ), entry AS (
    INSERT INTO ledger_entries (player_id, seq, id, wallet, type, amount, balance_after, game_id, game_round_id)
    SELECT $1::bigint, $5::bigint, entry_id, 'real', 'casino_bet', -$4::bigint, $6::bigint, $2::bigint, $3::text
    FROM round
  ), message AS (
    INSERT INTO provider_transactions (provider_id, transaction_id, player_id, kind, status, amount, game_id, round_id,
      real_amount, bonus_amount, entry_ids)
    SELECT $7::bigint, $8::text, $1::bigint, 'bet', 'processed', $4::bigint, $2::bigint, $3::text, -$4::bigint, 0,
      ARRAY[entry_id]
    FROM round
  )
  UPDATE wallets SET real_balance = $6::bigint, entry_seq = $5::bigint, wallet_seq = wallet_seq + 1,
    real_updated_at = now()
  FROM round WHERE player_id = $1::bigint
  RETURNING round.entry_id`

const knownText = `
  SELECT t.player_id, t.kind, t.amount, t.game_id, t.round_id, t.entry_ids[1] AS entry_id, w.real_balance,
    w.bonus_balance, w.wallet_seq, s.player_id AS bettor
  FROM provider_transactions t JOIN wallets w ON w.player_id = t.player_id
    LEFT JOIN game_sessions s ON s.token_hash = $3
  WHERE t.provider_id = $1 AND t.transaction_id = $2`

interface KnownRow {
  readonly player_id: number
  readonly kind: string
  readonly amount: number
  readonly game_id: number
  readonly round_id: string
  readonly entry_id: number
  readonly real_balance: number
  readonly bonus_balance: number
  readonly wallet_seq: number
  readonly bettor: number | null
}

const findKnown = async (client: pg.PoolClient, bet: Bet): Promise<Settled | Refused | undefined> => {
  const { rows: [known] } = await client.query<KnownRow>({
    name: "known",
    text: knownText,
    values: [bet.providerId, bet.transactionId, tokenHash(bet.sessionToken)]
  })
  if (known === undefined) return undefined
  const same = known.kind === "bet" && known.amount === bet.amount && known.game_id === bet.gameId &&
    known.round_id === bet.roundId && (known.bettor === null || known.bettor === known.player_id)
  return same
    ? {
      status: "replayed",
      entryId: known.entry_id,
      balance: known.real_balance,
      bonusBalance: known.bonus_balance,
      walletSeq: known.wallet_seq
    }
    : { refusal: "DUPLICATE_TRANSACTION" }
}

const refusalOf = (locked: LockedRow | undefined, bet: Bet): string | undefined => {
  const now = new Date()
  if (locked === undefined || locked.expires_at <= now || locked.game_id !== bet.gameId) return "INVALID_SESSION"
  if (locked.currency !== bet.currency) return "VALIDATION_FAILED"
  if (locked.status !== "active" || !locked.can_bet) return "PLAYER_RESTRICTED"
  if (locked.exclusion_until !== null && locked.exclusion_until > now) return "PLAYER_RESTRICTED"
  if (locked.real_balance < bet.amount) return "INSUFFICIENT_FUNDS"
  return undefined
}

const uniqueViolation = "23505"

/**
 * `statements`: BEGIN, lock and read, write everything in one statement, COMMIT; four round trips, as most services
 * are written. `pipelined`: the same with BEGIN and COMMIT sent together with the statement beside them; two.
 */
const transactionStyle = (pool: pg.Pool, pipelined: boolean): PlaceBet => async (bet) => {
  const client = await pool.connect()
  let broken: Error | undefined
  try {
    const lock = () => client.query<LockedRow>({ name: "lock", text: lockText, values: [tokenHash(bet.sessionToken)] })
    const { rows: [locked] } = pipelined
      ? (await Promise.all([client.query("BEGIN"), lock()]))[1]
      : await client.query("BEGIN").then(lock)
    const refusal = refusalOf(locked, bet)
    if (locked === undefined || refusal !== undefined) {
      await client.query("ROLLBACK")
      return (await findKnown(client, bet)) ?? { refusal: refusal ?? "INVALID_SESSION" }
    }
    const balance = locked.real_balance - bet.amount
    const write = client.query<{ readonly entry_id: number }>({
      name: "write",
      text: writeText,
      values: [
        locked.player_id,
        bet.gameId,
        bet.roundId,
        bet.amount,
        locked.entry_seq + 1,
        balance,
        bet.providerId,
        bet.transactionId
      ]
    })
    if (!pipelined) await write.catch(() => undefined)
    // After a failed write this COMMIT is a rollback.
    const commit = client.query("COMMIT")
    const [written] = await Promise.allSettled([write, commit])
    await commit
    if (written.status === "rejected") {
      const error: unknown = written.reason
      if (!(error instanceof pg.DatabaseError) || error.code !== uniqueViolation) throw error
      const known = await findKnown(client, bet)
      if (known === undefined) throw error
      return known
    }
    const entryId = written.value.rows[0]?.entry_id
    if (entryId === undefined) return (await findKnown(client, bet)) ?? { refusal: "ROUND_CLOSED" }
    return {
      status: "processed",
      entryId,
      balance,
      bonusBalance: locked.bonus_balance,
      walletSeq: locked.wallet_seq + 1
    }
  } catch (error) {
    broken = error instanceof Error ? error : new Error(String(error))
    throw error
  } finally {
    // A connection in an unknown state is closed, not reused.
    client.release(broken)
  }
}

/** Opens the pool of a style, its connections included, so that no bet pays for a connection. */
export const openPool = async (url: string, style: BaselineStyle, connections: number): Promise<pg.Pool> => {
  const pool = new pg.Pool({
    connectionString: url,
    max: connections,
    idleTimeoutMillis: 0,
    connectionTimeoutMillis: 10_000,
    statement_timeout: 10_000,
    pipeline: style === "pipelined"
  })
  pool.on("error", (error) => standardError.offer(`idle connection lost: ${error.message}\n`))
  const clients = await Promise.all(Array.from({ length: connections }, () => pool.connect()))
  for (const client of clients) client.release()
  return pool
}

export const makePlaceBet = (pool: pg.Pool, style: BaselineStyle): PlaceBet =>
  style === "function" ? functionStyle(pool) : transactionStyle(pool, style === "pipelined")
