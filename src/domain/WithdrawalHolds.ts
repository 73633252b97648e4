/**
 * Alerts that stop a player's withdrawals, apart from what staff restrict: closing an alert takes away its own hold and nothing
 * else (`docs/decisions/0023-compliance.md`).
 */
import { acceptSettings } from "./AccountStatus.ts"
import type { AlertRule } from "./AlertRules.ts"
import { answer, type Context, type Decision } from "./Decision.ts"
import { Draft } from "./Draft.ts"
import { heldBy, type Player } from "./Player.ts"

export interface PlaceHold {
  readonly alertId: number
  readonly rule: AlertRule
}

/** Stops withdrawals for an alert. One that is there already, or that staff have lifted, is left as it is. */
export const placeHoldStep =
  ({ alertId, rule }: PlaceHold) => (player: Player, context: Context): Decision<Player, never> => {
    if (player.withdrawalHolds.some((hold) => hold.alertId === alertId)) return answer(player, player)
    const withdrawalHolds = [...player.withdrawalHolds, { alertId, isLifted: false }]
    return acceptSettings(new Draft(player, context), { withdrawalHolds }, {
      actor: "compliance",
      action: "player.hold",
      before: { withdrawal_holds: heldBy(player.withdrawalHolds) },
      after: { withdrawal_holds: heldBy(withdrawalHolds) },
      reason: `alert ${alertId}: ${rule}`
    })
  }

export interface ReleaseHold {
  readonly alertId: number
  readonly actor: string
}

/** Takes away the hold of an alert that is over. */
export const releaseHoldStep =
  ({ actor, alertId }: ReleaseHold) => (player: Player, context: Context): Decision<Player, never> => {
    const withdrawalHolds = player.withdrawalHolds.filter((hold) => hold.alertId !== alertId)
    if (withdrawalHolds.length === player.withdrawalHolds.length) return answer(player, player)
    return acceptSettings(new Draft(player, context), { withdrawalHolds }, {
      actor,
      action: "player.hold",
      before: { withdrawal_holds: heldBy(player.withdrawalHolds) },
      after: { withdrawal_holds: heldBy(withdrawalHolds) },
      reason: `alert ${alertId} is closed`
    })
  }
