-- Personal data at rest: personal numbers, documents and what payments say of accounts at banks are sealed under the master key. The
-- columns in clear are emptied by a job; the service writes none of them any more.
--
-- The application updates players.numbers_sealed and its digests, payment_requests.details_sealed, player_facts.digest,
-- idempotency_keys.fingerprint and personal_data_walk; it empties the columns in clear.

-- JSON of personal_id and document_number, and keyed digests of their comparable forms.
ALTER TABLE players ADD COLUMN numbers_sealed bytea, ADD COLUMN personal_id_digest bytea, ADD COLUMN document_number_digest bytea;
CREATE INDEX players_excluded_personal_id_digest ON players (operator_id, personal_id_digest) WHERE exclusion_type IS NOT NULL;
CREATE INDEX players_excluded_document_digest ON players (operator_id, document_number_digest) WHERE exclusion_type IS NOT NULL;

-- JSON of info, notes and bank_name.
ALTER TABLE payment_requests ADD COLUMN details_sealed bytea, ADD COLUMN has_notes boolean NOT NULL DEFAULT false;
UPDATE payment_requests SET has_notes = true WHERE notes IS NOT NULL;
DROP INDEX payment_requests_notes;
CREATE INDEX payment_requests_notes ON payment_requests (player_id, created_at DESC, id DESC) WHERE has_notes;

-- A number that is sealed is none that changed.
CREATE OR REPLACE FUNCTION note_changed_profile() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO compliance_effects (kind, player_id, fields, at) VALUES ('profile', NEW.id, array_remove(ARRAY[
    CASE WHEN OLD.first_name <> NEW.first_name THEN 'first_name' END,
    CASE WHEN OLD.last_name <> NEW.last_name THEN 'last_name' END,
    CASE WHEN OLD.birth_date <> NEW.birth_date THEN 'birth_date' END,
    CASE WHEN OLD.personal_id_digest IS DISTINCT FROM NEW.personal_id_digest THEN 'personal_id' END,
    CASE WHEN OLD.document_number_digest IS DISTINCT FROM NEW.document_number_digest THEN 'document_number' END
  ], NULL), NEW.updated_at);
  RETURN NULL;
END
$$;
DROP TRIGGER note_changed_profile ON players;
CREATE TRIGGER note_changed_profile AFTER UPDATE OF first_name, last_name, birth_date, personal_id_digest, document_number_digest,
    email, phone, country, address, city, zip_code ON players FOR EACH ROW
  WHEN (((OLD.first_name, OLD.last_name, OLD.birth_date, OLD.personal_id_digest, OLD.document_number_digest, OLD.email, OLD.phone,
      OLD.country, OLD.address, OLD.city, OLD.zip_code)
    IS DISTINCT FROM (NEW.first_name, NEW.last_name, NEW.birth_date, NEW.personal_id_digest, NEW.document_number_digest, NEW.email,
      NEW.phone, NEW.country, NEW.address, NEW.city, NEW.zip_code))
    AND (OLD.personal_id IS NULL OR NEW.personal_id IS NOT NULL)
    AND (OLD.document_number IS NULL OR NEW.document_number IS NOT NULL))
  EXECUTE FUNCTION note_changed_profile();

-- How far the job is that seals what was there before, by table: the key after which it goes on.
CREATE TABLE personal_data_walk (
  name text PRIMARY KEY,
  after jsonb NOT NULL,
  is_done boolean NOT NULL DEFAULT false
);
