-- Withdrawals: what the rules read of them, who approved one first, and quick lists.

-- The sum of the player's requests that were not rejected or cancelled, in minor units.
ALTER TABLE accounts ADD COLUMN withdrawn bigint NOT NULL DEFAULT 0 CHECK (withdrawn >= 0);

UPDATE accounts a SET withdrawn = w.total
FROM (
  SELECT player_id, sum(amount) AS total FROM payment_requests
  WHERE type = 'withdrawal' AND status NOT IN ('rejected', 'cancelled') GROUP BY player_id
) w
WHERE w.player_id = a.player_id;

-- As the audit log names who acts: who holds the bootstrap token has no id.
ALTER TABLE payment_requests ALTER COLUMN first_approved_by TYPE text USING 'staff:' || first_approved_by;

-- Lists go by time, newest first: ids of several services at work do not.
DROP INDEX payment_requests_operator;
DROP INDEX payment_requests_player;
CREATE INDEX payment_requests_operator ON payment_requests (operator_id, created_at DESC, id DESC);
CREATE INDEX payment_requests_player ON payment_requests (player_id, created_at DESC, id DESC);
CREATE INDEX payment_requests_waiting ON payment_requests (operator_id, created_at DESC, id DESC)
  WHERE status IN ('new', 'allowed');
