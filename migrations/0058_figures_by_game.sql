-- GGR by game, days of an operator's own zone in reports, and launches by time (docs/decisions/0058-figures-by-game.md).

-- Hours by which the days of an operator's own reports are ahead of UTC. What the API reports are days of UTC, whatever stands here.
ALTER TABLE operators ADD COLUMN IF NOT EXISTS report_offset_hours smallint NOT NULL DEFAULT 0
  CHECK (report_offset_hours BETWEEN -12 AND 14);

-- Play by game and day (UTC), added up by a job. Minor units of `currency`, and, where the players have another currency than their operator, the
-- same at the rates of the entries in `base`, the operator's currency then: a row for each rate would be one more for each change of a rate.
CREATE TABLE game_sums (
  operator_id bigint NOT NULL,
  day date NOT NULL,
  provider_id bigint NOT NULL,
  -- 0: of no game
  game_id bigint NOT NULL,
  is_test boolean NOT NULL,
  currency text NOT NULL,
  -- '': there was no rate, or none is needed
  base text NOT NULL,
  entries bigint NOT NULL,
  rounds bigint NOT NULL,
  bets bigint NOT NULL,
  bonus_bets bigint NOT NULL,
  wins bigint NOT NULL,
  base_bets numeric NOT NULL,
  base_bonus_bets numeric NOT NULL,
  base_wins numeric NOT NULL,
  PRIMARY KEY (operator_id, day, provider_id, game_id, is_test, currency, base)
);

-- From the beginning of which day until when the sums hold everything: one row.
CREATE TABLE game_sums_walk (
  name text PRIMARY KEY CHECK (name = 'game_sums'),
  since date NOT NULL,
  until timestamptz NOT NULL
);

-- Rounds of originals by time, as other rounds are found: a round writes nothing into it.
CREATE INDEX IF NOT EXISTS original_rounds_created_at ON original_rounds USING brin (created_at) WITH (autosummarize = on);

-- A player's launches by time, for their list and the timeline within a period.
CREATE INDEX IF NOT EXISTS game_sessions_opened ON game_sessions (player_id, opened_at DESC, id DESC);
