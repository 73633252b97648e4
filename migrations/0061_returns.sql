-- Exclusions that end at the player's request only: from when it may be made, and when the player returns. And who asked for an exclusion.
ALTER TABLE players
  ADD COLUMN exclusion_return_from timestamptz,
  ADD COLUMN exclusion_return_at timestamptz,
  ADD COLUMN exclusion_source text;
-- when the exclusion is over; null while that is not known
ALTER TABLE players ADD COLUMN exclusion_over_at timestamptz
  GENERATED ALWAYS AS (CASE WHEN exclusion_return_from IS NULL THEN exclusion_until ELSE exclusion_return_at END) STORED;
DROP INDEX players_exclusion_end;
CREATE INDEX players_exclusion_over ON players (exclusion_over_at) WHERE exclusion_over_at IS NOT NULL;
