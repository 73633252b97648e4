-- What a player's deposits, and withdrawals asked for, of a day may come to, in minor units of the operator's currency; null: no cap.
ALTER TABLE operators
  ADD COLUMN daily_deposit_cap bigint CHECK (daily_deposit_cap >= 0),
  ADD COLUMN daily_withdrawal_cap bigint CHECK (daily_withdrawal_cap >= 0);
