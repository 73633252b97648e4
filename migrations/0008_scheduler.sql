-- The scheduler: jobs and who holds them, and what the jobs look for.

CREATE TABLE jobs (
  name text PRIMARY KEY,
  next_run_at timestamptz NOT NULL,
  -- who runs it, and until when nobody else may
  runner text,
  lease_until timestamptz,
  last_started_at timestamptz,
  last_ended_at timestamptz,
  last_done bigint,
  failures integer NOT NULL DEFAULT 0,
  last_error text
);

-- From when on the document that a player was verified by counts no longer.
ALTER TABLE players ADD COLUMN document_expires_at timestamptz;

CREATE INDEX players_document_expiry ON players (document_expires_at) WHERE kyc_status = 'verified';
CREATE INDEX players_exclusion_end ON players (exclusion_until) WHERE exclusion_until IS NOT NULL;
CREATE INDEX players_limits_waiting ON players (id) WHERE pending_limits <> '[]';

-- Rounds that were open a day after their first bet. Found once, by walking the rounds in the order of their opening, so that
-- no index has to follow every round from its bet to its end.
CREATE TABLE stale_rounds (
  player_id bigint NOT NULL,
  game_id bigint NOT NULL,
  round_id text NOT NULL,
  operator_id bigint NOT NULL,
  opened_at timestamptz NOT NULL,
  PRIMARY KEY (player_id, game_id, round_id)
);
CREATE INDEX stale_rounds_age ON stale_rounds (opened_at);
CREATE INDEX stale_rounds_operator ON stale_rounds (operator_id, opened_at);

-- How far the walk has come.
CREATE TABLE stale_rounds_walk (
  id integer PRIMARY KEY DEFAULT 1 CHECK (id = 1),
  opened_before timestamptz NOT NULL
);
