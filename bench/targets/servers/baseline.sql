-- What the baseline stores: the rows, keys and indexes that the service itself writes for a bet, so that both do the
-- same work for the disk. Half of each wallet page stays free, so that updates touch no index.
CREATE SEQUENCE ids AS bigint START 1000 CACHE 64;

CREATE TABLE providers (
  id bigint PRIMARY KEY,
  key text NOT NULL UNIQUE,
  secret text NOT NULL
);

CREATE TABLE games (
  id bigint PRIMARY KEY,
  provider_id bigint NOT NULL REFERENCES providers,
  external_id text NOT NULL,
  UNIQUE (provider_id, external_id)
);

CREATE TABLE players (
  id bigint PRIMARY KEY,
  currency text NOT NULL,
  status text NOT NULL DEFAULT 'active',
  can_bet boolean NOT NULL DEFAULT true,
  exclusion_until timestamptz
);

CREATE TABLE game_sessions (
  token_hash bytea PRIMARY KEY,
  player_id bigint NOT NULL REFERENCES players,
  game_id bigint NOT NULL REFERENCES games,
  expires_at timestamptz NOT NULL
);

CREATE TABLE wallets (
  player_id bigint PRIMARY KEY REFERENCES players,
  entry_seq bigint NOT NULL DEFAULT 0,
  wallet_seq bigint NOT NULL DEFAULT 0,
  real_balance bigint NOT NULL,
  bonus_balance bigint NOT NULL DEFAULT 0,
  real_updated_at timestamptz NOT NULL DEFAULT now()
) WITH (fillfactor = 50);

CREATE TABLE ledger_entries (
  player_id bigint NOT NULL,
  seq bigint NOT NULL,
  id bigint NOT NULL,
  wallet text NOT NULL,
  type text NOT NULL,
  amount bigint NOT NULL,
  balance_after bigint NOT NULL,
  game_id bigint,
  game_round_id text,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (player_id, seq)
);

CREATE TABLE provider_transactions (
  provider_id bigint NOT NULL,
  transaction_id text NOT NULL,
  player_id bigint NOT NULL,
  kind text NOT NULL,
  status text NOT NULL,
  amount bigint NOT NULL,
  game_id bigint,
  round_id text,
  target_transaction_id text,
  real_amount bigint NOT NULL,
  bonus_amount bigint NOT NULL,
  entry_ids bigint[] NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (provider_id, transaction_id)
);
CREATE UNIQUE INDEX provider_transactions_rolled_back ON provider_transactions (provider_id, target_transaction_id)
  WHERE kind = 'rollback' AND status = 'processed';

CREATE TABLE rounds (
  player_id bigint NOT NULL,
  game_id bigint NOT NULL,
  round_id text NOT NULL,
  real_stake bigint NOT NULL,
  bonus_stake bigint NOT NULL,
  paid_wins integer NOT NULL,
  closed boolean NOT NULL,
  opened_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (player_id, game_id, round_id)
) WITH (fillfactor = 80);
CREATE INDEX rounds_opened_at ON rounds USING brin (opened_at);

-- One bet in one round trip. The wallet row, which other bets of the player wait for, is locked last. A refusal that
-- comes after a write is raised, so that the write is undone; the others are returned in `outcome`.
CREATE FUNCTION place_bet(
  in_provider bigint, in_transaction text, in_token_hash bytea, in_game bigint, in_round text, in_amount bigint,
  in_currency text,
  OUT outcome text, OUT entry_id bigint, OUT balance bigint, OUT bonus bigint, OUT sequence bigint
) LANGUAGE plpgsql AS $$
DECLARE
  bettor bigint;
  refusal text;
  entry_number bigint;
  known provider_transactions;
BEGIN
  SELECT p.id, CASE
      WHEN s.expires_at <= now() OR s.game_id <> in_game THEN 'INVALID_SESSION'
      WHEN p.currency <> in_currency THEN 'VALIDATION_FAILED'
      WHEN p.status <> 'active' OR NOT p.can_bet OR p.exclusion_until > now() THEN 'PLAYER_RESTRICTED'
    END
    INTO bettor, refusal
    FROM game_sessions s JOIN players p ON p.id = s.player_id WHERE s.token_hash = in_token_hash;
  IF NOT FOUND THEN
    refusal := 'INVALID_SESSION';
  END IF;
  IF refusal IS NULL THEN
    entry_id := nextval('ids');
    INSERT INTO provider_transactions (provider_id, transaction_id, player_id, kind, status, amount, game_id, round_id,
        real_amount, bonus_amount, entry_ids)
      VALUES (in_provider, in_transaction, bettor, 'bet', 'processed', in_amount, in_game, in_round,
        -in_amount, 0, ARRAY[entry_id])
      ON CONFLICT DO NOTHING;
    IF FOUND THEN
      INSERT INTO rounds (player_id, game_id, round_id, real_stake, bonus_stake, paid_wins, closed)
        VALUES (bettor, in_game, in_round, in_amount, 0, 0, false)
        ON CONFLICT (player_id, game_id, round_id) DO UPDATE SET real_stake = rounds.real_stake + excluded.real_stake
          WHERE NOT rounds.closed;
      IF NOT FOUND THEN
        RAISE EXCEPTION 'ROUND_CLOSED' USING ERRCODE = 'PB001';
      END IF;
      UPDATE wallets SET real_balance = real_balance - in_amount, entry_seq = entry_seq + 1,
          wallet_seq = wallet_seq + 1, real_updated_at = now()
        WHERE player_id = bettor AND real_balance >= in_amount
        RETURNING real_balance, bonus_balance, entry_seq, wallet_seq INTO balance, bonus, entry_number, sequence;
      IF NOT FOUND THEN
        RAISE EXCEPTION 'INSUFFICIENT_FUNDS' USING ERRCODE = 'PB001';
      END IF;
      INSERT INTO ledger_entries (player_id, seq, id, wallet, type, amount, balance_after, game_id, game_round_id)
        VALUES (bettor, entry_number, entry_id, 'real', 'casino_bet', -in_amount, balance, in_game, in_round);
      outcome := 'processed';
      RETURN;
    END IF;
  END IF;
  SELECT * INTO known FROM provider_transactions t
    WHERE t.provider_id = in_provider AND t.transaction_id = in_transaction;
  IF NOT FOUND THEN
    outcome := refusal;
  ELSIF known.kind <> 'bet' OR known.amount <> in_amount OR known.game_id <> in_game OR known.round_id <> in_round
      OR known.player_id IS DISTINCT FROM coalesce(bettor, known.player_id) THEN
    outcome := 'DUPLICATE_TRANSACTION';
  ELSE
    outcome := 'replayed';
    entry_id := known.entry_ids[1];
    SELECT w.real_balance, w.bonus_balance, w.wallet_seq INTO balance, bonus, sequence
      FROM wallets w WHERE w.player_id = known.player_id;
  END IF;
END $$;
