-- What the service keeps for itself, sealed under the master key. That it opens at the start shows that the key is the right one.
CREATE TABLE kept_secrets (
  name text PRIMARY KEY,
  sealed bytea NOT NULL,
  created_at timestamptz NOT NULL
);

-- A server seed that no key opens any more is retired without being revealed.
ALTER TABLE server_seeds ADD COLUMN lost boolean NOT NULL DEFAULT false;
ALTER TABLE server_seeds DROP CONSTRAINT server_seeds_check;
ALTER TABLE server_seeds ADD CONSTRAINT server_seeds_revealed CHECK ((server_seed IS NULL) = (retired_at IS NULL OR lost));
ALTER TABLE server_seeds ADD CONSTRAINT server_seeds_lost CHECK (NOT lost OR retired_at IS NOT NULL);
