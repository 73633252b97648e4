-- The tables a bet, a deposit and their neighbours need. Money is bigint in minor units, time is timestamptz.
--
-- Everything the service numbers shares one id space. A service takes blocks: nextval() = v means v .. v + 4095 are its own.
CREATE SEQUENCE ids AS bigint START 1000 INCREMENT 4096;

-- Who runs a casino on the platform.
CREATE TABLE operators (
  id bigint PRIMARY KEY,
  slug text NOT NULL UNIQUE,
  name text NOT NULL,
  currency text NOT NULL,
  cooperation_model text NOT NULL DEFAULT 'api' CHECK (cooperation_model IN ('api', 'turnkey')),
  active boolean NOT NULL DEFAULT true,
  cooling_off_hours integer NOT NULL DEFAULT 24 CHECK (cooling_off_hours >= 0),
  withdrawal_second_approval_above bigint,
  kyc_withdrawal_threshold bigint,
  forfeit_bonus_on_withdrawal boolean NOT NULL DEFAULT true,
  disabled_features text[] NOT NULL DEFAULT '{}',
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL
);

CREATE TABLE staff (
  id bigint PRIMARY KEY,
  name text NOT NULL,
  role text NOT NULL CHECK (role IN ('admin', 'support', 'payments', 'compliance')),
  token_hash bytea NOT NULL UNIQUE,
  active boolean NOT NULL DEFAULT true,
  created_at timestamptz NOT NULL
);

-- Operator credentials. `secret_sealed` is AES-256-GCM under the master key: the secret itself signs requests, so a hash would not do.
CREATE TABLE api_keys (
  id bigint PRIMARY KEY,
  operator_id bigint NOT NULL REFERENCES operators,
  key text NOT NULL UNIQUE,
  name text NOT NULL,
  secret_sealed bytea NOT NULL,
  scopes text[] NOT NULL,
  ip_allowlist text[] NOT NULL DEFAULT '{}',
  rate_limit_per_minute integer NOT NULL DEFAULT 600 CHECK (rate_limit_per_minute > 0),
  expires_at timestamptz,
  revoked_at timestamptz,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL
);
CREATE INDEX api_keys_operator ON api_keys (operator_id);

CREATE TABLE providers (
  id bigint PRIMARY KEY,
  slug text NOT NULL UNIQUE,
  name text NOT NULL,
  key text NOT NULL UNIQUE,
  secret_sealed bytea NOT NULL,
  launch_url text,
  demo_url text,
  ip_allowlist text[] NOT NULL DEFAULT '{}',
  active boolean NOT NULL DEFAULT true,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL
);

CREATE TABLE games (
  id bigint PRIMARY KEY,
  provider_id bigint NOT NULL REFERENCES providers,
  external_id text NOT NULL,
  name text NOT NULL,
  type text NOT NULL CHECK (type IN ('rng', 'live')),
  category text NOT NULL,
  rtp numeric(5, 2),
  thumbnail_url text,
  original text,
  active boolean NOT NULL DEFAULT true,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  UNIQUE (provider_id, external_id)
);
CREATE INDEX games_name ON games (name, id);

CREATE TABLE payment_methods (
  id bigint PRIMARY KEY,
  operator_id bigint NOT NULL REFERENCES operators,
  code text NOT NULL,
  name text NOT NULL,
  currencies text[] NOT NULL,
  supports_deposit boolean NOT NULL DEFAULT true,
  supports_withdrawal boolean NOT NULL DEFAULT true,
  min_deposit bigint NOT NULL DEFAULT 1,
  max_deposit bigint NOT NULL DEFAULT 9007199254740991,
  min_withdrawal bigint NOT NULL DEFAULT 1,
  max_withdrawal bigint NOT NULL DEFAULT 9007199254740991,
  active boolean NOT NULL DEFAULT true,
  created_at timestamptz NOT NULL,
  UNIQUE (operator_id, code)
);

-- Who a player is, and the settings that decide what the player may do. Rows change only in the commit of the player's own actor,
-- except for the columns of identity (names, address, contact), which no decision about money reads.
CREATE TABLE players (
  id bigint PRIMARY KEY,
  operator_id bigint NOT NULL REFERENCES operators,
  external_id text,
  username text NOT NULL,
  email text NOT NULL,
  password_hash text,
  first_name text NOT NULL,
  last_name text NOT NULL,
  middle_name text,
  gender text,
  birth_date date NOT NULL,
  country text NOT NULL,
  city text,
  address text,
  zip_code text,
  phone text,
  personal_id text,
  document_number text,
  language text NOT NULL DEFAULT 'en',
  currency text NOT NULL,
  category text NOT NULL DEFAULT 'new',
  risk_level text NOT NULL DEFAULT 'low',
  is_test boolean NOT NULL DEFAULT false,
  marketing_email boolean NOT NULL DEFAULT false,
  marketing_sms boolean NOT NULL DEFAULT false,
  marketing_newsletter boolean NOT NULL DEFAULT false,
  registration_source text NOT NULL DEFAULT 'api',
  registration_ip text,
  registration_promo_code text,
  registration_affiliate_id text,
  registration_btag text,
  terms_version text,
  terms_accepted_at timestamptz NOT NULL,
  last_login_at timestamptz,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  -- what decisions read
  status text NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'locked', 'closed')),
  kyc_status text NOT NULL DEFAULT 'not_started'
    CHECK (kyc_status IN ('not_started', 'pending_review', 'verified', 'rejected', 'expired')),
  can_login boolean NOT NULL DEFAULT true,
  can_deposit boolean NOT NULL DEFAULT true,
  can_withdraw boolean NOT NULL DEFAULT true,
  can_bet boolean NOT NULL DEFAULT true,
  excluded_from_bonuses boolean NOT NULL DEFAULT false,
  exclusion_type text CHECK (exclusion_type IN ('time_out', 'self_exclusion', 'self_closure')),
  exclusion_since timestamptz,
  exclusion_until timestamptz,
  limits jsonb NOT NULL DEFAULT '{}',
  pending_limits jsonb NOT NULL DEFAULT '[]'
);
CREATE UNIQUE INDEX players_username ON players (operator_id, lower(username));
CREATE UNIQUE INDEX players_email ON players (operator_id, email);
CREATE UNIQUE INDEX players_external_id ON players (operator_id, external_id) WHERE external_id IS NOT NULL;
CREATE UNIQUE INDEX players_phone ON players (operator_id, phone) WHERE phone IS NOT NULL;
CREATE INDEX players_newest ON players (operator_id, id DESC);

-- The hot row of a player: one update per commit. `version` is the fence: a commit names the version it was decided on.
-- Half of each page stays free so that updates stay on their page and touch no index.
CREATE TABLE accounts (
  player_id bigint PRIMARY KEY REFERENCES players,
  operator_id bigint NOT NULL,
  version bigint NOT NULL DEFAULT 0,
  entry_seq bigint NOT NULL DEFAULT 0,
  wallet_seq bigint NOT NULL DEFAULT 0,
  real_balance bigint NOT NULL DEFAULT 0,
  bonus_balance bigint NOT NULL DEFAULT 0 CHECK (bonus_balance >= 0),
  -- windowed sums of limits and the play session, as the domain encodes them
  counters text NOT NULL DEFAULT '',
  -- providers that ever had a real-mode session with the player
  provider_ids bigint[] NOT NULL DEFAULT '{}',
  real_updated_at timestamptz NOT NULL,
  bonus_updated_at timestamptz NOT NULL
) WITH (fillfactor = 50);

-- The ledger, append-only. `seq` has no gap per player; each row carries the balance of its wallet after it, so the ledger proves itself.
CREATE TABLE ledger_entries (
  player_id bigint NOT NULL,
  seq bigint NOT NULL,
  id bigint NOT NULL,
  operator_id bigint NOT NULL,
  wallet text NOT NULL,
  type text NOT NULL,
  amount bigint NOT NULL,
  balance_after bigint NOT NULL,
  payment_request_id bigint,
  game_id bigint,
  game_round_id text,
  player_bonus_id bigint,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (player_id, seq)
);

-- Every message a provider ever settled, and the tombstones of bets that were rolled back before they came. Kept for ever.
CREATE TABLE provider_transactions (
  provider_id bigint NOT NULL,
  transaction_id text NOT NULL,
  player_id bigint NOT NULL,
  kind text NOT NULL CHECK (kind IN ('bet', 'win', 'promo_win', 'rollback', 'tombstone')),
  status text NOT NULL CHECK (status IN ('processed', 'ignored')),
  amount bigint NOT NULL,
  game_id bigint,
  round_id text,
  -- the bet of a win, the target of a rollback
  target_transaction_id text,
  -- what a promo-win was for
  detail text,
  real_amount bigint NOT NULL,
  bonus_amount bigint NOT NULL,
  entry_ids bigint[] NOT NULL,
  player_bonus_id bigint,
  wagered bigint NOT NULL DEFAULT 0,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (provider_id, transaction_id)
);
-- A bet or a win is taken back once.
CREATE UNIQUE INDEX provider_transactions_rolled_back ON provider_transactions (provider_id, target_transaction_id)
  WHERE kind = 'rollback' AND status = 'processed';

CREATE TABLE rounds (
  player_id bigint NOT NULL,
  game_id bigint NOT NULL,
  round_id text NOT NULL,
  real_stake bigint NOT NULL,
  bonus_stake bigint NOT NULL,
  -- wins above zero that were not taken back
  paid_wins integer NOT NULL,
  player_bonus_id bigint,
  closed boolean NOT NULL,
  opened_at timestamptz NOT NULL,
  PRIMARY KEY (player_id, game_id, round_id)
) WITH (fillfactor = 80);
CREATE INDEX rounds_opened_at ON rounds USING brin (opened_at);

CREATE TABLE payment_requests (
  id bigint PRIMARY KEY,
  operator_id bigint NOT NULL,
  player_id bigint NOT NULL REFERENCES players,
  type text NOT NULL CHECK (type IN ('deposit', 'withdrawal')),
  status text NOT NULL CHECK (status IN ('new', 'allowed', 'paid', 'rejected', 'cancelled')),
  amount bigint NOT NULL CHECK (amount > 0),
  currency text NOT NULL,
  payment_method text,
  external_reference text,
  info text,
  notes text,
  bank_name text,
  reject_reason text,
  is_reversed boolean NOT NULL DEFAULT false,
  first_approved_by bigint,
  created_at timestamptz NOT NULL,
  paid_at timestamptz,
  rejected_at timestamptz,
  cancelled_at timestamptz,
  updated_at timestamptz NOT NULL,
  UNIQUE (operator_id, external_reference)
);
CREATE INDEX payment_requests_operator ON payment_requests (operator_id, id DESC);
CREATE INDEX payment_requests_player ON payment_requests (player_id, id DESC);

-- Real- and demo-mode launches. Tokens are signed, not stored.
CREATE TABLE game_sessions (
  id bigint PRIMARY KEY,
  player_id bigint NOT NULL REFERENCES players,
  game_id bigint NOT NULL REFERENCES games,
  mode text NOT NULL CHECK (mode IN ('real', 'demo')),
  platform text,
  ip text,
  opened_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL
);
CREATE INDEX game_sessions_player ON game_sessions (player_id, id DESC);

-- The first answer to an idempotency key, committed with its effect. `scope` is the operator or, for session calls, the player.
CREATE TABLE idempotency_keys (
  scope text NOT NULL,
  key text NOT NULL,
  fingerprint bytea NOT NULL,
  status integer NOT NULL,
  body text NOT NULL,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (scope, key)
);
CREATE INDEX idempotency_keys_age ON idempotency_keys (created_at);

-- Signatures already accepted, so that none is accepted twice, also after a restart.
CREATE TABLE accepted_signatures (
  signature bytea PRIMARY KEY,
  accepted_at timestamptz NOT NULL
);
CREATE INDEX accepted_signatures_age ON accepted_signatures (accepted_at);

-- Webhook events, written in the commit of what they tell.
CREATE TABLE events (
  id bigint PRIMARY KEY,
  operator_id bigint NOT NULL,
  player_id bigint,
  type text NOT NULL,
  data jsonb NOT NULL,
  created_at timestamptz NOT NULL
);

-- Who did what, in the back office and through the API. Append-only.
CREATE TABLE audit_log (
  id bigint PRIMARY KEY,
  at timestamptz NOT NULL,
  actor text NOT NULL,
  action text NOT NULL,
  operator_id bigint,
  player_id bigint,
  subject text NOT NULL,
  before jsonb,
  after jsonb,
  reason text
);
CREATE INDEX audit_log_operator ON audit_log (operator_id, at DESC, id DESC);
CREATE INDEX audit_log_player ON audit_log (player_id, at DESC, id DESC);

-- Ends a commit whose players are not all at the versions it was decided on. 40001 tells it from every other failure.
CREATE FUNCTION pitboss_fence(updated bigint, expected bigint) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  IF updated <> expected THEN
    RAISE EXCEPTION 'another writer was faster' USING ERRCODE = '40001';
  END IF;
  RETURN true;
END
$$;
