/**
 * Ledger invariants of the hash chain that SQL can check, such as no row outside a link and no staff account without the audit line of its creation.
 * The links themselves are verified by recomputing them (`src/chain`).
 */
import { auditLineSql, digestAtSql, digestSql, entryLineSql, erasureAction } from "../../chain/Lines.ts"
import type { LedgerInvariant } from "./LedgerInvariant.ts"

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
      FROM (SELECT player_id, seq FROM ledger_entries WHERE $operator) e
      LEFT JOIN (SELECT named.player_id, named.seq
        FROM chain_links c CROSS JOIN LATERAL unnest(c.player_ids, c.seqs) AS named (player_id, seq) WHERE c.link > 0) l
        ON l.player_id = e.player_id AND l.seq = e.seq
      WHERE l.player_id IS NULL
      UNION ALL
      SELECT a.player_id, 'audit line ' || a.id AS subject,
        'is in no link of the chain: no commit of the service wrote it' AS message
      FROM (SELECT id, player_id FROM audit_log WHERE $operator) a
      LEFT JOIN (SELECT named.id FROM chain_links c CROSS JOIN LATERAL unnest(c.audit_ids) AS named (id) WHERE c.link > 0) l
        ON l.id = a.id
      WHERE l.id IS NULL`,
    // an entry with a number that was verified was there, any other is in a link whose hash is checked; a line may be dated ahead, by the clock of a
    // sandbox, and be in an older link: what was added to those is found by the sum of all lines
    incremental: `WITH links AS MATERIALIZED (SELECT audit_ids FROM $links c WHERE c.link > 0),
        lines AS MATERIALIZED (SELECT a.id, a.player_id FROM (SELECT * FROM audit_log WHERE $operator AND at >= $since) a
          LEFT JOIN (SELECT named.id FROM links c CROSS JOIN LATERAL unnest(c.audit_ids) AS named (id)) l ON l.id = a.id
          WHERE l.id IS NULL)
      SELECT e.player_id, 'entry ' || e.seq || ' of player ' || e.player_id AS subject,
        'is in no link of the chain: no commit of the service wrote it' AS message
      FROM (SELECT n.player_id, n.seq FROM (SELECT * FROM $entries n WHERE $operator) n
        LEFT JOIN ledger_verified_players v ON v.player_id = n.player_id
        WHERE n.seq NOT BETWEEN 1 AND coalesce(v.entries, 0)) e
      LEFT JOIN (SELECT named.player_id, named.seq
        FROM $newLinks c CROSS JOIN LATERAL unnest(c.player_ids, c.seqs) AS named (player_id, seq) WHERE c.link > 0) l
        ON l.player_id = e.player_id AND l.seq = e.seq
      WHERE l.player_id IS NULL
      UNION ALL
      SELECT a.player_id, 'audit line ' || a.id AS subject,
        'is in no link of the chain: no commit of the service wrote it' AS message
      FROM lines a LEFT JOIN (SELECT named.id FROM chain_links c CROSS JOIN LATERAL unnest(c.audit_ids) AS named (id)
        WHERE c.link > 0 AND c.audit_ids <> '{}') l ON l.id = a.id
      WHERE l.id IS NULL`
  },
  {
    rule: "chain_values_removed",
    statement: `SELECT a.player_id, 'audit line ' || a.id AS subject,
        'its values are gone, and no line says that they were erased' AS message
      FROM audit_log a WHERE $operator AND a.values_digest IS NOT NULL AND NOT EXISTS (
        SELECT FROM audit_log e WHERE e.player_id = a.player_id AND e.action = '${erasureAction}' AND e.at >= a.at)`
  },
  {
    rule: "chain_link_broken",
    statement: `SELECT NULL::bigint AS player_id, 'link ' || link || ' of chain ' || chain_id AS subject,
        'links are numbered from 1' AS message FROM chain_links WHERE link < 1`,
    // a constraint refuses them
    incremental: null
  },
  {
    // one that is stored again may stand where a page of links ends, and be skipped by who reads them
    rule: "chain_link_broken",
    statement: `SELECT NULL::bigint AS player_id, 'chain ' || chain_id AS subject,
        'has ' || count(*) || ' links numbered from ' || min(link) || ' to ' || max(link) AS message
      FROM $newLinks c GROUP BY chain_id HAVING count(*) > max(link) - min(link) + 1`
  },
  {
    rule: "chain_seal_broken",
    statement: `SELECT NULL::bigint AS player_id, 'seal ' || h.seal AS subject, 'was removed' AS message
      FROM (SELECT DISTINCT seal FROM chain_seal_heads) h LEFT JOIN chain_seals s ON s.seal = h.seal WHERE s.seal IS NULL`
  }
]

/** The sum of the rows' hashes and their number. The hash of a row is that of its key and digest. */
const sumOf = (key: string, digest: string, from: string): string =>
  `SELECT coalesce(sum(hashtextextended(concat(${key}, ',', encode(${digest}, 'hex')), $seed)), 0) AS sum, count(*) AS rows FROM ${from}`

const addedUp = (sums: ReadonlyArray<string>): string =>
  `SELECT sum(sum)::text AS sum, sum(rows)::float8 AS rows FROM (${sums.join(" UNION ALL ")}) sums`

// detoasted once
const flat = "CROSS JOIN LATERAL (SELECT c.digests || ''::bytea AS digests OFFSET 0) flat"

/**
 * Rows with their digests, stored and as the links of the chain have them, as sums of hashes under a seed that nobody knew before: equal ones prove that
 * every row is in a link as it was written, and that there is no other, without a look-up for each.
 */
export const rowSums = {
  stored: addedUp([
    sumOf("e.player_id, ',', e.seq", digestSql(entryLineSql("e")), "ledger_entries e"),
    sumOf("'audit,', a.id", digestSql(auditLineSql("a")), "audit_log a")
  ]),
  linked: addedUp([
    sumOf(
      "named.player_id, ',', named.seq",
      digestAtSql("named.place"),
      `chain_links c ${flat} CROSS JOIN LATERAL unnest(c.player_ids, c.seqs) WITH ORDINALITY AS named (player_id, seq, place)`
    ),
    sumOf(
      "'audit,', named.id",
      digestAtSql("least(cardinality(c.player_ids), cardinality(c.seqs)) + named.place"),
      `chain_links c ${flat} CROSS JOIN LATERAL unnest(c.audit_ids) WITH ORDINALITY AS named (id, place) WHERE c.audit_ids <> '{}'`
    )
  ])
}
