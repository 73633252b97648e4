-- Calls of providers about money that moved none: refused, replayed, or ignored, with the answer that was given. What a call moved stands in
-- provider_transactions for ever; these are kept for some time and up to a size (docs/decisions/0043-provider-protocols.md), so that support can say why
-- a win never came. Written in batches by the service, after the answer: no bet waits for it.
CREATE TABLE kept_calls (
  id bigint PRIMARY KEY,
  -- 0: the call named no player
  operator_id bigint NOT NULL,
  -- bets have room of their own: their refusals are many, and must not push out those of wins and rollbacks
  is_bet boolean NOT NULL,
  provider_id bigint NOT NULL,
  player_id bigint,
  -- the provider's ids; that of the message is null for the end of a round
  transaction_id text,
  target_transaction_id text,
  game_external_id text,
  round_id text,
  kind text NOT NULL,
  -- as the protocol calls it
  method text NOT NULL,
  -- as sent, signed as it would have moved the player's money
  amount text,
  currency text,
  result text NOT NULL CHECK (result IN ('refused', 'replayed', 'ignored')),
  -- of a refusal, with the limit or the restriction that caused it
  code text,
  reason text,
  -- the answer: HTTP status and the beginning of the body
  status integer NOT NULL,
  answer text NOT NULL,
  -- what the row counts for
  bytes integer NOT NULL,
  at timestamptz NOT NULL
);
CREATE INDEX kept_calls_transaction ON kept_calls (provider_id, transaction_id) WHERE transaction_id IS NOT NULL;
CREATE INDEX kept_calls_target ON kept_calls (provider_id, target_transaction_id) WHERE target_transaction_id IS NOT NULL;
CREATE INDEX kept_calls_round ON kept_calls (provider_id, round_id) WHERE round_id IS NOT NULL;
CREATE INDEX kept_calls_player ON kept_calls (player_id, at, id) WHERE player_id IS NOT NULL;
CREATE INDEX kept_calls_operator ON kept_calls (operator_id, at, id);

-- How much is kept of each operator, so that nobody has to add it up.
CREATE TABLE kept_call_sizes (
  operator_id bigint NOT NULL,
  is_bet boolean NOT NULL,
  bytes bigint NOT NULL CHECK (bytes >= 0),
  PRIMARY KEY (operator_id, is_bet)
);
