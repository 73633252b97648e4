-- Chain of hashes over ledger entries and audit lines; docs/decisions says why.
--
-- The application only inserts into chain_links, chain_seals and chain_seal_heads, as into ledger_entries and audit_log, and reads them;
-- it updates chain_old_rows, and takes ids from chain_ids.

-- Steps by two: whoever needs two chains of its own takes one id.
CREATE SEQUENCE chain_ids AS bigint START 1 INCREMENT 2;

-- One commit: the rows that it wrote, and the hash of them and of the link before.
CREATE TABLE chain_links (
  chain_id bigint NOT NULL,
  -- from 1, without a gap
  link bigint NOT NULL CHECK (link > 0),
  hash bytea NOT NULL,
  -- of the hash, under a key that the database does not know
  tag bytea NOT NULL,
  -- SHA-256 of each row: entries first, then audit lines
  digests bytea NOT NULL,
  player_ids bigint[] NOT NULL,
  seqs bigint[] NOT NULL,
  audit_ids bigint[] NOT NULL,
  PRIMARY KEY (chain_id, link)
);

-- How far all chains were at one moment. The hash of the last seal stands for everything before it.
CREATE TABLE chain_seals (
  seal bigint PRIMARY KEY CHECK (seal > 0),
  hash bytea NOT NULL,
  sealed_at timestamptz NOT NULL
);

-- The chains that had grown since the seal before.
CREATE TABLE chain_seal_heads (
  chain_id bigint NOT NULL,
  link bigint NOT NULL,
  seal bigint NOT NULL,
  hash bytea NOT NULL,
  PRIMARY KEY (chain_id, link)
);
CREATE INDEX chain_seal_heads_seal ON chain_seal_heads (seal, chain_id);

CREATE TRIGGER chain_links_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON chain_links
  FOR EACH STATEMENT EXECUTE FUNCTION pitboss_append_only();
CREATE TRIGGER chain_seals_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON chain_seals
  FOR EACH STATEMENT EXECUTE FUNCTION pitboss_append_only();
CREATE TRIGGER chain_seal_heads_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON chain_seal_heads
  FOR EACH STATEMENT EXECUTE FUNCTION pitboss_append_only();

-- Rows from before there were chains have ids below this one. They are linked in the background; the position says how far that is.
CREATE TABLE chain_old_rows (
  id integer PRIMARY KEY DEFAULT 1 CHECK (id = 1),
  before_id bigint NOT NULL,
  player_id bigint NOT NULL DEFAULT 0,
  seq bigint NOT NULL DEFAULT 0,
  audit_id bigint NOT NULL DEFAULT 0,
  is_done boolean NOT NULL
);
INSERT INTO chain_old_rows (before_id, is_done)
SELECT last_value + 4096, NOT EXISTS (SELECT FROM ledger_entries) AND NOT EXISTS (SELECT FROM audit_log) FROM ids;
