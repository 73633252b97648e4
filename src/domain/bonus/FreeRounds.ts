/** Free rounds at a vendor: who may have them. What they win is settled like any other win. */
import { activeExclusion, type Player } from "../player/Player.ts"
import { type Refusal, refuse } from "../Refusal.ts"

/** `failed`: the vendor did not confirm them. */
export const freeRoundsStatuses = ["issued", "finished", "cancelled", "failed"] as const

export type FreeRoundsStatus = typeof freeRoundsStatuses[number]

/** Why a player gets no free rounds; undefined when nothing is in the way. */
export const refuseFreeRounds = (player: Player, now: number): Refusal<"PLAYER_RESTRICTED"> | undefined => {
  if (player.status !== "active") {
    return refuse("PLAYER_RESTRICTED", `The account is ${player.status}.`, { reason: player.status })
  }
  const exclusion = activeExclusion(player, now)
  if (exclusion !== null) {
    return refuse("PLAYER_RESTRICTED", "The player is excluded from play.", { reason: exclusion.type })
  }
  if (!player.restrictions.canBet) {
    return refuse("PLAYER_RESTRICTED", "Betting is disabled for this player.", { reason: "can_bet" })
  }
  return player.restrictions.excludedFromBonuses
    ? refuse("PLAYER_RESTRICTED", "The player is excluded from bonuses.", { reason: "excluded_from_bonuses" })
    : undefined
}
