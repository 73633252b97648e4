/** Eligibility of players for free rounds at a vendor. Wins of free rounds are settled like any others. */
import { refuseExcluded } from "../player/RegisterAdmission.ts"
import { activeExclusion, type Player } from "../state/Player.ts"
import { type Refusal, refuse } from "../Refusal.ts"

/** `failed`: not confirmed by the vendor. */
export const freeRoundsStatuses = ["issued", "finished", "cancelled", "failed"] as const

export type FreeRoundsStatus = typeof freeRoundsStatuses[number]

/** Reason for refusing free rounds to a player; undefined when allowed. */
export const refuseFreeRounds = (player: Player, now: number): Refusal<"PLAYER_RESTRICTED"> | undefined => {
  if (player.status !== "active") {
    return refuse("PLAYER_RESTRICTED", `The account is ${player.status}.`, { reason: player.status })
  }
  const exclusion = activeExclusion(player, now)
  if (exclusion !== null) {
    return refuse("PLAYER_RESTRICTED", "The player is excluded from play.", { reason: exclusion.type })
  }
  const byRegister = refuseExcluded(player)
  if (byRegister !== undefined) return byRegister
  if (!player.restrictions.canBet) {
    return refuse("PLAYER_RESTRICTED", "Betting is disabled for this player.", { reason: "can_bet" })
  }
  return player.restrictions.excludedFromBonuses
    ? refuse("PLAYER_RESTRICTED", "The player is excluded from bonuses.", { reason: "excluded_from_bonuses" })
    : undefined
}
