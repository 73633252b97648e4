/** Jurisdictional cap on a player's net deposits (deposits less withdrawals) in a calendar month of UTC. */
import { amountAt } from "../jurisdiction/Differences.ts"
import { ageAt } from "../jurisdiction/Rules.ts"
import { type Refusal, refuse } from "../Refusal.ts"
import { netDeposits } from "../state/Limits.ts"
import type { Player } from "../state/Player.ts"
import { windowEnd } from "../state/Windows.ts"

/** The cap of a player, in minor units of the player's currency; null where there is none. A case may have raised it for the player. */
const netDepositCap = (
  { birthDay, netDepositCap: own, rules: { deposits: { net_cap: cap } } }: Player,
  now: number
): number | null => cap === null ? null : Math.max(own ?? 0, amountAt(cap, ageAt(birthDay, now)))

/** Reason for refusing a deposit by the cap; `used` is negative where the player has withdrawn more than deposited. */
export const refuseNetDeposit = (
  player: Player,
  amount: number,
  now: number
): Refusal<"LIMIT_EXCEEDED"> | undefined => {
  const value = netDepositCap(player, now)
  const used = netDeposits(player.counters, now)
  return value === null || used + amount <= value
    ? undefined
    : refuse("LIMIT_EXCEEDED", "The deposit exceeds the jurisdiction's monthly cap on net deposits.", {
      limit: "net_deposit_cap",
      value,
      used,
      resets_at: new Date(windowEnd("month", now)).toISOString()
    })
}
