-- What protocols of game providers ask of the rules (`docs/decisions/0043-provider-protocols.md`).

-- Bets of a round that stand and that no message has settled by itself; null in rounds from before, of which it is not known.
ALTER TABLE rounds ADD COLUMN open_bets integer CHECK (open_bets >= 0);

-- A correction within a round, its amount signed. Older rows have other kinds, so that they need not be read.
ALTER TABLE provider_transactions DROP CONSTRAINT provider_transactions_kind_check;
ALTER TABLE provider_transactions ADD CONSTRAINT provider_transactions_kinds
  CHECK (kind IN ('bet', 'win', 'promo_win', 'adjustment', 'rollback', 'tombstone')) NOT VALID;

-- A transaction is taken back once, and once more after each time that its rollback was taken back: of a rollback `wagered` says how often
-- its target had been reinstated before.
CREATE UNIQUE INDEX provider_transactions_taken_back
  ON provider_transactions (provider_id, target_transaction_id, wagered) WHERE kind = 'rollback' AND status = 'processed';
DROP INDEX provider_transactions_rolled_back;

-- A session that was exchanged for another, or that its launch came to nothing, takes no more bets.
ALTER TABLE game_sessions ADD COLUMN ended_at timestamptz;
CREATE INDEX game_sessions_ended ON game_sessions (player_id, id DESC) WHERE ended_at IS NOT NULL;
