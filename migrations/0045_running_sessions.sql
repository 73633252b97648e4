-- Running sessions of a player: read whenever the player is loaded.
CREATE INDEX game_sessions_running ON game_sessions (player_id, expires_at) WHERE ended_at IS NULL AND mode = 'real';
