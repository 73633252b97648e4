-- What a player must have done before playing or depositing, and what players, operators and staff have answered.

CREATE TABLE obligations (
  id bigint PRIMARY KEY,
  operator_id bigint NOT NULL,
  player_id bigint NOT NULL REFERENCES players (id),
  kind text NOT NULL,
  gates text[] NOT NULL,
  state text NOT NULL,
  due_at timestamptz,
  created_at timestamptz NOT NULL,
  met_at timestamptz,
  details jsonb NOT NULL DEFAULT '{}'
);
CREATE INDEX obligations_player ON obligations (player_id, id DESC);
-- one of a kind is open at a time
CREATE UNIQUE INDEX obligations_open ON obligations (player_id, kind) WHERE state = 'open';

CREATE TABLE acknowledgements (
  id bigint PRIMARY KEY,
  operator_id bigint NOT NULL,
  player_id bigint NOT NULL REFERENCES players (id),
  kind text NOT NULL,
  answer text NOT NULL,
  field text,
  obligation_id bigint,
  text_version text,
  channel text,
  by text NOT NULL,
  at timestamptz NOT NULL
);
CREATE INDEX acknowledgements_player ON acknowledgements (player_id, id DESC);
