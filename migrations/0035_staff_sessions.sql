-- Sign-in of staff with a browser: passwords, second factors, sessions, sign-in links; the operators that an account is bound to.

-- Ids of the operators whose data the account sees and changes; null: all.
ALTER TABLE staff ADD COLUMN operator_ids bigint[];
-- Argon2id in PHC format; null: no sign-in by password.
ALTER TABLE staff ADD COLUMN password_hash text;
-- Secret of the second factor, and of one that is being set up and not confirmed yet.
ALTER TABLE staff ADD COLUMN totp_sealed bytea;
ALTER TABLE staff ADD COLUMN totp_pending_sealed bytea;
-- The last 30-second step whose code was accepted: a code works once.
ALTER TABLE staff ADD COLUMN totp_step bigint;
-- Subject at the identity provider.
ALTER TABLE staff ADD COLUMN oidc_subject text;
-- When another person last handed over a way in: a password, a sign-in link, a removed second factor.
ALTER TABLE staff ADD COLUMN entrusted_at timestamptz;

-- One name, one account, among those that sign in by it.
CREATE UNIQUE INDEX staff_sign_in_name ON staff (lower(name)) WHERE password_hash IS NOT NULL;
CREATE UNIQUE INDEX staff_oidc_subject ON staff (oidc_subject) WHERE oidc_subject IS NOT NULL;

CREATE TABLE staff_sessions (
  id bigint PRIMARY KEY,
  -- SHA-256 of the cookie's value
  token_hash bytea NOT NULL UNIQUE,
  staff_id bigint NOT NULL REFERENCES staff,
  method text NOT NULL CHECK (method IN ('password', 'ticket', 'oidc')),
  created_at timestamptz NOT NULL,
  -- to the minute
  last_seen_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  -- when the second factor was last shown; null: never in this session
  second_factor_at timestamptz,
  address text NOT NULL,
  user_agent text NOT NULL
);
CREATE INDEX staff_sessions_staff ON staff_sessions (staff_id, created_at DESC, id DESC);
CREATE INDEX staff_sessions_end ON staff_sessions (expires_at);

-- Links that sign in once.
CREATE TABLE staff_tickets (
  token_hash bytea PRIMARY KEY,
  -- null: the first admin, whose account is made when the link is used and there is none
  staff_id bigint REFERENCES staff,
  -- as the audit log names who acts
  issued_by text NOT NULL,
  created_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  used_at timestamptz
);
CREATE INDEX staff_tickets_end ON staff_tickets (expires_at);

-- Codes that stand in for the second factor, each once.
CREATE TABLE staff_recovery_codes (
  staff_id bigint NOT NULL REFERENCES staff,
  code_hash bytea NOT NULL,
  PRIMARY KEY (staff_id, code_hash)
);

-- Failed attempts to sign in, by a hash of what was attempted: a name, whether or not there is an account of it, or an account's second factor.
CREATE TABLE staff_attempts (
  subject bytea PRIMARY KEY,
  failures integer NOT NULL,
  last_at timestamptz NOT NULL
);
CREATE INDEX staff_attempts_end ON staff_attempts (last_at);
