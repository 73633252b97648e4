/** The sums that reports are made of, added up from the generated entries as the commits of a service would have. */
import { entriesOf, isWaiting, type Shape, type Span } from "./GeneratorSql.ts"

/** The sums by day of what happened in a span. Each span adds rows of its own: `shard` is the number of the span. */
export const dailySumsStatement = (span: Span, shard: number, shape: Shape): string =>
  `INSERT INTO daily_sums (operator_id, day, is_test, currency, exchange_rate_id, provider_id, is_live, shard, entries, rounds,
      bets, bonus_bets, wins, bonus_conversions, deposits, chargebacks, withdrawals)
    SELECT operator_id, created_at::date, is_test, 'EUR', 0, coalesce(provider_id, 0), coalesce(is_live, false), ${shard}, count(*),
      count(*) FILTER (WHERE kind = 'bet'),
      -sum(CASE WHEN kind IN ('bet', 'rollback') THEN amount ELSE 0 END),
      -sum(CASE WHEN kind IN ('bet', 'rollback') AND wallet = 'bonus' THEN amount ELSE 0 END),
      sum(CASE WHEN kind = 'win' THEN amount ELSE 0 END), 0, sum(CASE WHEN type = 'deposit' THEN amount ELSE 0 END), 0,
      -sum(CASE WHEN type = 'withdrawal' THEN amount ELSE 0 END)
    FROM ${entriesOf(span, shape)} WHERE kind <> 'bonus' AND NOT (${isWaiting(shape)}) GROUP BY 1, 2, 3, 6, 7`

/** How many different players did what on which day, and on which day before: of the players with ids from `from` to `to`. */
export const dailyPlayersStatement = (from: number, to: number, shard: number): string =>
  `INSERT INTO daily_players (operator_id, day, previous_day, kind, is_test, shard, players)
    WITH days AS (
      SELECT e.player_id, CASE WHEN e.payment_request_id IS NOT NULL THEN e.type WHEN g.is_live THEN 'live' ELSE 'rng' END AS kind,
        e.created_at::date AS day
      FROM ledger_entries e LEFT JOIN bench_games g ON g.id = e.game_id LEFT JOIN payment_requests w ON w.id = e.payment_request_id
      WHERE e.player_id BETWEEN ${from} AND ${to} AND (e.type IN ('casino_bet', 'deposit') OR e.type = 'withdrawal' AND w.status = 'paid')
      GROUP BY 1, 2, 3
    ), all_days AS (
      SELECT player_id, kind, day FROM days UNION SELECT player_id, 'casino', day FROM days WHERE kind IN ('rng', 'live')
    )
    SELECT p.operator_id, v.day, greatest(v.previous_day, v.day - 366), v.kind, p.is_test, ${shard}, count(*)
    FROM (SELECT *, lag(day) OVER (PARTITION BY player_id, kind ORDER BY day) AS previous_day FROM all_days) v
    JOIN bench_players p ON p.id = v.player_id GROUP BY 1, 2, 3, 4, 5`
