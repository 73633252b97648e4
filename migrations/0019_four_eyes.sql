-- Four eyes are two people: who made an account and issued its tokens, who approved second, corrections that wait for a second
-- person, and what each member of staff has given away.

ALTER TABLE staff ADD COLUMN created_by text;
ALTER TABLE staff ADD COLUMN token_issued_by text;
ALTER TABLE staff ADD COLUMN last_used_at timestamptz;
-- What one may give away alone in a day, in minor units of each operator's currency; null: without a bound.
ALTER TABLE staff ADD COLUMN daily_budget bigint DEFAULT 1000000 CHECK (daily_budget >= 0);

-- Every token there was, by whom it was issued. Only added to.
CREATE TABLE staff_tokens (
  staff_id bigint NOT NULL REFERENCES staff,
  issued_at timestamptz NOT NULL,
  -- as the audit log names who acts
  issued_by text NOT NULL,
  PRIMARY KEY (staff_id, issued_at)
);
INSERT INTO staff_tokens (staff_id, issued_at, issued_by)
SELECT DISTINCT ON (s.id, a.at) s.id, a.at, a.actor FROM staff s
JOIN audit_log a ON a.action IN ('staff.create', 'staff.rotate') AND a.subject = 'staff:' || s.id
ORDER BY s.id, a.at, a.id DESC;
UPDATE staff s SET
  created_by = (SELECT actor FROM audit_log a WHERE a.action = 'staff.create' AND a.subject = 'staff:' || s.id LIMIT 1),
  token_issued_by = (SELECT issued_by FROM staff_tokens t WHERE t.staff_id = s.id ORDER BY issued_at DESC LIMIT 1);

-- The bootstrap token once it is retired; no row: it is not.
CREATE TABLE bootstrap_retirement (
  only_one boolean PRIMARY KEY DEFAULT true CHECK (only_one),
  retired_at timestamptz NOT NULL,
  retired_by text NOT NULL
);

ALTER TABLE payment_requests ADD COLUMN second_approved_by text;

-- Corrections that a second person has to approve. What one person may do alone is in the ledger and in staff_spending only.
CREATE TABLE corrections (
  id bigint PRIMARY KEY,
  operator_id bigint NOT NULL REFERENCES operators,
  player_id bigint NOT NULL REFERENCES players,
  wallet text NOT NULL CHECK (wallet IN ('real', 'bonus')),
  amount bigint NOT NULL CHECK (amount <> 0),
  currency text NOT NULL,
  reason text NOT NULL,
  status text NOT NULL CHECK (status IN ('pending', 'posted', 'rejected')),
  requested_by text NOT NULL,
  requested_at timestamptz NOT NULL,
  decided_by text,
  decided_at timestamptz,
  -- of the ledger
  transaction_id bigint,
  reject_reason text,
  CHECK ((status = 'pending') = (decided_at IS NULL)),
  CHECK ((status = 'posted') = (transaction_id IS NOT NULL))
);
CREATE INDEX corrections_time ON corrections (requested_at DESC, id DESC);
CREATE INDEX corrections_operator ON corrections (operator_id, requested_at DESC, id DESC);
CREATE INDEX corrections_waiting ON corrections (player_id) WHERE status = 'pending';

-- What staff have given players, or taken: corrections and bonuses. Written before it is done; released when it was refused.
CREATE TABLE staff_spending (
  id bigint PRIMARY KEY,
  at timestamptz NOT NULL,
  -- as the audit log names who acts; whoever asked for it
  staff text NOT NULL,
  -- a correction's second person
  approved_by text,
  operator_id bigint NOT NULL REFERENCES operators,
  player_id bigint NOT NULL REFERENCES players,
  kind text NOT NULL CHECK (kind IN ('correction', 'bonus')),
  -- signed minor units of the player's currency
  amount bigint NOT NULL,
  -- minor units of the operator's currency, without a sign; null: there was no rate
  value bigint,
  is_released boolean NOT NULL DEFAULT false
);
CREATE INDEX staff_spending_staff ON staff_spending (staff, operator_id, at);
CREATE INDEX staff_spending_player ON staff_spending (player_id, at);
