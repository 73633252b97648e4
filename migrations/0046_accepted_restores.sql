-- Restored backups that two persons have accepted: the end that the processes remembered, and the one that took its place
-- (docs/decisions/0029-chain-of-hashes.md).
CREATE TABLE ledger_restores (
  id bigint PRIMARY KEY,
  reason text NOT NULL,
  requested_by text NOT NULL,
  requested_at timestamptz NOT NULL,
  -- null: there was no seal
  old_seal bigint,
  old_hash text,
  approved_by text,
  approved_at timestamptz,
  new_seal bigint,
  new_hash text,
  -- under the key of the chain: an acceptance that was written past the service is none
  tag bytea,
  CHECK ((approved_at IS NULL) = (tag IS NULL))
);
CREATE INDEX ledger_restores_approved ON ledger_restores (approved_at);
