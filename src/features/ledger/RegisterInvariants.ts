/**
 * Ledger invariants of exclusion registers: the register state in a player's row equals the register's stored answers
 * (`docs/decisions/0060-registers.md`). `$operator` is replaced by a condition on `operator_id`.
 */
import type { LedgerInvariant } from "./LedgerInvariant.ts"

/** Last answers that players carry, one row each. */
const standings = `(SELECT p.id AS player_id, one ->> 'kind' AS kind, one ->> 'verdict' AS verdict,
    to_timestamp((one ->> 'at')::float8 / 1000) AS at
  FROM players p CROSS JOIN LATERAL jsonb_array_elements(p.registers) AS one WHERE $operator AND p.registers <> '[]')`

/** Proper answers about players; a question for marketing says nothing about play. */
const answers = `(SELECT player_id, kind, verdict, answered_at AS at FROM register_checks
  WHERE $operator AND player_id IS NOT NULL AND verdict <> 'unavailable' AND event <> 'marketing')`

export const registerInvariants: ReadonlyArray<LedgerInvariant> = [
  {
    rule: "register_answer_has_its_check",
    statement: `SELECT s.player_id, 'player ' || s.player_id AS subject,
        'the player carries ' || s.verdict || ' of ' || s.kind || ' at ' || s.at || ', and no check says so' AS message
      FROM ${standings} s LEFT JOIN ${answers} c
        ON c.player_id = s.player_id AND c.kind = s.kind AND c.verdict = s.verdict AND c.at = s.at
      WHERE c.player_id IS NULL`
  },
  {
    // ended by a later proper answer alone
    rule: "register_exclusion_stands",
    statement: `SELECT c.player_id, 'player ' || c.player_id AS subject,
        c.kind || ' excluded the player at ' || c.excluded_at || ', and the player carries ' || coalesce(s.verdict, 'no answer') AS message
      FROM (SELECT player_id, kind, max(at) FILTER (WHERE verdict = 'excluded') AS excluded_at,
          max(at) FILTER (WHERE verdict <> 'excluded') AS allowed_at FROM ${answers} a GROUP BY player_id, kind) c
      LEFT JOIN ${standings} s ON s.player_id = c.player_id AND s.kind = c.kind
      WHERE c.excluded_at IS NOT NULL AND (c.allowed_at IS NULL OR c.allowed_at < c.excluded_at)
        AND s.verdict IS DISTINCT FROM 'excluded'`
  }
]
