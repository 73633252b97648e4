-- The back office: notes on players, an audit log that nobody can rewrite, tokens of staff that can be replaced.

-- What people wrote about a player, for staff. Append-only. The reason of a change of the account's status is written in the commit
-- of that change.
CREATE TABLE player_notes (
  id bigint PRIMARY KEY,
  operator_id bigint NOT NULL,
  player_id bigint NOT NULL REFERENCES players,
  -- as the audit log names who acts
  author text NOT NULL,
  text text NOT NULL,
  created_at timestamptz NOT NULL
);
CREATE INDEX player_notes_player ON player_notes (player_id, created_at DESC, id DESC);

-- Reasons stood in the audit log only.
INSERT INTO player_notes (id, operator_id, player_id, author, text, created_at)
SELECT id, operator_id, player_id, actor, reason, at FROM audit_log
WHERE action = 'player.status' AND reason IS NOT NULL AND player_id IS NOT NULL;

-- Notes that came with payments and grants are listed beside them.
CREATE INDEX payment_requests_notes ON payment_requests (player_id, created_at DESC, id DESC) WHERE notes IS NOT NULL;
CREATE INDEX player_bonuses_notes ON player_bonuses (player_id, created_at DESC, id DESC) WHERE note IS NOT NULL;

-- Since when the token of an account is the one that it is.
ALTER TABLE staff ADD COLUMN token_issued_at timestamptz;
UPDATE staff SET token_issued_at = created_at;
ALTER TABLE staff ALTER COLUMN token_issued_at SET NOT NULL;

-- The audit log is read by time, by who acted, and by what was done.
CREATE INDEX audit_log_time ON audit_log (at DESC, id DESC);
CREATE INDEX audit_log_actor ON audit_log (actor, at DESC, id DESC);
CREATE INDEX audit_log_action ON audit_log (action, at DESC, id DESC);

CREATE FUNCTION pitboss_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION '% is append-only', TG_TABLE_NAME USING ERRCODE = 'integrity_constraint_violation';
END
$$;
CREATE TRIGGER audit_log_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_log
  FOR EACH STATEMENT EXECUTE FUNCTION pitboss_append_only();
CREATE TRIGGER player_notes_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON player_notes
  FOR EACH STATEMENT EXECUTE FUNCTION pitboss_append_only();
