/**
 * A player's standing: the actions that the player may take now, and the refusal of each other one.
 *
 * The answers come from the checks of each action itself, for the smallest amount, so that they agree with it. The balance is left out: a player
 * without money is refused by the wallet.
 */
import { refuseWagered } from "../bonus/BonusGrants.ts"
import { refuseNetDeposit } from "../limit/NetDepositCap.ts"
import { refuseDailyCap } from "../payment/Payments.ts"
import { refuseUnverified, refuseWithdrawer } from "../payment/Withdrawals.ts"
import type { Refusal } from "../Refusal.ts"
import { bindingLimits, refuseBet, refuseDeposit, roll } from "../state/Limits.ts"
import { activeExclusion, exclusionEnd, type Player } from "../state/Player.ts"
import { refuseAccount } from "../player/RefuseAccount.ts"

export const abilities = ["sign_in", "deposit", "bet", "withdraw", "receive_bonuses"] as const

export type AbilityName = (typeof abilities)[number]

/** The operator's caps, in minor units of the player's currency; null: no cap. */
export interface StandingTerms {
  readonly kycThreshold: number | null
  readonly dailyDepositCap: number | null
  readonly dailyWithdrawalCap: number | null
}

/** One minor unit. */
const smallest = 1

/** Refusal of each ability at `now` (epoch milliseconds); undefined where the player may. */
export const standing = (
  player: Player,
  { dailyDepositCap, dailyWithdrawalCap, kycThreshold }: StandingTerms,
  now: number
): { readonly [ability in AbilityName]: Refusal | undefined } => {
  const limits = bindingLimits(player, now)
  const { counters } = player
  const used = roll(counters, now)
  // the loss limits count real money only, which is staked first
  const realStake = player.real <= 0 && player.bonus > 0 ? 0 : smallest
  return {
    sign_in: refuseAccount(player, "canLogin", now),
    deposit: refuseAccount(player, "canDeposit", now) ??
      refuseDailyCap("deposit", used.depositDay, { amount: smallest, dailyCap: dailyDepositCap }) ??
      refuseNetDeposit(player, smallest, now) ??
      refuseDeposit(limits, counters, smallest, player.real, now),
    bet: refuseAccount(player, "canBet", now) ?? refuseBet(limits, counters, smallest, realStake, now),
    withdraw: refuseWithdrawer(player) ??
      refuseDailyCap("withdrawal", used.withdrawalDay, { amount: smallest, dailyCap: dailyWithdrawalCap }) ??
      refuseUnverified(player, { amount: smallest, kycThreshold }),
    receive_bonuses: refuseWagered(player, now)
  }
}

/** End of the cause of a refusal, ISO 8601: of the exclusion, or of the window of a limit; null: it does not end by itself. */
export const causeEnd = (player: Player, { code, details }: Refusal, now: number): string | null => {
  if (code === "LIMIT_EXCEEDED") return typeof details.resets_at === "string" ? details.resets_at : null
  const exclusion = activeExclusion(player, now)
  const end = exclusion === null || details.reason !== exclusion.type ? null : exclusionEnd(exclusion)
  return end === null ? null : new Date(end).toISOString()
}
