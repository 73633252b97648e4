-- Bonuses: what operators offer, what players were granted, and the codes that grant them. Amounts are minor units.
CREATE TABLE bonuses (
  id bigint PRIMARY KEY,
  operator_id bigint NOT NULL REFERENCES operators,
  name text NOT NULL,
  description text NOT NULL DEFAULT '',
  type text NOT NULL CHECK (type IN ('deposit_match', 'no_deposit', 'free_spins', 'cashback', 'cash')),
  default_amount bigint NOT NULL CHECK (default_amount > 0),
  wagering_multiplier integer NOT NULL CHECK (wagering_multiplier >= 0),
  valid_days integer NOT NULL CHECK (valid_days > 0),
  -- 0 in the three below: no cap
  max_bet bigint NOT NULL DEFAULT 0 CHECK (max_bet >= 0),
  max_conversion_multiplier integer NOT NULL DEFAULT 0 CHECK (max_conversion_multiplier >= 0),
  max_grants_per_player integer NOT NULL DEFAULT 0 CHECK (max_grants_per_player >= 0),
  -- percent of a stake that counts, by game id
  contributions jsonb NOT NULL DEFAULT '{}',
  active boolean NOT NULL DEFAULT true,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL
);
CREATE INDEX bonuses_operator ON bonuses (operator_id, id);

-- A granted bonus keeps the terms of its grant. Rows change only in the commit of the player's own actor.
CREATE TABLE player_bonuses (
  id bigint PRIMARY KEY,
  operator_id bigint NOT NULL,
  player_id bigint NOT NULL REFERENCES players,
  bonus_id bigint NOT NULL REFERENCES bonuses,
  name text NOT NULL,
  type text NOT NULL,
  state text NOT NULL CHECK (state IN ('pending', 'activated', 'finished')),
  result text CHECK (result IN ('converted', 'lost', 'expired', 'cancelled')),
  amount bigint NOT NULL CHECK (amount > 0),
  wager_requirement bigint NOT NULL,
  wagered bigint NOT NULL,
  max_bet bigint NOT NULL,
  max_conversion bigint NOT NULL,
  valid_days integer NOT NULL,
  contributions jsonb NOT NULL,
  -- rounds under way that hold a stake of it
  open_rounds integer NOT NULL,
  converted bigint NOT NULL,
  forfeited bigint NOT NULL,
  note text,
  started_at timestamptz,
  expires_at timestamptz,
  finished_at timestamptz,
  created_at timestamptz NOT NULL,
  CHECK ((state = 'finished') = (result IS NOT NULL)),
  CHECK ((state = 'finished') = (finished_at IS NOT NULL)),
  CHECK (state <> 'activated' OR (started_at IS NOT NULL AND expires_at IS NOT NULL)),
  CHECK (state <> 'pending' OR started_at IS NULL)
) WITH (fillfactor = 70);
CREATE INDEX player_bonuses_player ON player_bonuses (player_id, id DESC);
-- what runs or waits, and when it is over: read when a player is loaded, and by the job that ends what time has ended
CREATE INDEX player_bonuses_open ON player_bonuses (player_id, id) WHERE state <> 'finished';
CREATE INDEX player_bonuses_expiry ON player_bonuses (expires_at) WHERE state = 'activated';

CREATE TABLE promo_codes (
  id bigint PRIMARY KEY,
  operator_id bigint NOT NULL REFERENCES operators,
  code text NOT NULL,
  bonus_id bigint NOT NULL REFERENCES bonuses,
  expires_at timestamptz,
  max_redemptions integer CHECK (max_redemptions > 0),
  -- counted by the commits that redeem; the check is what holds the cap when they meet
  redemptions integer NOT NULL DEFAULT 0,
  active boolean NOT NULL DEFAULT true,
  created_at timestamptz NOT NULL,
  CONSTRAINT promo_codes_cap CHECK (redemptions <= max_redemptions)
) WITH (fillfactor = 70);
CREATE UNIQUE INDEX promo_codes_code ON promo_codes (operator_id, lower(code));

CREATE TABLE promo_redemptions (
  id bigint PRIMARY KEY,
  promo_code_id bigint NOT NULL REFERENCES promo_codes,
  operator_id bigint NOT NULL,
  player_id bigint NOT NULL REFERENCES players,
  player_bonus_id bigint NOT NULL,
  created_at timestamptz NOT NULL,
  CONSTRAINT promo_redemptions_once UNIQUE (promo_code_id, player_id)
);

-- A promo code that came with a registration and has not been tried yet: by the request itself, or by the job that finishes what
-- a stopped process left undone.
ALTER TABLE players ADD COLUMN registration_promo_due boolean NOT NULL DEFAULT false;
CREATE INDEX players_promo_due ON players (created_at) WHERE registration_promo_due;
