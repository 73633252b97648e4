/**
 * Move of a player to another jurisdiction of the operator, by staff. Running exclusions and pending limit raises stay as they are; a cap on net
 * deposits that staff raised does not.
 */
import { returnWaitOf } from "../jurisdiction/ExclusionPeriods.ts"
import { isLooserElsewhere, rulesWhileMoving } from "../jurisdiction/Moves.ts"
import { ageAt, type Rules } from "../jurisdiction/Rules.ts"
import { acceptSettings } from "../player/AccountStatus.ts"
import { type Refusal, refuse, refuseFields } from "../Refusal.ts"
import { answer, type Context, type Decision, refused } from "../state/Decision.ts"
import { Draft } from "../state/Draft.ts"
import type { Player } from "../state/Player.ts"
import { looserFrom } from "./LimitRaise.ts"

export interface MoveJurisdiction {
  /** The rules that count of the other jurisdiction, in the player's currency. */
  readonly to: Rules
  /** The operator's, for raises. */
  readonly coolingOffHours: number
  readonly reason: string
  /** Audit log label of the actor. */
  readonly actor: string
}

export type MoveRefusal = Refusal<"VALIDATION_FAILED" | "RESPONSIBLE_GAMING_RULE">

const iso = (at: number): string => new Date(at).toISOString()

const shown = ({ code, moved, version }: Rules) => ({
  jurisdiction: code,
  version,
  looser_from: moved === null ? null : iso(moved.until)
})

/** An exclusion keeps its way of ending: one that carries no wait of its own takes that of the jurisdiction left. */
const keptWait = ({ exclusion, rules }: Player): Partial<Pick<Player, "exclusion">> =>
  exclusion?.onRequest === undefined || exclusion.onRequest.wait !== undefined
    ? {}
    : { exclusion: { ...exclusion, onRequest: { ...exclusion.onRequest, wait: returnWaitOf(rules.breaks) } } }

/**
 * Moves a player. While an earlier move waits for what is looser, only the way back is open, and that waits as long: a way through a third jurisdiction
 * would cut the wait short.
 */
export const moveJurisdictionStep =
  ({ actor, coolingOffHours, reason, to }: MoveJurisdiction) =>
  (player: Player, context: Context): Decision<Player, MoveRefusal> => {
    const { now } = context
    const { birthDay, rules } = player
    if (to.code === rules.code) return answer(player, player)
    if (rules.moved !== null && rules.moved.from !== to.code) {
      return refused(
        refuse("RESPONSIBLE_GAMING_RULE", "The rules of an earlier change of jurisdiction are not all in force yet.", {
          looser_from: iso(rules.moved.until)
        })
      )
    }
    if (ageAt(birthDay, now) < to.minimum_age) {
      return refused(
        refuseFields({ to: [`requires an age of at least ${to.minimum_age} years, and the player is younger`] })
      )
    }
    const until = Math.max(looserFrom(now, rules, coolingOffHours), rules.moved?.until ?? now)
    const next = rules.moved !== null || isLooserElsewhere(rules, to)
      ? rulesWhileMoving(rules, to, { from: rules.code, until })
      : to
    const { netDepositCap: cap } = player
    const shownCap = (value: number | null) => cap === null ? {} : { net_deposit_cap: value }
    // staff decided on a cap under the rules of the jurisdiction left: it says nothing of the other one's
    return acceptSettings(new Draft(player, context), { rules: next, netDepositCap: null, ...keptWait(player) }, {
      actor,
      action: "player.jurisdiction",
      before: { ...shown(rules), ...shownCap(cap) },
      after: { ...shown(next), ...shownCap(null) },
      reason
    })
  }
