-- Who a player was before the profile changed. Who is excluded from play is known by every name and birth date of theirs, or the
-- exclusion could be left behind by a change of name.
CREATE TABLE former_identities (
  operator_id bigint NOT NULL,
  player_id bigint NOT NULL REFERENCES players,
  first_name text NOT NULL,
  last_name text NOT NULL,
  birth_date date NOT NULL,
  -- when it was given up
  changed_at timestamptz NOT NULL,
  PRIMARY KEY (player_id, first_name, last_name, birth_date)
);
CREATE INDEX former_identities_birth_date ON former_identities (operator_id, birth_date);
