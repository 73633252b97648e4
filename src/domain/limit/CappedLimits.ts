/** Player limits above the caps of the jurisdiction, for instance after a new profile version: they are lowered permanently. */
import { limitFields } from "../LimitFields.ts"
import { noteObligations } from "../obligation/Obligations.ts"
import { acceptSettings } from "../player/AccountStatus.ts"
import type { Accept, Context } from "../state/Decision.ts"
import { Draft } from "../state/Draft.ts"
import { effectiveLimits, ownLimits, waits } from "../state/Limits.ts"
import type { Player } from "../state/Player.ts"

/** Audit log label of the actor: the rules themselves. */
const actor = "profile"

/** Writes what the rules of the jurisdiction make of a player: limits that are lowered, obligations that are new or met. The reply is the next player. */
export const applyRulesStep = (player: Player, context: Context): Accept<Player> => {
  const { now } = context
  const before = effectiveLimits(player.limits, player.pendingLimits, now)
  const limits = ownLimits(player, now)
  const lowered = limitFields.filter((field) => before[field] !== limits[field])
  if (lowered.length === 0) return noteObligations(player, context)
  const shown = (values: Player["limits"]) => ({
    limits: Object.fromEntries(lowered.map((field) => [field, values[field] ?? null]))
  })
  const { code, version } = player.rules
  const pendingLimits = player.pendingLimits.filter((raise) => waits(raise, now))
  return acceptSettings(new Draft(player, context), { limits, pendingLimits }, {
    actor,
    action: "player.limits",
    before: shown(before),
    after: shown(limits),
    reason: `the jurisdiction allows no more: ${code} ${version}`
  })
}
