/**
 * Alerts that stop a player's withdrawals, apart from what staff restrict: closing an alert takes away its own hold and nothing
 * else (`docs/decisions/0023-compliance.md`).
 */
import { acceptSettings } from "../player/AccountStatus.ts"
import type { AlertRule } from "../compliance/AlertRules.ts"
import { answer, type Context, type Decision, refused } from "../Decision.ts"
import { Draft } from "../Draft.ts"
import { heldBy, type Player, type WithdrawalHold } from "../player/Player.ts"
import { type Refusal, refuse } from "../Refusal.ts"

/** Alerts that a player carries at most. A player who is held by so many is held. */
const maxHolds = 20

/**
 * The holds with one more. Where there is no room the oldest that staff have lifted makes it: closing its alert takes nothing away
 * then. Undefined where all of them hold.
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

const noRoom = refuse("TRY_AGAIN", `The player is held by ${maxHolds} alerts already: close one.`, {
  max_holds: maxHolds
})

export interface PlaceHold {
  readonly alertId: number
  readonly rule: AlertRule
  /** Staff who place it by hand, as the audit log names them: then one that was lifted holds again. Absent: the rule does. */
  readonly actor?: string
}

/** Stops withdrawals for an alert. One that is there already is left as it is, and one that staff have lifted unless they place it again. */
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
    before: { withdrawal_holds: heldBy(player.withdrawalHolds) },
    after: { withdrawal_holds: heldBy(withdrawalHolds) },
    reason: `alert ${alertId}: ${rule}`
  })
}

export interface ReleaseHold {
  readonly alertId: number
  readonly actor: string
}

/** Takes away the hold of an alert that is over or holds no more. */
export const releaseHoldStep =
  ({ actor, alertId }: ReleaseHold) => (player: Player, context: Context): Decision<Player, never> => {
    const withdrawalHolds = player.withdrawalHolds.filter((hold) => hold.alertId !== alertId)
    if (withdrawalHolds.length === player.withdrawalHolds.length) return answer(player, player)
    return acceptSettings(new Draft(player, context), { withdrawalHolds }, {
      actor,
      action: "player.hold",
      before: { withdrawal_holds: heldBy(player.withdrawalHolds) },
      after: { withdrawal_holds: heldBy(withdrawalHolds) },
      reason: `alert ${alertId} holds no more`
    })
  }
