-- Limits that a player or an operator set, a bit for each in the order of their names. Of those that there are it is not known who set them.
ALTER TABLE players ADD COLUMN limits_set integer NOT NULL DEFAULT 0;
UPDATE players SET limits_set = (
    SELECT coalesce(bit_or(1 << (place - 1)::integer), 0) FROM unnest(ARRAY[
      'max_single_bet', 'max_daily_bet', 'max_weekly_bet', 'max_monthly_bet', 'casino_max_single_bet', 'casino_max_daily_bet', 'max_daily_loss',
      'max_weekly_loss', 'max_monthly_loss', 'max_single_deposit', 'max_daily_deposit', 'max_weekly_deposit', 'max_monthly_deposit',
      'max_yearly_deposit', 'max_balance', 'max_session_minutes'
    ]) WITH ORDINALITY AS names (name, place) WHERE limits ? name)
  WHERE limits <> '{}';
