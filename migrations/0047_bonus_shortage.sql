-- What was taken back of a bonus after it had been spent, and not paid off by money that came to it since (docs/decisions/0026-undone-ends.md).
SET LOCAL lock_timeout = '3s';

ALTER TABLE player_bonuses
  ADD COLUMN IF NOT EXISTS short_amount bigint NOT NULL DEFAULT 0,
  ADD CONSTRAINT player_bonuses_short CHECK (short_amount >= 0) NOT VALID;
