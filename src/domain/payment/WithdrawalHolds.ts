/**
 * Alerts that hold a player's withdrawals, separate from staff restrictions: closing an alert removes its own hold and nothing else
 * (`docs/decisions/0023-compliance.md`).
 */
import { acceptSettings } from "../player/AccountStatus.ts"
import type { AlertRule } from "../compliance/AlertRules.ts"
import { answer, type Context, type Decision, refused } from "../state/Decision.ts"
import { Draft } from "../state/Draft.ts"
import { activeHoldIds, type Player, type WithdrawalHold } from "../state/Player.ts"
import { type Refusal, refuse } from "../Refusal.ts"

/** Maximum number of holds of a player; further ones would change nothing. */
const maxHolds = 20

/**
 * Adds a hold. When full, it replaces the oldest hold lifted by staff, whose alert then has nothing to remove on closing. Undefined when all of them
 * are in force.
 */
export const withHold = (
  holds: ReadonlyArray<WithdrawalHold>,
  alertId: number
): ReadonlyArray<WithdrawalHold> | undefined => {
  const added = { alertId, isLifted: false }
  if (holds.length < maxHolds) return [...holds, added]
  const lifted = holds.findIndex(({ isLifted }) => isLifted)
  return lifted === -1 ? undefined : [...holds.toSpliced(lifted, 1), added]
}

const noRoom = refuse("TRY_AGAIN", `${maxHolds} alerts already hold the withdrawals of this player: close one first.`, {
  max_holds: maxHolds
})

export interface PlaceHold {
  readonly alertId: number
  readonly rule: AlertRule
  /** Audit log label of staff who place it by hand, which puts a lifted hold in force again. Absent when the rule places it. */
  readonly actor?: string
}

/** Holds withdrawals for an alert. An existing hold is unchanged, as is one lifted by staff unless staff place it again. */
export const placeHoldStep = ({ actor, alertId, rule }: PlaceHold) =>
(
  player: Player,
  context: Context
): Decision<Player, Refusal<"TRY_AGAIN">> => {
  const there = player.withdrawalHolds.find((hold) => hold.alertId === alertId)
  if (there !== undefined && (actor === undefined || !there.isLifted)) return answer(player, player)
  const withdrawalHolds = withHold(player.withdrawalHolds.filter((hold) => hold !== there), alertId)
  if (withdrawalHolds === undefined) return refused(noRoom)
  return acceptSettings(new Draft(player, context), { withdrawalHolds }, {
    actor: actor ?? "compliance",
    action: "player.hold",
    before: { withdrawal_holds: activeHoldIds(player.withdrawalHolds) },
    after: { withdrawal_holds: activeHoldIds(withdrawalHolds) },
    reason: `alert ${alertId}: ${rule}`
  })
}

export interface ReleaseHold {
  readonly alertId: number
  readonly actor: string
}

/** Removes the hold of an alert that is closed or no longer holds. */
export const releaseHoldStep =
  ({ actor, alertId }: ReleaseHold) => (player: Player, context: Context): Decision<Player, never> => {
    const withdrawalHolds = player.withdrawalHolds.filter((hold) => hold.alertId !== alertId)
    if (withdrawalHolds.length === player.withdrawalHolds.length) return answer(player, player)
    return acceptSettings(new Draft(player, context), { withdrawalHolds }, {
      actor,
      action: "player.hold",
      before: { withdrawal_holds: activeHoldIds(player.withdrawalHolds) },
      after: { withdrawal_holds: activeHoldIds(withdrawalHolds) },
      reason: `alert ${alertId} holds no more`
    })
  }
