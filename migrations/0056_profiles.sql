-- Profiles of jurisdictions: documents in versions, which operators offer them and which players have them.

-- Version 1 of a built-in code is no row: it comes with the service.
CREATE TABLE profile_versions (
  code text NOT NULL,
  version integer NOT NULL,
  document jsonb NOT NULL,
  valid_from timestamptz NOT NULL,
  -- from then on what is looser than before counts as well
  looser_from timestamptz NOT NULL,
  -- null: waits for an approval, and does not count
  approved_at timestamptz,
  approved_by text,
  imported_at timestamptz NOT NULL,
  imported_by text NOT NULL,
  PRIMARY KEY (code, version)
);

-- Value of a minor unit of a currency in those of the profile's own, as it was when the code first met the currency.
CREATE TABLE profile_factors (
  code text NOT NULL,
  currency text NOT NULL,
  factor numeric NOT NULL,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (code, currency)
);

ALTER TABLE operators
  ADD COLUMN profiles text[] NOT NULL DEFAULT '{none}',
  ADD COLUMN default_profile text NOT NULL DEFAULT 'none';

ALTER TABLE players
  ADD COLUMN jurisdiction text NOT NULL DEFAULT 'none',
  -- the code before, whose stricter rules count until then
  ADD COLUMN former_jurisdiction text,
  ADD COLUMN former_until timestamptz;
