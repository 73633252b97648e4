-- What the wins and corrections of a round that stand have moved, in both wallets, so that a list of rounds says what each one paid without reading
-- its messages: null in rounds from before, of which it is not known.
ALTER TABLE rounds ADD COLUMN won bigint;

-- Messages of the round that are rolled back.
ALTER TABLE rounds ADD COLUMN taken_back integer NOT NULL DEFAULT 0 CHECK (taken_back >= 0);
