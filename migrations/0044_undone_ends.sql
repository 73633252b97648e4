-- The end of a bonus is undone with the message that caused it (docs/decisions/0026-undone-ends.md): one that has to wait for another bonus keeps its
-- money and the time it has left, and a stake without an open round keeps an empty bonus from being lost until then.
SET LOCAL lock_timeout = '3s';

ALTER TABLE player_bonuses
  ADD COLUMN IF NOT EXISTS held_amount bigint,
  ADD COLUMN IF NOT EXISTS remaining_ms bigint,
  ADD COLUMN IF NOT EXISTS open_until timestamptz,
  -- "pending" was "never started"
  DROP CONSTRAINT player_bonuses_check3,
  ADD CONSTRAINT player_bonuses_waiting CHECK (state <> 'pending' OR (expires_at IS NULL
    AND (started_at IS NULL
      OR (held_amount IS NOT NULL AND held_amount >= 0 AND remaining_ms IS NOT NULL AND remaining_ms > 0)))) NOT VALID;
-- of the few that run with such a stake: read by the job that ends what time has ended
CREATE INDEX IF NOT EXISTS player_bonuses_open_until ON player_bonuses (open_until) WHERE state = 'activated' AND open_until IS NOT NULL;
