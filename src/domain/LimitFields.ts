/** Names of a player's limits (SPEC section 2.9). Values are minor units, for `max_session_minutes` minutes. */
export const limitFields = [
  "max_single_bet",
  "max_daily_bet",
  "max_weekly_bet",
  "max_monthly_bet",
  "casino_max_single_bet",
  "casino_max_daily_bet",
  "max_daily_loss",
  "max_weekly_loss",
  "max_monthly_loss",
  "max_single_deposit",
  "max_daily_deposit",
  "max_weekly_deposit",
  "max_monthly_deposit",
  "max_yearly_deposit",
  "max_balance",
  "max_session_minutes"
] as const

export type LimitField = (typeof limitFields)[number]
