-- When a signed request of the key was accepted for the first time; null: not yet, or before this was recorded and not since.
ALTER TABLE api_keys ADD COLUMN first_used_at timestamptz;
