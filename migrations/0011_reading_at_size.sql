-- What lists need to stay quick when there are millions of rows: how many there are of what, without counting them.

-- A summary of each 256 entries of a player, block 0 being the entries 1 to 256: what kinds there are, how many, and from when to
-- when. Entries never change, so neither does a block of them that is full. Whoever reads a long ledger with a filter makes
-- those that are missing; all of them can be deleted at any time.
CREATE TABLE ledger_blocks (
  player_id bigint NOT NULL,
  block integer NOT NULL,
  wallet text NOT NULL,
  type text NOT NULL,
  entries integer NOT NULL,
  first_at timestamptz NOT NULL,
  last_at timestamptz NOT NULL,
  PRIMARY KEY (player_id, block, wallet, type)
);

-- How many players and payments there are, by what their lists filter by and by the day (UTC) of their creation. A change adds a row
-- with what it changes the number by, because a row that all changes share would make them wait for each other; whoever reads adds
-- them up, and folds them into one row per group when there are many. The triggers see every change, whoever makes it.
CREATE TABLE player_counts (
  operator_id bigint NOT NULL,
  created_on date NOT NULL,
  status text NOT NULL,
  kyc_status text NOT NULL,
  rows bigint NOT NULL,
  folded boolean NOT NULL DEFAULT false
);
CREATE INDEX player_counts_operator ON player_counts (operator_id);

CREATE TABLE payment_counts (
  operator_id bigint NOT NULL,
  created_on date NOT NULL,
  type text NOT NULL,
  status text NOT NULL,
  rows bigint NOT NULL,
  folded boolean NOT NULL DEFAULT false
);
CREATE INDEX payment_counts_operator ON payment_counts (operator_id);

CREATE FUNCTION count_new_players() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO player_counts (operator_id, created_on, status, kyc_status, rows)
  SELECT operator_id, (created_at AT TIME ZONE 'UTC')::date, status, kyc_status, count(*) FROM added GROUP BY 1, 2, 3, 4;
  RETURN NULL;
END
$$;
CREATE FUNCTION count_changed_player() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO player_counts (operator_id, created_on, status, kyc_status, rows) VALUES
    (OLD.operator_id, (OLD.created_at AT TIME ZONE 'UTC')::date, OLD.status, OLD.kyc_status, -1),
    (NEW.operator_id, (NEW.created_at AT TIME ZONE 'UTC')::date, NEW.status, NEW.kyc_status, 1);
  RETURN NULL;
END
$$;
CREATE FUNCTION count_new_payments() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO payment_counts (operator_id, created_on, type, status, rows)
  SELECT operator_id, (created_at AT TIME ZONE 'UTC')::date, type, status, count(*) FROM added GROUP BY 1, 2, 3, 4;
  RETURN NULL;
END
$$;
CREATE FUNCTION count_changed_payment() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO payment_counts (operator_id, created_on, type, status, rows) VALUES
    (OLD.operator_id, (OLD.created_at AT TIME ZONE 'UTC')::date, OLD.type, OLD.status, -1),
    (NEW.operator_id, (NEW.created_at AT TIME ZONE 'UTC')::date, NEW.type, NEW.status, 1);
  RETURN NULL;
END
$$;

-- What is there already. Nobody may add to it in between.
LOCK TABLE players, payment_requests IN SHARE ROW EXCLUSIVE MODE;
INSERT INTO player_counts (operator_id, created_on, status, kyc_status, rows, folded)
SELECT operator_id, (created_at AT TIME ZONE 'UTC')::date, status, kyc_status, count(*), true FROM players GROUP BY 1, 2, 3, 4;
INSERT INTO payment_counts (operator_id, created_on, type, status, rows, folded)
SELECT operator_id, (created_at AT TIME ZONE 'UTC')::date, type, status, count(*), true FROM payment_requests GROUP BY 1, 2, 3, 4;

CREATE TRIGGER count_new_players AFTER INSERT ON players
  REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION count_new_players();
CREATE TRIGGER count_changed_player AFTER UPDATE OF status, kyc_status ON players
  FOR EACH ROW WHEN (OLD.status <> NEW.status OR OLD.kyc_status <> NEW.kyc_status) EXECUTE FUNCTION count_changed_player();
CREATE TRIGGER count_new_payments AFTER INSERT ON payment_requests
  REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION count_new_payments();
CREATE TRIGGER count_changed_payment AFTER UPDATE OF type, status ON payment_requests
  FOR EACH ROW WHEN (OLD.type <> NEW.type OR OLD.status <> NEW.status) EXECUTE FUNCTION count_changed_payment();

-- Those whom a filter finds among many others.
CREATE INDEX players_status ON players (operator_id, status, id DESC) WHERE status <> 'active';
CREATE INDEX players_kyc_status ON players (operator_id, kyc_status, id DESC);

-- What a search looks at, in one piece and in lower case, beside the order of the list: a walk over many players reads the index alone.
ALTER TABLE players ADD COLUMN search_text text NOT NULL
  GENERATED ALWAYS AS (lower(username || E'\n' || email || E'\n' || last_name)) STORED;
CREATE INDEX players_search_walk ON players (operator_id, id DESC) INCLUDE (search_text);
