/**
 * Ledger invariants of maintained totals: they equal the ledger, day by day. They share no code with the triggers that maintain the totals.
 * `$operator` is replaced by a condition on `operator_id`.
 */
import type { LedgerInvariant } from "./LedgerInvariant.ts"

/**
 * The entries that totals count, with the provider, and whether the game was live: joined once for all that follows. Wins of no round
 * name no game: their message names the provider, and whether it was a tournament's prize, which counts nowhere.
 */
const played =
  `SELECT e.operator_id, e.player_id, (e.created_at AT TIME ZONE 'UTC')::date AS day, e.type, e.wallet, e.amount,
    coalesce(e.exchange_rate_id, 0) AS exchange_rate_id, free.is_prize,
    CASE WHEN e.type LIKE 'casino%' THEN coalesce(g.provider_id, free.provider_id, 0) ELSE 0 END AS provider_id,
    e.type LIKE 'casino%' AND coalesce(r.is_live, o.id IS NULL AND g.type = 'live', false) AS is_live
  FROM (SELECT * FROM ledger_entries WHERE $operator
    AND type IN ('casino_bet', 'casino_win', 'casino_rollback', 'bonus_conversion', 'deposit', 'chargeback')) e
  LEFT JOIN games g ON g.id = e.game_id
  LEFT JOIN rounds r ON r.player_id = e.player_id AND r.game_id = e.game_id AND r.round_id = e.game_round_id
  LEFT JOIN original_rounds o ON o.player_id = e.player_id AND o.game_id = e.game_id AND o.id::text = e.game_round_id
  LEFT JOIN (SELECT claimed.entry_id, t.player_id, t.provider_id,
      CASE t.kind WHEN 'rollback' THEN target.detail ELSE t.detail END LIKE 'tournament:%' AS is_prize
    FROM provider_transactions t CROSS JOIN LATERAL unnest(t.entry_ids) AS claimed (entry_id)
    LEFT JOIN provider_transactions target
      ON target.provider_id = t.provider_id AND target.transaction_id = t.target_transaction_id
    WHERE t.game_id IS NULL) free ON free.entry_id = e.id AND free.player_id = e.player_id`

/** Every entry with its figure, day, provider and whether it is live, one row per figure. */
const countedEntries =
  `SELECT e.operator_id, e.day, p.is_test, p.currency, e.exchange_rate_id, e.provider_id, e.is_live,
    CASE WHEN e.type = 'casino_bet' OR (e.type = 'casino_rollback' AND e.amount > 0) THEN -e.amount ELSE 0 END AS bets,
    CASE WHEN e.type IN ('casino_bet', 'casino_rollback') AND e.wallet = 'bonus'
        AND (e.type = 'casino_bet' OR e.amount > 0) THEN -e.amount ELSE 0 END AS bonus_bets,
    CASE WHEN e.type = 'casino_win' OR (e.type = 'casino_rollback' AND e.amount < 0) THEN e.amount ELSE 0 END AS wins,
    CASE WHEN e.type = 'bonus_conversion' THEN e.amount ELSE 0 END AS bonus_conversions,
    CASE WHEN e.type = 'deposit' THEN e.amount ELSE 0 END AS deposits,
    CASE WHEN e.type = 'chargeback' THEN -e.amount ELSE 0 END AS chargebacks,
    0 AS withdrawals
  FROM played e
  JOIN players p ON p.id = e.player_id
  WHERE CASE e.type WHEN 'bonus_conversion' THEN e.wallet = 'real'
    WHEN 'casino_rollback' THEN e.is_prize IS NOT TRUE ELSE true END
  UNION ALL
  SELECT w.operator_id, (w.paid_at AT TIME ZONE 'UTC')::date, p.is_test, p.currency, coalesce(w.exchange_rate_id, 0), 0, false,
    0, 0, 0, 0, 0, 0, w.amount
  FROM (SELECT * FROM payment_requests WHERE $operator AND type = 'withdrawal' AND status = 'paid') w
  JOIN players p ON p.id = w.player_id`

const key = "operator_id, day, is_test, currency, exchange_rate_id, provider_id, is_live"
const figures = ["entries", "bets", "bonus_bets", "wins", "bonus_conversions", "deposits", "chargebacks", "withdrawals"]

const costKey = "operator_id, day, bonus_id, currency, is_test"
const costs = ["granted", "granted_amount", "finished", "converted", "forfeited"]

const textOf = (table: string, names = figures): string =>
  `concat_ws(' ', ${names.map((name) => `nullif(coalesce(${table}.${name}, 0), 0) || ' ${name}'`).join(", ")})`

/** The days on which a player was active, and how: with a bet, a free one included, with a paid deposit, with a payout. */
const activeDays =
  `SELECT player_id, day, operator_id, bool_or(rng) AS rng, bool_or(live) AS live, bool_or(deposit) AS deposit,
    bool_or(withdrawal) AS withdrawal
  FROM (SELECT operator_id, player_id, day, type = 'casino_bet' AND NOT is_live AS rng, type = 'casino_bet' AND is_live AS live,
      type = 'deposit' AS deposit, false AS withdrawal
    FROM played WHERE type IN ('casino_bet', 'deposit')
    UNION ALL
    SELECT a.operator_id, t.player_id, (t.created_at AT TIME ZONE 'UTC')::date, NOT coalesce(r.is_live, false),
      coalesce(r.is_live, false), false, false
    FROM provider_transactions t
    JOIN (SELECT player_id, operator_id FROM accounts WHERE $operator) a ON a.player_id = t.player_id
    LEFT JOIN rounds r ON r.player_id = t.player_id AND r.game_id = t.game_id AND r.round_id = t.round_id
    WHERE t.kind = 'bet' AND t.amount = 0
    UNION ALL
    SELECT operator_id, player_id, (paid_at AT TIME ZONE 'UTC')::date, false, false, false, true
    FROM payment_requests WHERE $operator AND type = 'withdrawal' AND status = 'paid') active
  GROUP BY player_id, day, operator_id`

const kinds = { rng: "rng", live: "live", casino: "(rng OR live)", deposit: "deposit", withdrawal: "withdrawal" }

/** Each active day with the one before of the same kind. */
const activity = `SELECT *, ${
  Object.entries(kinds).map(([kind, condition]) =>
    `max(day) FILTER (WHERE ${condition}) OVER earlier AS ${kind}_before`
  )
    .join(", ")
} FROM (${activeDays}) days
  WINDOW earlier AS (PARTITION BY player_id ORDER BY day ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)`

const visits = `SELECT v.operator_id, v.day, v.kind, p.is_test, greatest(v.previous_day, v.day - 366) AS previous_day
  FROM (${
  Object.entries(kinds).map(([kind, condition]) =>
    `SELECT operator_id, player_id, day, '${kind}' AS kind, ${kind}_before AS previous_day FROM activity WHERE ${condition}`
  ).join(" UNION ALL ")
}) v
  JOIN players p ON p.id = v.player_id`

export const reportInvariants: ReadonlyArray<LedgerInvariant> = [
  {
    // both from one join of entries and rounds, which takes most of the time
    rule: ["daily_sums_are_the_ledger", "daily_players_are_the_ledger"],
    statement: `WITH played AS MATERIALIZED (${played}), activity AS MATERIALIZED (${activity})
      SELECT 'daily_sums_are_the_ledger' AS rule, NULL::bigint AS player_id,
        'sums of operator ' || operator_id || ' on ' || day || ' in ' || currency AS subject,
        'provider ' || provider_id || CASE WHEN is_live THEN ', live' ELSE '' END || CASE WHEN is_test THEN ', test' ELSE '' END
          || ', rate ' || exchange_rate_id || ': the sums say ' || ${textOf("s")} || '; the ledger ' || ${
      textOf("l")
    } AS message
      FROM (SELECT ${key}, ${figures.map((name) => `sum(${name}) AS ${name}`).join(", ")}
        FROM daily_sums WHERE $operator GROUP BY ${key}) s
      FULL JOIN (SELECT ${key}, count(*) AS entries, ${
      figures.slice(1).map((name) => `sum(${name}) AS ${name}`).join(", ")
    } FROM (${countedEntries}) counted GROUP BY ${key}) l USING (${key})
      WHERE ${figures.map((name) => `coalesce(s.${name}, 0) <> coalesce(l.${name}, 0)`).join(" OR ")}
      UNION ALL
      SELECT 'daily_players_are_the_ledger', NULL::bigint, 'players of operator ' || operator_id || ' on ' || day,
        kind || ', before on ' || previous_day || ': the table says ' || coalesce(s.players, 0) || ', there are '
          || coalesce(l.players, 0) AS message
      FROM (SELECT operator_id, day, previous_day, kind, is_test, sum(players) AS players
        FROM daily_players WHERE $operator GROUP BY operator_id, day, previous_day, kind, is_test) s
      FULL JOIN (SELECT operator_id, day, previous_day, kind, is_test, count(*) AS players
        FROM (${visits}) v GROUP BY operator_id, day, previous_day, kind, is_test) l
        USING (operator_id, day, previous_day, kind, is_test)
      WHERE coalesce(s.players, 0) <> coalesce(l.players, 0)`
  },
  {
    rule: "rounds_are_counted",
    statement: `SELECT NULL::bigint AS player_id, 'rounds of operator ' || operator_id || ' on ' || day AS subject,
        'provider ' || provider_id || CASE WHEN is_live THEN ', live' ELSE '' END || ': the sums say '
          || coalesce(s.rounds, 0) || ', there are ' || coalesce(l.rounds, 0) AS message
      FROM (SELECT operator_id, day, is_test, provider_id, is_live, sum(rounds) AS rounds
        FROM daily_sums WHERE $operator GROUP BY operator_id, day, is_test, provider_id, is_live) s
      FULL JOIN (SELECT p.operator_id, (r.opened_at AT TIME ZONE 'UTC')::date AS day, p.is_test, g.provider_id, r.is_live,
          count(*) AS rounds
        FROM (SELECT player_id, game_id, opened_at, is_live FROM rounds
          UNION ALL SELECT player_id, game_id, created_at, false FROM original_rounds) r
        JOIN (SELECT * FROM players WHERE $operator) p ON p.id = r.player_id JOIN games g ON g.id = r.game_id
        WHERE r.is_live IS NOT NULL
        GROUP BY p.operator_id, 2, p.is_test, g.provider_id, r.is_live) l
        USING (operator_id, day, is_test, provider_id, is_live)
      WHERE coalesce(s.rounds, 0) <> coalesce(l.rounds, 0)`
  },
  {
    rule: "round_with_a_bet_has_its_type",
    statement: `SELECT r.player_id, 'round ' || r.round_id || ' of game ' || r.game_id AS subject,
        'it has stakes or wins, and does not say whether it is live' AS message
      FROM rounds r JOIN (SELECT player_id FROM accounts WHERE $operator) a ON a.player_id = r.player_id
      WHERE r.is_live IS NULL AND (r.real_stake <> 0 OR r.bonus_stake <> 0 OR r.paid_wins <> 0)`
  },
  {
    rule: "rate_is_of_its_currency",
    statement: `SELECT e.player_id, 'entry ' || e.id AS subject,
        'its player has ' || p.currency || ', its rate is of ' || coalesce(r.currency, 'nothing') AS message
      FROM (SELECT * FROM ledger_entries WHERE $operator AND exchange_rate_id IS NOT NULL) e
      JOIN players p ON p.id = e.player_id LEFT JOIN exchange_rates r ON r.id = e.exchange_rate_id
      WHERE r.currency IS DISTINCT FROM p.currency`
  },
  {
    rule: "bonus_costs_are_the_grants",
    statement:
      `SELECT NULL::bigint AS player_id, 'bonus ' || bonus_id || ' on ' || day || ' in ' || currency AS subject,
        CASE WHEN is_test THEN 'test: ' ELSE '' END || 'the sums say ' || ${textOf("s", costs)} || '; the grants '
          || ${textOf("g", costs)} AS message
      FROM (SELECT ${costKey}, ${costs.map((name) => `sum(${name}) AS ${name}`).join(", ")}
        FROM (SELECT * FROM bonus_costs WHERE $operator UNION ALL SELECT * FROM bonus_cost_changes WHERE $operator) kept
        GROUP BY ${costKey}) s
      FULL JOIN (SELECT ${costKey}, count(amount) AS granted, sum(amount) AS granted_amount, count(converted) AS finished,
          sum(converted) AS converted, sum(forfeited) AS forfeited
        FROM (SELECT b.operator_id, (b.created_at AT TIME ZONE 'UTC')::date AS day, b.bonus_id, p.currency, p.is_test, b.amount,
            NULL::bigint AS converted, NULL::bigint AS forfeited
          FROM (SELECT * FROM player_bonuses WHERE $operator AND is_counted) b JOIN players p ON p.id = b.player_id
          UNION ALL
          SELECT b.operator_id, (b.finished_at AT TIME ZONE 'UTC')::date, b.bonus_id, p.currency, p.is_test, NULL, b.converted,
            b.forfeited
          FROM (SELECT * FROM player_bonuses WHERE $operator AND is_counted AND finished_at IS NOT NULL) b
          JOIN players p ON p.id = b.player_id) of
        GROUP BY ${costKey}) g USING (${costKey})
      WHERE ${costs.map((name) => `coalesce(s.${name}, 0) <> coalesce(g.${name}, 0)`).join(" OR ")}`
  }
]
