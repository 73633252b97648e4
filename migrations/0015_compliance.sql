-- Alerts on suspicious behaviour: what is to be judged, what was found, what staff have set.

-- Committed facts that wait to be judged. Triggers write them in the transaction of the fact, whoever makes it; who judges one
-- removes it. A row that commits late is one like any other: nobody keeps a position.
CREATE TABLE compliance_effects (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  -- `known`: a player from before there were rules, to be known and not to be judged
  kind text NOT NULL CHECK (kind IN ('known', 'registration', 'profile', 'kyc', 'session', 'deposit', 'withdrawal')),
  player_id bigint NOT NULL,
  -- the payment or the game session
  subject_id bigint,
  -- of a change of who the player is: the columns that changed
  fields text[] NOT NULL DEFAULT '{}',
  -- when it happened
  at timestamptz NOT NULL,
  -- tries that failed for a reason of its own, and when the next one is due
  attempts integer NOT NULL DEFAULT 0,
  not_before timestamptz NOT NULL DEFAULT '-infinity'
);

-- What players are known by, as digests: never in clear, kept when the player changes. Numbers say who came to a fact first.
CREATE TABLE player_facts (
  operator_id bigint NOT NULL,
  kind text NOT NULL,
  digest bytea NOT NULL,
  player_id bigint NOT NULL,
  number bigint GENERATED ALWAYS AS IDENTITY,
  PRIMARY KEY (operator_id, kind, digest, player_id)
);

-- What staff have changed about a rule of an operator; absent is the default.
CREATE TABLE compliance_settings (
  operator_id bigint NOT NULL REFERENCES operators,
  rule text NOT NULL,
  settings jsonb NOT NULL,
  updated_at timestamptz NOT NULL,
  PRIMARY KEY (operator_id, rule)
);

CREATE TABLE compliance_alerts (
  id bigint PRIMARY KEY,
  operator_id bigint NOT NULL REFERENCES operators,
  player_id bigint NOT NULL REFERENCES players,
  rule text NOT NULL,
  -- what it is about, within the rule: a payment, a window, other players
  occurrence text NOT NULL,
  severity text NOT NULL CHECK (severity IN ('low', 'medium', 'high', 'critical')),
  status text NOT NULL CHECK (status IN ('open', 'in_review', 'escalated', 'closed')),
  payment_request_id bigint,
  -- the facts that made it, in ids and numbers
  details jsonb NOT NULL,
  -- whether it stops withdrawals: asked for, and done by the player's actor
  hold text NOT NULL CHECK (hold IN ('none', 'wanted', 'placed')),
  notes jsonb NOT NULL DEFAULT '[]',
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  closed_at timestamptz,
  CONSTRAINT compliance_alerts_once UNIQUE (player_id, rule, occurrence),
  CHECK ((status = 'closed') = (closed_at IS NOT NULL))
);
CREATE INDEX compliance_alerts_newest ON compliance_alerts (created_at DESC, id DESC);
CREATE INDEX compliance_alerts_operator ON compliance_alerts (operator_id, created_at DESC, id DESC);
CREATE INDEX compliance_alerts_waiting ON compliance_alerts (operator_id, created_at DESC, id DESC) WHERE status <> 'closed';
CREATE INDEX compliance_alerts_holds ON compliance_alerts (id) WHERE hold = 'wanted' AND status <> 'closed';

-- Alerts that stop the player's withdrawals, and those of them that staff have lifted. Changed by the player's own actor only.
ALTER TABLE players ADD COLUMN withdrawal_holds jsonb NOT NULL DEFAULT '[]';
CREATE INDEX players_withdrawal_holds ON players (id) WHERE withdrawal_holds <> '[]';

-- Those who are here already are to be known. Nobody may come in between.
LOCK TABLE players IN SHARE ROW EXCLUSIVE MODE;
INSERT INTO compliance_effects (kind, player_id, at) SELECT 'known', id, created_at FROM players ORDER BY id;

CREATE FUNCTION note_new_players() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO compliance_effects (kind, player_id, at) SELECT 'registration', id, created_at FROM added;
  RETURN NULL;
END
$$;
CREATE TRIGGER note_new_players AFTER INSERT ON players
  REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION note_new_players();

CREATE FUNCTION note_changed_profile() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO compliance_effects (kind, player_id, fields, at) VALUES ('profile', NEW.id, array_remove(ARRAY[
    CASE WHEN OLD.first_name <> NEW.first_name THEN 'first_name' END,
    CASE WHEN OLD.last_name <> NEW.last_name THEN 'last_name' END,
    CASE WHEN OLD.birth_date <> NEW.birth_date THEN 'birth_date' END,
    CASE WHEN OLD.personal_id IS DISTINCT FROM NEW.personal_id THEN 'personal_id' END,
    CASE WHEN OLD.document_number IS DISTINCT FROM NEW.document_number THEN 'document_number' END
  ], NULL), NEW.updated_at);
  RETURN NULL;
END
$$;
CREATE TRIGGER note_changed_profile AFTER UPDATE OF first_name, last_name, birth_date, personal_id, document_number, email, phone,
    country, address, city, zip_code ON players FOR EACH ROW
  WHEN ((OLD.first_name, OLD.last_name, OLD.birth_date, OLD.personal_id, OLD.document_number, OLD.email, OLD.phone, OLD.country,
      OLD.address, OLD.city, OLD.zip_code)
    IS DISTINCT FROM (NEW.first_name, NEW.last_name, NEW.birth_date, NEW.personal_id, NEW.document_number, NEW.email, NEW.phone,
      NEW.country, NEW.address, NEW.city, NEW.zip_code))
  EXECUTE FUNCTION note_changed_profile();

CREATE FUNCTION note_moved_kyc() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO compliance_effects (kind, player_id, at) VALUES ('kyc', NEW.id, NEW.updated_at);
  RETURN NULL;
END
$$;
CREATE TRIGGER note_moved_kyc AFTER UPDATE OF kyc_status ON players FOR EACH ROW
  WHEN (OLD.kyc_status <> NEW.kyc_status) EXECUTE FUNCTION note_moved_kyc();

CREATE FUNCTION note_new_payments() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO compliance_effects (kind, player_id, subject_id, at)
  SELECT type, player_id, id, created_at FROM added ORDER BY created_at, id;
  RETURN NULL;
END
$$;
CREATE TRIGGER note_new_payments AFTER INSERT ON payment_requests
  REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION note_new_payments();

-- A launch says something new only when it comes from another address than the one before.
CREATE FUNCTION note_new_sessions() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO compliance_effects (kind, player_id, subject_id, at)
  SELECT 'session', a.player_id, a.id, a.opened_at FROM added a
  WHERE a.ip IS NOT NULL AND a.ip IS DISTINCT FROM (
    SELECT s.ip FROM game_sessions s WHERE s.player_id = a.player_id AND s.id < a.id ORDER BY s.id DESC LIMIT 1);
  RETURN NULL;
END
$$;
CREATE TRIGGER note_new_sessions AFTER INSERT ON game_sessions
  REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION note_new_sessions();
