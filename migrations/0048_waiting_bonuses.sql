-- Bonuses that wait with nothing left, until nothing can bring money back any more (docs/decisions/0026-undone-ends.md): found by the job `bonuses`.
CREATE INDEX IF NOT EXISTS player_bonuses_waiting_until ON player_bonuses (open_until) WHERE state = 'pending' AND open_until IS NOT NULL;
