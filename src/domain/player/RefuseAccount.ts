/**
 * Account checks before a sign-in, deposit or bet: the account is active, staff or operator have not disabled the action for the player, and neither
 * an exclusion nor an unmet obligation (such as accepting new terms) stops it.
 */
import { type Refusal, refuse } from "../Refusal.ts"
import { refuseByRegisters, refuseExcluded, type RegisterMoment, type RegisterRefusal } from "./RegisterAdmission.ts"
import { gatedBy } from "../obligation/Obligations.ts"
import type { Gate } from "../state/Obligation.ts"
import { activeExclusion, type Player } from "../state/Player.ts"

const words = {
  canLogin: { reason: "can_login", disabled: "Logging in is", excluded: "play" },
  canDeposit: { reason: "can_deposit", disabled: "Deposits are", excluded: "depositing" },
  canBet: { reason: "can_bet", disabled: "Betting is", excluded: "play" }
} as const

/** Reason for refusing an ability to the player at `now`, whatever registers are still to be asked; undefined when allowed. */
export const refuseAccount = (
  player: Player,
  ability: keyof typeof words,
  now: number
): Refusal<"PLAYER_RESTRICTED"> | undefined =>
  refuseOwn(player, ability, now) ?? refuseExcluded(player) ?? refuseGated(player, ability, now)

/** As {@link refuseAccount}, at a moment that registers may have to be asked at. */
export const refuseAccountAt = (
  player: Player,
  ability: keyof typeof words,
  moment: RegisterMoment,
  now: number
): Refusal<"PLAYER_RESTRICTED"> | RegisterRefusal | undefined =>
  refuseOwn(player, ability, now) ?? refuseByRegisters(player, moment, now) ?? refuseGated(player, ability, now)

/** Refusal by the account itself: its status, its restrictions, its own exclusion. */
const refuseOwn = (
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
  return exclusion === null
    ? undefined
    : refuse("PLAYER_RESTRICTED", `The player is excluded from ${excluded}.`, { reason: exclusion.type })
}

/** Refusal by obligations that are open. */
const refuseGated = (player: Player, ability: keyof typeof words, now: number) => {
  const gate = gateOf[ability]
  const obligations = gate === undefined ? [] : gatedBy(player, gate, now)
  return obligations.length === 0
    ? undefined
    : refuse("PLAYER_RESTRICTED", `The player has to meet an obligation first: ${obligations.join(", ")}.`, {
      reason: "obligation",
      obligations
    })
}

/** What an obligation stops of each ability; signing in is never stopped by one. */
const gateOf: { readonly [ability in keyof typeof words]?: Gate } = { canBet: "play", canDeposit: "deposit" }
