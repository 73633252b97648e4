/** Bonus liability: the funds of running and waiting bonus grants (`docs/decisions/0018-reports.md`). */
import type { SqlClient, Statement } from "effect/sql"
import { toDate } from "../../platform/Time.ts"

/** So many grants are read for an answer. */
const maxRead = 1000

/**
 * Running and waiting grants of an operator's bonuses, or of one of them, as a table: `bonus_id`, `currency`, `is_test`, `running`, `amount` (minor
 * units), `at`. Read live up to {@link maxRead} grants, else as the job last summed them. A bonus not yet summed has one row without `running`,
 * `amount` and `at`, in the currency of one of its grants.
 */
export const liabilitiesOf = (
  sql: SqlClient.SqlClient,
  now: number,
  operatorId: number,
  bonusId?: number
): Statement.Fragment => {
  const of = sql.and([
    sql`operator_id = ${operatorId}`,
    ...(bonusId === undefined ? [] : [sql`bonus_id = ${bonusId}::float8::bigint`])
  ])
  return sql`(WITH few AS MATERIALIZED (
      SELECT player_id, bonus_id, state, coalesce(held_amount, amount) AS amount FROM player_bonuses WHERE ${of} AND state <> 'finished' LIMIT ${
    maxRead + 1
  }
    )
    SELECT f.bonus_id, p.currency, p.is_test, count(*) AS running,
      sum(CASE f.state WHEN 'activated' THEN a.bonus_balance ELSE f.amount END) AS amount, ${
    toDate(now)
  }::timestamptz AS at
    FROM few f JOIN players p ON p.id = f.player_id JOIN accounts a ON a.player_id = f.player_id
    WHERE (SELECT count(*) FROM few) <= ${maxRead} GROUP BY 1, 2, 3
    UNION ALL
    SELECT bonus_id, currency, is_test, running, amount, at FROM bonus_liabilities
    WHERE ${of} AND running > 0 AND (SELECT count(*) FROM few) > ${maxRead}
    UNION ALL
    SELECT b.id, g.currency, false, NULL, NULL, NULL
    FROM bonuses b CROSS JOIN LATERAL (
      SELECT p.currency FROM player_bonuses r JOIN players p ON p.id = r.player_id
      WHERE r.operator_id = b.operator_id AND r.bonus_id = b.id AND r.state <> 'finished' LIMIT 1
    ) g
    WHERE b.operator_id = ${operatorId} ${bonusId === undefined ? sql`` : sql`AND b.id = ${bonusId}::float8::bigint`}
      AND (SELECT count(*) FROM few) > ${maxRead} AND NOT EXISTS (
        SELECT FROM bonus_liabilities l WHERE l.operator_id = b.operator_id AND l.bonus_id = b.id AND l.running > 0
      ))`
}
