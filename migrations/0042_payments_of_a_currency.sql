-- Amounts are compared within one currency.
CREATE INDEX IF NOT EXISTS payment_requests_currency_amount ON payment_requests (currency, amount DESC, id DESC);
DROP INDEX payment_requests_amount;
