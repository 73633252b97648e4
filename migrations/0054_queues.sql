-- Queues of payments and alerts, and what a person needs to know to decide.

-- Whether a withdrawal is the first of its player: one probe, however many payments there are.
CREATE INDEX IF NOT EXISTS payment_requests_withdrawn ON payment_requests (player_id, created_at)
  WHERE type = 'withdrawal' AND status = 'paid';

-- The most severe first, of those the oldest. The rank is a column, because an order has columns of one direction.
ALTER TABLE compliance_alerts ADD COLUMN IF NOT EXISTS severity_rank smallint NOT NULL GENERATED ALWAYS AS (
  CASE severity WHEN 'critical' THEN 0 WHEN 'high' THEN 1 WHEN 'medium' THEN 2 ELSE 3 END) STORED;
CREATE INDEX IF NOT EXISTS compliance_alerts_severity ON compliance_alerts (severity_rank, created_at, id);
CREATE INDEX IF NOT EXISTS compliance_alerts_operator_severity ON compliance_alerts (operator_id, severity_rank, created_at, id);

-- Alerts of a player, open and earlier ones.
CREATE INDEX IF NOT EXISTS compliance_alerts_player ON compliance_alerts (player_id, created_at DESC, id DESC);

-- What a player has in common with others.
CREATE INDEX IF NOT EXISTS player_facts_player ON player_facts (player_id);
