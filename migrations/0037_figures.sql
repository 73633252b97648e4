-- What the pages of staff show beyond lists: figures by the hour, cases, the last answer of a receiver.

-- An operator's figures of a day (UTC) as they had come to at a full hour, in the operator's currency at that moment, without test players.
-- An hour's own figures are the difference of two readings; those of whole days are in daily_sums. provider_id 0: of no game, and the players.
CREATE TABLE figure_hours (
  operator_id bigint NOT NULL,
  at timestamptz NOT NULL,
  provider_id bigint NOT NULL,
  rounds bigint NOT NULL,
  bets bigint NOT NULL,
  wins bigint NOT NULL,
  bonus_conversions bigint NOT NULL,
  deposits bigint NOT NULL,
  withdrawals bigint NOT NULL,
  players bigint NOT NULL,
  registrations bigint NOT NULL,
  PRIMARY KEY (operator_id, at, provider_id)
);
CREATE INDEX figure_hours_age ON figure_hours USING brin (at);

-- What players of an operator held at a moment, in their currencies, without test players: read by a job, since no bet adds to a total.
CREATE TABLE figure_funds (
  operator_id bigint NOT NULL,
  currency text NOT NULL,
  wallet text NOT NULL CHECK (wallet IN ('real', 'bonus')),
  amount numeric NOT NULL,
  players bigint NOT NULL,
  at timestamptz NOT NULL,
  PRIMARY KEY (operator_id, currency, wallet)
);

-- Who works on an alert.
ALTER TABLE compliance_alerts ADD COLUMN assigned_to bigint;
CREATE INDEX IF NOT EXISTS compliance_alerts_assigned ON compliance_alerts (assigned_to, created_at DESC, id DESC) WHERE status <> 'closed';

-- Of the last attempt: the beginning of the answer, how long it took, and what was sent with it.
ALTER TABLE webhook_deliveries ADD COLUMN response_body text;
ALTER TABLE webhook_deliveries ADD COLUMN duration_ms integer;
ALTER TABLE webhook_deliveries ADD COLUMN sent_at timestamptz;

-- Grants of a bonus, newest first, and those that may still cost something.
CREATE INDEX IF NOT EXISTS player_bonuses_bonus ON player_bonuses (bonus_id, created_at DESC, id DESC);
CREATE INDEX IF NOT EXISTS player_bonuses_liable ON player_bonuses (operator_id, bonus_id) WHERE state <> 'finished';

-- Today's counts of all operators, read by the pages of staff.
CREATE INDEX IF NOT EXISTS player_counts_day ON player_counts (created_on, operator_id);
CREATE INDEX IF NOT EXISTS payment_counts_day ON payment_counts (created_on, operator_id);
