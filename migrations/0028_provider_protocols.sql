-- Providers speak a protocol: Pitboss's own, or a vendor's, with the settings of that vendor.
ALTER TABLE providers
  ADD COLUMN protocol text NOT NULL DEFAULT 'pitboss',
  -- what may be shown; by the protocol's own names
  ADD COLUMN settings jsonb NOT NULL DEFAULT '{}',
  -- the others, as one JSON object: AES-256-GCM under the master key
  ADD COLUMN settings_sealed bytea,
  -- how often the vendor's catalogue is read; 0: never
  ADD COLUMN sync_hours integer NOT NULL DEFAULT 24 CHECK (sync_hours BETWEEN 0 AND 8760);

-- Work that is done for a provider at a vendor: when it is due again, and what came of it.
CREATE TABLE provider_errands (
  provider_id bigint NOT NULL REFERENCES providers,
  kind text NOT NULL CHECK (kind IN ('sync', 'reconcile')),
  next_at timestamptz NOT NULL,
  failures integer NOT NULL DEFAULT 0,
  last_error text,
  last_ended_at timestamptz,
  PRIMARY KEY (provider_id, kind)
);
