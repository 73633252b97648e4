-- The most that one round of an original takes and pays, in minor units of the operator's currency.
ALTER TABLE operators
  ADD COLUMN original_max_stake bigint NOT NULL DEFAULT 100000 CHECK (original_max_stake > 0),
  ADD COLUMN original_max_payout bigint NOT NULL DEFAULT 10000000 CHECK (original_max_payout > 0);
