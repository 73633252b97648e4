-- Answers that hold a secret, such as a token, are kept sealed under the master key. Those that were kept in clear before are
-- removed with their keys within a day.
ALTER TABLE idempotency_keys ALTER COLUMN body DROP NOT NULL, ADD COLUMN body_sealed bytea,
  ADD CONSTRAINT idempotency_keys_one_body CHECK ((body IS NULL) <> (body_sealed IS NULL));
