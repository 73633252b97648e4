-- Lists of staff that are read from a position on, however long they are.

-- Deliveries that wait or have failed: few among many. One that is delivered leaves it, and the index of a webhook's log has it.
CREATE INDEX IF NOT EXISTS webhook_deliveries_undelivered ON webhook_deliveries (endpoint_id, status, created_at DESC, id DESC)
  WHERE status <> 'delivered';

-- Corrections of a player, and those that wait for a second person.
CREATE INDEX IF NOT EXISTS corrections_player ON corrections (player_id, requested_at DESC, id DESC);
CREATE INDEX IF NOT EXISTS corrections_pending ON corrections (requested_at DESC, id DESC) WHERE status = 'pending';
