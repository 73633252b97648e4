-- Reports: what the journal adds up in the commit that writes the ledger, so that a report never reads the ledger, and the
-- exchange rates that the sums of other currencies are converted at.

-- Rates are never changed: a new one applies to what is written from then on. Ids rise in the order in which rates become
-- visible, so that the highest is the current one.
CREATE TABLE exchange_rates (
  id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  currency text NOT NULL,
  base text NOT NULL,
  -- one unit of `currency` in units of `base`
  rate numeric NOT NULL CHECK (rate > 0),
  -- one minor unit of `currency` in minor units of `base`
  factor numeric NOT NULL CHECK (factor > 0),
  created_at timestamptz NOT NULL,
  CHECK (currency <> base)
);
CREATE INDEX exchange_rates_current ON exchange_rates (currency, base, id);

-- The rate an entry was written at: null in the operator's own currency, and where there was no rate.
ALTER TABLE ledger_entries ADD COLUMN exchange_rate_id integer;
-- The same of a withdrawal, when it was paid out.
ALTER TABLE payment_requests ADD COLUMN exchange_rate_id integer;

-- Whether the game was live when a bet opened the round; null for one that was closed before a bet came. What staff make of a
-- game later changes no past day.
ALTER TABLE rounds ADD COLUMN is_live boolean;

-- The last two days of activity of each kind, numbered from 1970: of rng, live, deposit, withdrawal; -999 stands for never.
ALTER TABLE accounts ADD COLUMN activity text NOT NULL DEFAULT '';

-- Figures by day of entry (UTC), in minor units of `currency`. `shard` means nothing: it keeps services that commit at the same
-- time from waiting for each other's rows. Half of each page stays free so that updates stay on their page.
CREATE TABLE daily_sums (
  operator_id bigint NOT NULL,
  day date NOT NULL,
  is_test boolean NOT NULL,
  currency text NOT NULL,
  -- 0: none
  exchange_rate_id integer NOT NULL,
  -- 0: not of a game
  provider_id bigint NOT NULL,
  is_live boolean NOT NULL,
  shard smallint NOT NULL,
  -- ledger entries, and withdrawals paid out, that the sums hold
  entries bigint NOT NULL,
  rounds bigint NOT NULL,
  bets bigint NOT NULL,
  bonus_bets bigint NOT NULL,
  wins bigint NOT NULL,
  bonus_conversions bigint NOT NULL,
  deposits bigint NOT NULL,
  chargebacks bigint NOT NULL,
  withdrawals bigint NOT NULL,
  PRIMARY KEY (operator_id, day, provider_id, is_live, currency, exchange_rate_id, is_test, shard)
) WITH (fillfactor = 50);

-- How many players were active on `day` whose day of activity before was `previous_day`; one that is 366 days before stands for
-- every earlier one and for none. The different players of a range are those of its days whose previous day lies before it.
CREATE TABLE daily_players (
  operator_id bigint NOT NULL,
  day date NOT NULL,
  previous_day date NOT NULL,
  kind text NOT NULL,
  is_test boolean NOT NULL,
  shard smallint NOT NULL,
  players bigint NOT NULL,
  CHECK (previous_day < day AND previous_day >= day - 366),
  PRIMARY KEY (operator_id, day, previous_day, kind, is_test, shard)
) WITH (fillfactor = 50);

-- Registrations are counted where they are.
CREATE INDEX players_registered ON players (operator_id, created_at) INCLUDE (is_test);

-- What is there already is added up once, from the ledger.
UPDATE rounds r SET is_live = (g.type = 'live')
FROM games g
WHERE g.id = r.game_id AND EXISTS (
  SELECT FROM provider_transactions t WHERE t.provider_id = g.provider_id AND t.player_id = r.player_id
    AND t.game_id = r.game_id AND t.round_id = r.round_id AND t.kind = 'bet'
);

INSERT INTO daily_sums
SELECT operator_id, day, is_test, currency, 0, provider_id, is_live, 0, sum(entries), sum(rounds), sum(bets), sum(bonus_bets),
  sum(wins), sum(bonus_conversions), sum(deposits), sum(chargebacks), sum(withdrawals)
FROM (
  SELECT e.operator_id, (e.created_at AT TIME ZONE 'UTC')::date AS day, p.is_test, p.currency,
    CASE WHEN e.type LIKE 'casino%' THEN coalesce(g.provider_id, promo.provider_id, 0) ELSE 0 END AS provider_id,
    e.type LIKE 'casino%' AND coalesce(r.is_live, o.id IS NULL AND g.type = 'live', false) AS is_live,
    1 AS entries, 0 AS rounds,
    CASE WHEN e.type = 'casino_bet' OR (e.type = 'casino_rollback' AND e.amount > 0) THEN -e.amount ELSE 0 END AS bets,
    CASE WHEN e.wallet = 'bonus' AND (e.type = 'casino_bet' OR (e.type = 'casino_rollback' AND e.amount > 0))
      THEN -e.amount ELSE 0 END AS bonus_bets,
    CASE WHEN e.type = 'casino_win' OR (e.type = 'casino_rollback' AND e.amount < 0) THEN e.amount ELSE 0 END AS wins,
    CASE WHEN e.type = 'bonus_conversion' THEN e.amount ELSE 0 END AS bonus_conversions,
    CASE WHEN e.type = 'deposit' THEN e.amount ELSE 0 END AS deposits,
    CASE WHEN e.type = 'chargeback' THEN -e.amount ELSE 0 END AS chargebacks,
    0 AS withdrawals
  FROM ledger_entries e
  JOIN players p ON p.id = e.player_id
  LEFT JOIN games g ON g.id = e.game_id
  LEFT JOIN rounds r ON r.player_id = e.player_id AND r.game_id = e.game_id AND r.round_id = e.game_round_id
  LEFT JOIN original_rounds o ON o.player_id = e.player_id AND o.game_id = e.game_id AND o.id::text = e.game_round_id
  -- a win of no round names no game: its message names the provider, and whether it is a tournament's prize
  LEFT JOIN (
    SELECT entry_id, t.provider_id, coalesce(target.detail, t.detail) LIKE 'tournament:%' AS is_prize
    FROM provider_transactions t
    CROSS JOIN LATERAL unnest(t.entry_ids) AS claimed (entry_id)
    LEFT JOIN provider_transactions target ON t.kind = 'rollback' AND target.provider_id = t.provider_id
      AND target.transaction_id = t.target_transaction_id
    WHERE t.game_id IS NULL
  ) promo ON promo.entry_id = e.id
  WHERE e.type IN ('casino_bet', 'casino_win', 'casino_rollback', 'deposit', 'chargeback')
      AND NOT (e.type = 'casino_rollback' AND coalesce(promo.is_prize, false))
    OR (e.type = 'bonus_conversion' AND e.wallet = 'real')
  UNION ALL
  SELECT p.operator_id, (r.opened_at AT TIME ZONE 'UTC')::date, p.is_test, p.currency, g.provider_id, r.is_live,
    0, 1, 0, 0, 0, 0, 0, 0, 0
  FROM rounds r JOIN players p ON p.id = r.player_id JOIN games g ON g.id = r.game_id
  WHERE r.is_live IS NOT NULL
  UNION ALL
  SELECT o.operator_id, (o.created_at AT TIME ZONE 'UTC')::date, p.is_test, p.currency, g.provider_id, false,
    0, 1, 0, 0, 0, 0, 0, 0, 0
  FROM original_rounds o JOIN players p ON p.id = o.player_id JOIN games g ON g.id = o.game_id
  UNION ALL
  SELECT w.operator_id, (w.paid_at AT TIME ZONE 'UTC')::date, p.is_test, p.currency, 0, false,
    1, 0, 0, 0, 0, 0, 0, 0, w.amount
  FROM payment_requests w JOIN players p ON p.id = w.player_id
  WHERE w.type = 'withdrawal' AND w.status = 'paid'
) counted
GROUP BY operator_id, day, is_test, currency, provider_id, is_live;

CREATE TEMPORARY TABLE visits ON COMMIT DROP AS
WITH days AS (
  SELECT e.player_id, CASE WHEN coalesce(r.is_live, o.id IS NULL AND g.type = 'live', false) THEN 'live' ELSE 'rng' END AS kind,
    (e.created_at AT TIME ZONE 'UTC')::date AS day
  FROM ledger_entries e
  LEFT JOIN games g ON g.id = e.game_id
  LEFT JOIN rounds r ON r.player_id = e.player_id AND r.game_id = e.game_id AND r.round_id = e.game_round_id
  LEFT JOIN original_rounds o ON o.player_id = e.player_id AND o.game_id = e.game_id AND o.id::text = e.game_round_id
  WHERE e.type = 'casino_bet'
  UNION
  -- a free bet posts no entry
  SELECT t.player_id, CASE WHEN coalesce(r.is_live, false) THEN 'live' ELSE 'rng' END,
    (t.created_at AT TIME ZONE 'UTC')::date
  FROM provider_transactions t
  LEFT JOIN rounds r ON r.player_id = t.player_id AND r.game_id = t.game_id AND r.round_id = t.round_id
  WHERE t.kind = 'bet' AND t.amount = 0
  UNION
  SELECT player_id, 'deposit', (created_at AT TIME ZONE 'UTC')::date FROM ledger_entries WHERE type = 'deposit'
  UNION
  SELECT player_id, 'withdrawal', (paid_at AT TIME ZONE 'UTC')::date FROM payment_requests
  WHERE type = 'withdrawal' AND status = 'paid'
), all_days AS (
  SELECT * FROM days UNION SELECT player_id, 'casino', day FROM days WHERE kind IN ('rng', 'live')
)
SELECT player_id, kind, day, lag(day) OVER history AS previous_day, row_number() OVER newest_first AS place
FROM all_days
WINDOW history AS (PARTITION BY player_id, kind ORDER BY day),
  newest_first AS (PARTITION BY player_id, kind ORDER BY day DESC);

INSERT INTO daily_players
SELECT p.operator_id, v.day, greatest(v.previous_day, v.day - 366), v.kind, p.is_test, 0, count(*)
FROM visits v JOIN players p ON p.id = v.player_id
GROUP BY 1, 2, 3, 4, 5;

UPDATE accounts a SET activity = encoded.activity
FROM (
  SELECT player_id, concat_ws(',',
    coalesce(max(day - date '1970-01-01') FILTER (WHERE kind = 'rng' AND place = 1), -999),
    coalesce(max(previous_day - date '1970-01-01') FILTER (WHERE kind = 'rng' AND place = 1), -999),
    coalesce(max(day - date '1970-01-01') FILTER (WHERE kind = 'live' AND place = 1), -999),
    coalesce(max(previous_day - date '1970-01-01') FILTER (WHERE kind = 'live' AND place = 1), -999),
    coalesce(max(day - date '1970-01-01') FILTER (WHERE kind = 'deposit' AND place = 1), -999),
    coalesce(max(previous_day - date '1970-01-01') FILTER (WHERE kind = 'deposit' AND place = 1), -999),
    coalesce(max(day - date '1970-01-01') FILTER (WHERE kind = 'withdrawal' AND place = 1), -999),
    coalesce(max(previous_day - date '1970-01-01') FILTER (WHERE kind = 'withdrawal' AND place = 1), -999)
  ) AS activity
  FROM visits GROUP BY player_id
) encoded
WHERE encoded.player_id = a.player_id;
