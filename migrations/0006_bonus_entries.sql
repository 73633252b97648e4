-- The bonus wallet's entries are few among a ledger's; what its balance was, and what moved it, is found without the others.
CREATE INDEX ledger_entries_bonus ON ledger_entries (player_id, seq) WHERE wallet = 'bonus';
