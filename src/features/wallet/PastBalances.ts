/**
 * A player's balances at a past instant, from the ledger. The bonus wallet's entries are few and have a small index. From a run of bonus entries the
 * last real entry is found by scanning back over the run.
 */
import { Schema } from "effect"
import type { SqlClient } from "effect/sql"
import { toDate } from "../../platform/Time.ts"
import { entriesBefore } from "../../store/EntriesBefore.ts"

/** Reads a {@link BalancesAtRow}: the balances after the last entry until an instant, that included. */
export const selectBalancesAt = (sql: SqlClient.SqlClient, operatorId: number, playerId: number, at: number) => {
  const player = sql`${playerId}::float8::bigint`
  // the last entry's number is read from the table: a process that did not write the last entries may not know them yet
  const halving = entriesBefore(
    sql,
    sql`FROM accounts WHERE player_id = ${player}`,
    sql`${toDate(at)}::timestamptz + interval '1 microsecond'`
  )
  return sql`WITH RECURSIVE ${halving}, last AS (SELECT low AS seq FROM halving WHERE low = high)
    SELECT last.seq::float8 AS seq, p.created_at AS "openedAt", coalesce(r.balance_after, 0)::float8 AS real,
      r.created_at AS "realUpdatedAt", coalesce(b.balance_after, 0)::float8 AS bonus, b.created_at AS "bonusUpdatedAt"
    FROM last CROSS JOIN players p
    LEFT JOIN LATERAL (SELECT balance_after, created_at FROM ledger_entries
      WHERE player_id = ${player} AND wallet = 'real' AND seq <= last.seq ORDER BY seq DESC LIMIT 1) r ON true
    LEFT JOIN LATERAL (SELECT balance_after, created_at FROM ledger_entries
      WHERE player_id = ${player} AND wallet = 'bonus' AND seq <= last.seq ORDER BY seq DESC LIMIT 1) b ON true
    WHERE p.id = ${player} AND p.operator_id = ${operatorId}::float8::bigint`
}

export const BalancesAtRow = Schema.Struct({
  /** Number of the last entry until then; 0: none. */
  seq: Schema.Number,
  openedAt: Schema.Date,
  real: Schema.Number,
  realUpdatedAt: Schema.NullOr(Schema.Date),
  bonus: Schema.Number,
  bonusUpdatedAt: Schema.NullOr(Schema.Date)
})

/** Balances in minor units; instants are epoch milliseconds. */
export interface PastBalances {
  readonly playerId: number
  readonly currency: string
  readonly at: number
  readonly real: number
  readonly bonus: number
  /** Time of each balance: its last entry until then, or the opening of the wallet. */
  readonly realUpdatedAt: number
  readonly bonusUpdatedAt: number
}
