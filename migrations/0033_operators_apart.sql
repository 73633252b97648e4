-- What lets operators be spread over databases one day (docs/decisions/0045-operators-apart.md): every row of play says whose it is, and
-- ids say in which cell they were made.
--
-- The columns are empty in rows from before. The version before this one goes on writing rows without them, which is why a trigger fills
-- them in; the one after this makes them NOT NULL, and the operator a part of the key of a message.
--
-- The application sets operator_id where it is null, and updates operator_walk.

ALTER TABLE rounds ADD COLUMN operator_id bigint;
ALTER TABLE provider_transactions ADD COLUMN operator_id bigint;
ALTER TABLE game_sessions ADD COLUMN operator_id bigint;

-- The operator of a row is its player's, whoever says otherwise.
CREATE FUNCTION fill_operator() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  SELECT operator_id INTO NEW.operator_id FROM accounts WHERE player_id = NEW.player_id;
  RETURN NEW;
END
$$;
CREATE TRIGGER fill_operator BEFORE INSERT ON rounds
  FOR EACH ROW WHEN (NEW.operator_id IS NULL) EXECUTE FUNCTION fill_operator();
CREATE TRIGGER fill_operator BEFORE INSERT ON provider_transactions
  FOR EACH ROW WHEN (NEW.operator_id IS NULL) EXECUTE FUNCTION fill_operator();
CREATE TRIGGER fill_operator BEFORE INSERT ON game_sessions
  FOR EACH ROW WHEN (NEW.operator_id IS NULL) EXECUTE FUNCTION fill_operator();
CREATE TRIGGER keep_operator BEFORE UPDATE ON rounds FOR EACH ROW
  WHEN (NEW.operator_id IS NULL OR NEW.operator_id IS DISTINCT FROM OLD.operator_id) EXECUTE FUNCTION fill_operator();
CREATE TRIGGER keep_operator BEFORE UPDATE ON provider_transactions FOR EACH ROW
  WHEN (NEW.operator_id IS NULL OR NEW.operator_id IS DISTINCT FROM OLD.operator_id) EXECUTE FUNCTION fill_operator();
CREATE TRIGGER keep_operator BEFORE UPDATE ON game_sessions FOR EACH ROW
  WHEN (NEW.operator_id IS NULL OR NEW.operator_id IS DISTINCT FROM OLD.operator_id) EXECUTE FUNCTION fill_operator();

-- How far the job is that fills in rows from before: the pages of each table as it was, of which those up to `page` are done. Rows are
-- visited in the order in which they lie, so that what lies together by time still does afterwards.
CREATE TABLE operator_walk (
  name text PRIMARY KEY,
  page bigint NOT NULL DEFAULT 0,
  pages bigint NOT NULL
);
INSERT INTO operator_walk (name, pages)
SELECT relname, pg_relation_size(oid) / current_setting('block_size')::bigint FROM pg_class
WHERE oid IN ('rounds'::regclass, 'provider_transactions'::regclass, 'game_sessions'::regclass);

-- Ids of this database are those of cell 0: the bits from the 44th on name the cell. The sequence ends before it would name another one.
ALTER SEQUENCE ids MAXVALUE 17592186044415;
ALTER SEQUENCE chain_ids MAXVALUE 17592186044415;
