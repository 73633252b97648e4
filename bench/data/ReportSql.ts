/** The sums that reports are made of, added up from the generated entries as the commits of a service would have. */

/** The days on which a player did something, of all spans: a day at the edge of two is there twice. */
export const daysTable = "CREATE UNLOGGED TABLE bench_days (player_id bigint, kind text, day date)"

/**
 * To be run where the entries of a span are in `bench_entries`: its sums by day, in rows of its own (`shard` is the number of the
 * span), and the days of its players.
 */
export const spanSumsStatements = (shard: number): ReadonlyArray<string> => [
  `INSERT INTO daily_sums (operator_id, day, is_test, currency, exchange_rate_id, provider_id, is_live, shard, entries, rounds,
      bets, bonus_bets, wins, bonus_conversions, deposits, chargebacks, withdrawals)
    SELECT operator_id, created_at::date, is_test, 'EUR', 0, coalesce(provider_id, 0), coalesce(is_live, false), ${shard}, count(*),
      count(*) FILTER (WHERE kind = 'bet'),
      -sum(CASE WHEN kind IN ('bet', 'rollback') THEN amount ELSE 0 END),
      -sum(CASE WHEN kind IN ('bet', 'rollback') AND wallet = 'bonus' THEN amount ELSE 0 END),
      sum(CASE WHEN kind = 'win' THEN amount ELSE 0 END), 0, sum(CASE WHEN type = 'deposit' THEN amount ELSE 0 END), 0,
      -sum(CASE WHEN type = 'withdrawal' THEN amount ELSE 0 END)
    FROM bench_entries WHERE kind <> 'bonus' AND NOT is_waiting GROUP BY 1, 2, 3, 6, 7`,
  `INSERT INTO bench_days
    SELECT DISTINCT player_id, CASE WHEN kind = 'payment' THEN type WHEN is_live THEN 'live' ELSE 'rng' END, created_at::date
    FROM bench_entries WHERE kind IN ('bet', 'payment') AND NOT is_waiting`,
  "DROP TABLE bench_entries"
]

/**
 * Numbers of distinct players by activity and day, and by their previous day of activity, for players with ids from `from` to `to`. The
 * visits stay in `bench_visits`, with `is_last` on the last of each kind.
 */
export const dailyPlayersStatements = (from: number, to: number, shard: number): ReadonlyArray<string> => [
  `CREATE TEMP TABLE bench_visits AS
    WITH days AS (SELECT DISTINCT player_id, kind, day FROM bench_days WHERE player_id BETWEEN ${from} AND ${to})
    SELECT player_id, kind, day, lag(day) OVER visits AS previous_day, lead(day) OVER visits IS NULL AS is_last
    FROM (SELECT * FROM days UNION SELECT player_id, 'casino', day FROM days WHERE kind IN ('rng', 'live')) all_days
    WINDOW visits AS (PARTITION BY player_id, kind ORDER BY day)`,
  `INSERT INTO daily_players (operator_id, day, previous_day, kind, is_test, shard, players)
    SELECT p.operator_id, v.day, greatest(v.previous_day, v.day - 366), v.kind, p.is_test, ${shard}, count(*)
    FROM bench_visits v JOIN bench_players p ON p.id = v.player_id GROUP BY 1, 2, 3, 4, 5`
]
