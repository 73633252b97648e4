/**
 * Finds the last ledger entries of players before an instant.
 *
 * Entries are numbered without gaps and ordered by time, so the last one is found by binary search over the numbers: twenty primary key lookups for a
 * million entries, without an index over time that every bet would have to maintain. A function of the database takes four times as long for thousands
 * of players.
 */
import type { SqlClient, Statement } from "effect/sql"

/** `halving`, of a `WITH RECURSIVE`: where `low = high`, so many entries of a player are `before`. `accounts`: the `FROM` with those looked at. */
export const entriesBefore = (
  sql: SqlClient.SqlClient,
  accounts: Statement.Fragment,
  before: Statement.Fragment
): Statement.Fragment =>
  sql`halving (player_id, low, high) AS (
    SELECT player_id, 0::bigint, entry_seq ${accounts}
    UNION ALL
    SELECT h.player_id, CASE WHEN e.created_at < ${before} THEN e.seq ELSE h.low END,
      CASE WHEN e.created_at < ${before} THEN h.high ELSE e.seq - 1 END
    FROM halving h CROSS JOIN LATERAL (SELECT seq, created_at FROM ledger_entries
      WHERE player_id = h.player_id AND seq = (h.low + h.high + 1) / 2 OFFSET 0) e
    WHERE h.low < h.high
  )`
