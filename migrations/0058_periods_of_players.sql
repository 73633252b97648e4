-- A player's launches by time, for their list and the timeline within a period.
CREATE INDEX IF NOT EXISTS game_sessions_opened ON game_sessions (player_id, opened_at DESC, id DESC);
