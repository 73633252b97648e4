-- Free rounds of players at vendors. The vendor keeps them; wins name them by the reference.
CREATE TABLE free_rounds (
  id bigint PRIMARY KEY,
  operator_id bigint NOT NULL REFERENCES operators,
  player_id bigint NOT NULL REFERENCES players,
  provider_id bigint NOT NULL REFERENCES providers,
  game_id bigint NOT NULL REFERENCES games,
  -- ours: what the vendor was told
  reference text NOT NULL,
  -- what the vendor calls them; null until it has confirmed them
  vendor_reference text,
  rounds integer NOT NULL CHECK (rounds > 0),
  -- of each round, minor units
  stake bigint NOT NULL CHECK (stake > 0),
  currency text NOT NULL,
  -- failed: the vendor did not confirm them
  status text NOT NULL CHECK (status IN ('issued', 'finished', 'cancelled', 'failed')),
  valid_until timestamptz NOT NULL,
  -- what the vendor said of them at their end, minor units
  won bigint,
  created_by text NOT NULL,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  CONSTRAINT free_rounds_reference UNIQUE (provider_id, reference)
);
CREATE INDEX free_rounds_player ON free_rounds (player_id, id DESC);
CREATE INDEX free_rounds_vendor_reference ON free_rounds (provider_id, vendor_reference);
