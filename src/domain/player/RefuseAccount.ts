/** Account checks of an action: active account, no restriction of the ability, no exclusion. */
import { type Refusal, refuse } from "../Refusal.ts"
import { missingLimits } from "../state/Limits.ts"
import { activeExclusion, type Player } from "../state/Player.ts"

const words = {
  canLogin: { reason: "can_login", disabled: "Logging in is", excluded: "play" },
  canDeposit: { reason: "can_deposit", disabled: "Deposits are", excluded: "depositing" },
  canBet: { reason: "can_bet", disabled: "Betting is", excluded: "play" }
} as const

/** Reason for refusing an ability to the player at `now`; undefined when allowed. */
export const refuseAccount = (
  player: Player,
  ability: keyof typeof words,
  now: number
): Refusal<"PLAYER_RESTRICTED"> | undefined => {
  if (player.status !== "active") {
    return refuse("PLAYER_RESTRICTED", `The account is ${player.status}.`, { reason: player.status })
  }
  const { disabled, excluded, reason } = words[ability]
  if (!player.restrictions[ability]) {
    return refuse("PLAYER_RESTRICTED", `${disabled} disabled for this player.`, { reason })
  }
  const exclusion = activeExclusion(player, now)
  if (exclusion !== null) {
    return refuse("PLAYER_RESTRICTED", `The player is excluded from ${excluded}.`, { reason: exclusion.type })
  }
  return isGated(player, ability, now)
    ? refuse("PLAYER_RESTRICTED", "The player has to set limits first.", {
      reason: "obligation",
      obligations: ["required_limits"]
    })
    : undefined
}

/** Whether a limit that the jurisdiction requires is missing for what is asked. */
const isGated = (player: Player, ability: keyof typeof words, now: number): boolean => {
  const { required, required_before: before } = player.rules.limits
  return required.length > 0 && (ability === "canBet" || ability === "canDeposit" && before === "deposit") &&
    missingLimits(player, now).length > 0
}
