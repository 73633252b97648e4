-- A conversion is reversed when a rollback takes the wagered amount below the requirement: what the real wallet got of the bonus
-- after the conversion goes back with it, and what comes to the bonus wallet again beside the converted amount is kept apart.
ALTER TABLE player_bonuses
  ADD COLUMN late_amount bigint NOT NULL DEFAULT 0,
  ADD COLUMN restored_amount bigint NOT NULL DEFAULT 0;

UPDATE player_bonuses b SET late_amount = e.late
FROM (SELECT player_bonus_id, player_id, sum(amount) AS late FROM ledger_entries
  WHERE player_bonus_id IS NOT NULL AND wallet = 'real' AND type IN ('casino_win', 'casino_rollback')
  GROUP BY player_bonus_id, player_id) e
WHERE b.id = e.player_bonus_id AND b.player_id = e.player_id AND b.result = 'converted' AND e.late <> 0;
