-- The end that the first person saw and the one that both accept, as JSON: an acceptance holds while the tables still go on from it
-- (docs/decisions/0029-chain-of-hashes.md). A request or acceptance without them is none.
ALTER TABLE ledger_restores
  ADD COLUMN requested_end text,
  ADD COLUMN request_tag bytea,
  ADD COLUMN accepted_end text;
