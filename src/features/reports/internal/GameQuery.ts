/** SQL statements for sums by game. Amounts are converted as in the GGR report (`ReportQuery.ts`). */
import { rounded } from "./ReportQuery.ts"

const isOfStake = "(e.type = 'casino_bet' OR (e.type = 'casino_rollback' AND e.amount > 0))"

/** Wins of no game, such as jackpots: their message names the provider, and whether it was a tournament's prize, which counts nowhere. */
const withoutGame =
  `SELECT claimed.entry_id, t.provider_id, coalesce(target.detail, t.detail) LIKE 'tournament:%' AS is_prize
  FROM provider_transactions t CROSS JOIN LATERAL unnest(t.entry_ids) AS claimed (entry_id)
  LEFT JOIN provider_transactions target ON t.kind = 'rollback' AND target.provider_id = t.provider_id
    AND target.transaction_id = t.target_transaction_id
  WHERE t.game_id IS NULL AND t.created_at >= $1 AND t.created_at < $2`

/** Figures of a slice by player: entries, and rounds by their opening. */
const played = `SELECT e.player_id, e.game_id, free.provider_id, e.exchange_rate_id, count(*) AS entries, 0 AS rounds,
    coalesce(sum(-e.amount) FILTER (WHERE ${isOfStake}), 0) AS bets,
    coalesce(sum(-e.amount) FILTER (WHERE e.wallet = 'bonus' AND ${isOfStake}), 0) AS bonus_bets,
    coalesce(sum(e.amount) FILTER (WHERE NOT ${isOfStake}), 0) AS wins
  FROM ledger_entries e LEFT JOIN free ON e.game_id IS NULL AND free.entry_id = e.id
  WHERE e.created_at >= $1 AND e.created_at < $2 AND e.type IN ('casino_bet', 'casino_win', 'casino_rollback')
    AND free.is_prize IS NOT TRUE
  GROUP BY 1, 2, 3, 4
  UNION ALL
  SELECT player_id, game_id, NULL, NULL, 0, count(*), 0, 0, 0 FROM rounds
  WHERE opened_at >= $1 AND opened_at < $2 AND is_live IS NOT NULL GROUP BY 1, 2
  UNION ALL
  SELECT player_id, game_id, NULL, NULL, 0, count(*), 0, 0, 0 FROM original_rounds
  WHERE created_at >= $1 AND created_at < $2 GROUP BY 1, 2`

const counts = ["entries", "rounds", "bets", "bonus_bets", "wins"]
const amounts = ["bets", "bonus_bets", "wins"]

const key = "operator_id, day, provider_id, game_id, is_test, currency, base"
const sums = [...counts, ...amounts.map((name) => `base_${name}`)]

/**
 * Adds the slice from $1 to before $2, of the day $3, to the sums, if they end at $1, and lets them end at $2. One statement: both or none. Answers how
 * many rows it added to.
 */
export const addSlice = `WITH turn AS (
    UPDATE game_sums_walk SET until = $2 WHERE until = $1 RETURNING name
  ), free AS MATERIALIZED (${withoutGame}), played AS MATERIALIZED (${played}), added AS (
    INSERT INTO game_sums AS s (${key}, ${sums.join(", ")})
    SELECT p.operator_id, $3::date, coalesce(g.provider_id, m.provider_id, 0), coalesce(m.game_id, 0), p.is_test, p.currency,
      coalesce(r.base, ''), ${counts.map((name) => `sum(m.${name})`).join(", ")},
      ${amounts.map((name) => `coalesce(sum(m.${name} * r.factor), 0)`).join(", ")}
    FROM played m JOIN players p ON p.id = m.player_id LEFT JOIN games g ON g.id = m.game_id
      LEFT JOIN exchange_rates r ON r.id = m.exchange_rate_id
    WHERE EXISTS (SELECT FROM turn) GROUP BY 1, 2, 3, 4, 5, 6, 7 ORDER BY 1, 2, 3, 4, 5, 6, 7
    ON CONFLICT (${key}) DO UPDATE SET ${sums.map((name) => `${name} = s.${name} + excluded.${name}`).join(", ")}
    RETURNING 1
  ) SELECT count(*)::float8 AS rows FROM added`

/** Games that have a row of their own; the others are one. */
const most = 1000

const converted = (name: string): string =>
  `${
    rounded(
      `sum(CASE WHEN s.currency = o.currency THEN s.${name} WHEN s.base = o.currency THEN s.base_${name} END)`
    )
  }::float8 AS ${name}`

/** Sums of an operator ($1) in a range of days ($2, $3), with test players or not ($4). */
const byGame = `SELECT s.provider_id, s.game_id, ${amounts.map(converted).join(", ")}, sum(s.rounds)::float8 AS rounds,
    array_agg(DISTINCT s.currency) FILTER (WHERE s.currency <> o.currency AND s.base <> o.currency AND s.entries > 0)
      AS unconverted
  FROM game_sums s JOIN operators o ON o.id = s.operator_id
  WHERE s.operator_id = $1::bigint AND s.day BETWEEN $2::date AND $3::date AND (NOT s.is_test OR $4::boolean)
  GROUP BY 1, 2`

/** Rows by game, the one with the most bets first. */
export const sumsByGame = `WITH games_played AS (
    SELECT *, row_number() OVER (ORDER BY bets DESC, provider_id, game_id) AS place FROM (${byGame}) s
  )
  SELECT * FROM (SELECT CASE WHEN f.game_id <> 0 THEN f.game_id::text ELSE 'none-' || f.provider_id END AS key,
    coalesce(g.name, 'No game') AS name, p.name AS provider, f.bets, f.bonus_bets, f.wins, f.rounds,
    0 AS bonus_conversions, 0 AS deposits, 0 AS chargebacks, 0 AS withdrawals, coalesce(f.unconverted, '{}') AS unconverted
  FROM games_played f LEFT JOIN games g ON g.id = f.game_id LEFT JOIN providers p ON p.id = f.provider_id
  WHERE f.place <= ${most}
  UNION ALL
  SELECT 'others', 'Other games', NULL, sum(f.bets), sum(f.bonus_bets), sum(f.wins), sum(f.rounds), 0, 0, 0, 0,
    coalesce((SELECT array_agg(DISTINCT c) FROM games_played o CROSS JOIN LATERAL unnest(o.unconverted) c WHERE o.place > ${most}),
      '{}')
  FROM games_played f WHERE f.place > ${most} HAVING count(*) > 0) rows ORDER BY key = 'others', bets DESC, key`
