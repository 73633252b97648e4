-- Limits that a player begins with, by name: minor units of the operator's currency, minutes for max_session_minutes; empty: none.
ALTER TABLE operators ADD COLUMN default_limits jsonb NOT NULL DEFAULT '{}';
