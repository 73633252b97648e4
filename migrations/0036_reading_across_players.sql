-- What staff look for across players: rounds, messages and entries by id and by time, payments of all operators, players by the beginning
-- of a name (docs/decisions/0049-reading-across-players.md).
--
-- On the tables that bets write these are block range indexes: a bet writes nothing more into them, for a range of pages is summed up once,
-- when the next one is begun.

-- By time, and by id: of several nodes each has a block of ids of its own, and one that is seldom asked has an old one.
CREATE INDEX IF NOT EXISTS ledger_entries_blocks ON ledger_entries
  USING brin (created_at, id int8_minmax_multi_ops) WITH (pages_per_range = 32, autosummarize = on);

-- The messages of a round, by the provider's id of it.
CREATE INDEX IF NOT EXISTS provider_transactions_round ON provider_transactions
  USING brin (round_id text_bloom_ops (n_distinct_per_range = 4000)) WITH (autosummarize = on);

-- Payments of all operators, and the largest first.
CREATE INDEX IF NOT EXISTS payment_requests_newest ON payment_requests (created_at DESC, id DESC);
CREATE INDEX IF NOT EXISTS payment_requests_amount ON payment_requests (amount DESC, id DESC);

-- Players as one types.
CREATE INDEX IF NOT EXISTS players_username_prefix ON players (operator_id, lower(username) text_pattern_ops);
CREATE INDEX IF NOT EXISTS players_email_prefix ON players (operator_id, email text_pattern_ops);
CREATE INDEX IF NOT EXISTS players_external_id_prefix ON players (operator_id, external_id text_pattern_ops) WHERE external_id IS NOT NULL;
