-- Messages of a day, to be compared with what a vendor has of it. They are stored about in the order in which they come.
CREATE INDEX provider_transactions_created_at ON provider_transactions USING brin (created_at);
