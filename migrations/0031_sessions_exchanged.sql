-- A session that was exchanged may be exchanged once more, by whom the answer did not reach; one whose launch came to nothing may not.
ALTER TABLE game_sessions ADD COLUMN exchanged boolean NOT NULL DEFAULT false;
