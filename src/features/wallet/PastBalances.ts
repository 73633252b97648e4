/**
 * A player's balances at a past instant, from the ledger.
 *
 * Entries are numbered without gaps and ordered by time, so the last one at an instant is found by binary search over the
 * numbers: twenty primary key lookups for a million entries, without an index over time that every bet would have to
 * maintain. The bonus wallet's entries are few and have a small index. From a run of bonus entries the last
 * real entry is found by scanning back over the run.
 */
import { Schema } from "effect"

/**
 * `$1` player, `$2` operator, `$3` instant. The last entry's number is read from the table: a process that did not write the last entries
 * may not know them yet.
 */
export const balancesAtText = `
  WITH RECURSIVE halving(low, high) AS (
    SELECT 0::bigint, entry_seq FROM accounts WHERE player_id = $1::float8::bigint
    UNION ALL
    SELECT CASE WHEN e.created_at <= $3::timestamptz THEN e.seq ELSE h.low END,
      CASE WHEN e.created_at <= $3::timestamptz THEN h.high ELSE e.seq - 1 END
    FROM halving h, LATERAL (SELECT seq, created_at FROM ledger_entries
      WHERE player_id = $1::float8::bigint AND seq = (h.low + h.high + 1) / 2) e
    WHERE h.low < h.high
  ), last AS (SELECT low AS seq FROM halving WHERE low = high)
  SELECT last.seq::float8 AS seq, p.created_at AS "openedAt", coalesce(r.balance_after, 0)::float8 AS real, r.created_at AS "realUpdatedAt",
    coalesce(b.balance_after, 0)::float8 AS bonus, b.created_at AS "bonusUpdatedAt"
  FROM last CROSS JOIN players p
  LEFT JOIN LATERAL (SELECT balance_after, created_at FROM ledger_entries
    WHERE player_id = $1::float8::bigint AND wallet = 'real' AND seq <= last.seq ORDER BY seq DESC LIMIT 1) r ON true
  LEFT JOIN LATERAL (SELECT balance_after, created_at FROM ledger_entries
    WHERE player_id = $1::float8::bigint AND wallet = 'bonus' AND seq <= last.seq ORDER BY seq DESC LIMIT 1) b ON true
  WHERE p.id = $1::float8::bigint AND p.operator_id = $2::float8::bigint`

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
