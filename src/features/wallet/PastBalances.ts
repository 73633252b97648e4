/**
 * A player's balances at a moment of the past, out of the ledger.
 *
 * Entries are numbered without a gap and written in the order of time, so the last one at a moment is found by halving the
 * numbers: twenty looks at the primary key for a million entries, and no index over time that every bet would have to pay
 * for. The bonus wallet's entries are few and have a small index of their own. From a bonus's own stretch of play the last
 * real entry is found by going back over that stretch.
 */
import { Schema } from "effect"

/**
 * `$1` player, `$2` operator, `$3` the moment. The last entry's number is the table's own: a service that did not write the last entries
 * may not have heard of them yet.
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
  SELECT p.created_at AS "openedAt", coalesce(r.balance_after, 0)::float8 AS real, r.created_at AS "realUpdatedAt",
    coalesce(b.balance_after, 0)::float8 AS bonus, b.created_at AS "bonusUpdatedAt"
  FROM last CROSS JOIN players p
  LEFT JOIN LATERAL (SELECT balance_after, created_at FROM ledger_entries
    WHERE player_id = $1::float8::bigint AND wallet = 'real' AND seq <= last.seq ORDER BY seq DESC LIMIT 1) r ON true
  LEFT JOIN LATERAL (SELECT balance_after, created_at FROM ledger_entries
    WHERE player_id = $1::float8::bigint AND wallet = 'bonus' AND seq <= last.seq ORDER BY seq DESC LIMIT 1) b ON true
  WHERE p.id = $1::float8::bigint AND p.operator_id = $2::float8::bigint`

export const BalancesAtRow = Schema.Struct({
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
  /** When each balance came about: by its last entry until then, or when the wallet was opened. */
  readonly realUpdatedAt: number
  readonly bonusUpdatedAt: number
}
