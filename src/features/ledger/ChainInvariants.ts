/**
 * Ledger invariants of the hash chain: rows without a link, and accounts of staff without the line of their making. The links themselves are checked
 * by walking them (`src/chain`).
 */
import type { LedgerInvariant } from "./LedgerInvariant.ts"

/** Rows of before the chain that are not linked yet, as `condition` on a row of `ledger_entries` or `audit_log`. */
const isWaiting = (position: string): string =>
  `NOT (SELECT is_done FROM chain_old_rows) AND id < (SELECT before_id FROM chain_old_rows) AND ${position}`

const waitingEntry = isWaiting(
  "(player_id, seq) > ((SELECT o.player_id FROM chain_old_rows o), (SELECT o.seq FROM chain_old_rows o))"
)
const waitingAudit = isWaiting("id > (SELECT audit_id FROM chain_old_rows)")

export const chainInvariants: ReadonlyArray<LedgerInvariant> = [
  {
    // of the whole installation: an account is of no operator
    rule: "staff_unrecorded",
    statement: `SELECT NULL::bigint AS player_id, 'staff:' || s.id AS subject,
        'has no line in the audit log that says who made it' AS message
      FROM (SELECT id, NULL::bigint AS operator_id FROM staff) s
      WHERE $operator AND NOT EXISTS (SELECT FROM audit_log a WHERE a.action = 'staff.create' AND a.subject = 'staff:' || s.id)`
  },
  {
    rule: "chain_row_added",
    seconds: 3,
    statement: `SELECT e.player_id, 'entry ' || e.seq || ' of player ' || e.player_id AS subject,
        'is in no link of the chain: no commit of the service wrote it' AS message
      FROM (SELECT player_id, seq FROM ledger_entries WHERE $operator AND NOT (${waitingEntry})) e
      LEFT JOIN (SELECT named.player_id, named.seq
        FROM chain_links c CROSS JOIN LATERAL unnest(c.player_ids, c.seqs) AS named (player_id, seq) WHERE c.link > 0) l
        ON l.player_id = e.player_id AND l.seq = e.seq
      WHERE l.player_id IS NULL
      UNION ALL
      SELECT a.player_id, 'audit line ' || a.id AS subject,
        'is in no link of the chain: no commit of the service wrote it' AS message
      FROM (SELECT id, player_id FROM audit_log WHERE $operator AND NOT (${waitingAudit})) a
      LEFT JOIN (SELECT named.id FROM chain_links c CROSS JOIN LATERAL unnest(c.audit_ids) AS named (id) WHERE c.link > 0) l
        ON l.id = a.id
      WHERE l.id IS NULL`
  },
  {
    rule: "chain_link_broken",
    statement: `SELECT NULL::bigint AS player_id, 'link ' || link || ' of chain ' || chain_id AS subject,
        'links are numbered from 1' AS message FROM chain_links WHERE link < 1`
  },
  {
    rule: "chain_seal_broken",
    statement: `SELECT NULL::bigint AS player_id, 'seal ' || h.seal AS subject, 'was removed' AS message
      FROM (SELECT DISTINCT seal FROM chain_seal_heads) h LEFT JOIN chain_seals s ON s.seal = h.seal WHERE s.seal IS NULL`
  }
]

/** How many rows of before the chain are not linked yet. */
export const countUnlinked = `SELECT (SELECT count(*) FROM ledger_entries WHERE $operator AND ${waitingEntry})::float8
    + (SELECT count(*) FROM audit_log WHERE $operator AND ${waitingAudit})::float8 AS rows`
