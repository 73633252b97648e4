-- Whether a profile has players, who are held to a looser version of it.
CREATE INDEX players_jurisdiction ON players (jurisdiction) WHERE jurisdiction <> 'none';
