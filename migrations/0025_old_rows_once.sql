-- Rows from before the chain of hashes are linked once. Whoever could set the position back would have the service link, with a tag of its
-- key, rows that were added by hand.
CREATE FUNCTION pitboss_old_rows_forward() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF OLD.is_done OR NEW.before_id <> OLD.before_id OR (NEW.player_id, NEW.seq) < (OLD.player_id, OLD.seq)
    OR NEW.audit_id < OLD.audit_id
  THEN
    RAISE EXCEPTION 'rows from before the chain are linked once' USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN NEW;
END
$$;
CREATE TRIGGER chain_old_rows_forward BEFORE UPDATE ON chain_old_rows
  FOR EACH ROW EXECUTE FUNCTION pitboss_old_rows_forward();
CREATE TRIGGER chain_old_rows_kept BEFORE DELETE OR TRUNCATE ON chain_old_rows
  FOR EACH STATEMENT EXECUTE FUNCTION pitboss_append_only();
