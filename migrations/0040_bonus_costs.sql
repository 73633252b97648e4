-- What bonuses have cost and may still cost, without reading every grant (docs/decisions/0052-bonus-costs.md).

-- What grants came to by the day (UTC) they were made or ended. Minor units of the players' currency.
CREATE TABLE bonus_costs (
  operator_id bigint NOT NULL,
  day date NOT NULL,
  bonus_id bigint NOT NULL,
  currency text NOT NULL,
  is_test boolean NOT NULL,
  granted bigint NOT NULL,
  granted_amount bigint NOT NULL,
  finished bigint NOT NULL,
  converted bigint NOT NULL,
  forfeited bigint NOT NULL,
  PRIMARY KEY (operator_id, day, bonus_id, currency, is_test)
);

-- What was written of grants since and is not folded into the sums yet: a row for each change, so that commits do not wait for each other.
CREATE TABLE bonus_cost_changes (LIKE bonus_costs);
CREATE INDEX bonus_cost_changes_day ON bonus_cost_changes (operator_id, day);

-- Grants that ran or waited, and their bonus funds, as they were read last.
CREATE TABLE bonus_liabilities (
  operator_id bigint NOT NULL,
  bonus_id bigint NOT NULL,
  currency text NOT NULL,
  is_test boolean NOT NULL,
  running bigint NOT NULL,
  amount numeric NOT NULL,
  at timestamptz NOT NULL,
  PRIMARY KEY (operator_id, bonus_id, currency, is_test)
);

-- From here on nobody reads grants until the migration ends, and whoever comes meanwhile waits behind it for what still does: not for long.
SET LOCAL lock_timeout = '3s';

-- Whether the sums hold a grant. Those from before do not: a job sets this on them, and the trigger adds them.
ALTER TABLE player_bonuses ADD COLUMN IF NOT EXISTS is_counted boolean NOT NULL DEFAULT false;
ALTER TABLE player_bonuses ALTER COLUMN is_counted SET DEFAULT true;
CREATE INDEX IF NOT EXISTS player_bonuses_uncounted ON player_bonuses (id) WHERE NOT is_counted;

-- Takes off what a grant was counted as before and adds what it is now, in the same commit. With the owner's rights: the version before
-- this one writes grants too, and has none on these tables.
CREATE FUNCTION count_bonus_costs() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  INSERT INTO bonus_cost_changes (operator_id, day, bonus_id, currency, is_test, granted, granted_amount, finished, converted, forfeited)
  SELECT NEW.operator_id, c.day, NEW.bonus_id, p.currency, p.is_test, sum(c.granted), sum(c.granted_amount), sum(c.finished),
    sum(c.converted), sum(c.forfeited)
  FROM players p CROSS JOIN (VALUES
    (OLD.is_counted, (OLD.created_at AT TIME ZONE 'UTC')::date, -1, -OLD.amount, 0, 0::bigint, 0::bigint),
    (OLD.is_counted, (OLD.finished_at AT TIME ZONE 'UTC')::date, 0, 0, -1, -OLD.converted, -OLD.forfeited),
    (NEW.is_counted, (NEW.created_at AT TIME ZONE 'UTC')::date, 1, NEW.amount, 0, 0, 0),
    (NEW.is_counted, (NEW.finished_at AT TIME ZONE 'UTC')::date, 0, 0, 1, NEW.converted, NEW.forfeited)
  ) c (is_counted, day, granted, granted_amount, finished, converted, forfeited)
  WHERE p.id = NEW.player_id AND c.is_counted AND c.day IS NOT NULL
  GROUP BY c.day, p.currency, p.is_test
  HAVING (sum(c.granted), sum(c.granted_amount), sum(c.finished), sum(c.converted), sum(c.forfeited)) <> (0, 0, 0, 0, 0);
  RETURN NULL;
END
$$;
CREATE TRIGGER count_new_bonus AFTER INSERT ON player_bonuses
  FOR EACH ROW WHEN (NEW.is_counted) EXECUTE FUNCTION count_bonus_costs();
-- not for what a bet writes: how much was wagered
CREATE TRIGGER count_changed_bonus AFTER UPDATE ON player_bonuses FOR EACH ROW
  WHEN ((OLD.finished_at, OLD.converted, OLD.forfeited, OLD.is_counted)
    IS DISTINCT FROM (NEW.finished_at, NEW.converted, NEW.forfeited, NEW.is_counted))
  EXECUTE FUNCTION count_bonus_costs();
