-- Session tokens and wallet sessions issued then or before are over, whatever they say themselves. Other processes look for the
-- latest every second, and forget what they remember of those players.
ALTER TABLE players ADD COLUMN sessions_ended_at timestamptz;
CREATE INDEX players_sessions_ended ON players (sessions_ended_at) WHERE sessions_ended_at IS NOT NULL;

-- Player tokens that a key issued before its secret was last rotated are over.
ALTER TABLE api_keys ADD COLUMN rotated_at timestamptz;
