-- Originals: the server seeds that decide rounds, and the rounds with all that proves them. Rows are written by the player's own
-- commit only.

-- A server seed is made, promised by its hash, taken into use, retired. Each of these happens once; the secret never changes.
CREATE TABLE server_seeds (
  id bigint PRIMARY KEY,
  player_id bigint NOT NULL REFERENCES players,
  operator_id bigint NOT NULL,
  -- SHA-256 of the secret's text, hexadecimal
  server_seed_hash text NOT NULL UNIQUE,
  -- AES-256-GCM under the master key
  server_seed_sealed bytea NOT NULL,
  -- the secret itself, open from its retirement on
  server_seed text,
  -- the player's when this one was taken into use; a round can bring another
  client_seed text,
  created_at timestamptz NOT NULL,
  started_at timestamptz,
  retired_at timestamptz,
  CHECK ((server_seed IS NULL) = (retired_at IS NULL)),
  CHECK ((client_seed IS NULL) = (started_at IS NULL)),
  CHECK (retired_at IS NULL OR started_at IS NOT NULL)
);
-- the one in use and the one that is promised
CREATE INDEX server_seeds_open ON server_seeds (player_id) WHERE retired_at IS NULL;

CREATE TABLE original_rounds (
  -- also the name of the round in the ledger
  id bigint PRIMARY KEY,
  player_id bigint NOT NULL,
  operator_id bigint NOT NULL,
  game_id bigint NOT NULL,
  -- the built-in game, whatever the catalogue says later
  original text NOT NULL,
  seed_id bigint NOT NULL,
  nonce bigint NOT NULL CHECK (nonce >= 0),
  client_seed text NOT NULL,
  stake bigint NOT NULL CHECK (stake > 0),
  payout bigint NOT NULL CHECK (payout >= 0),
  multiplier numeric(12, 4) NOT NULL,
  params jsonb NOT NULL,
  outcome jsonb NOT NULL,
  created_at timestamptz NOT NULL,
  -- No server seed ever decides two rounds with the same nonce. The last one is also what says which nonce comes next.
  CONSTRAINT original_rounds_nonce UNIQUE (seed_id, nonce)
);
