/**
 * Waivers by staff of a player's obligations (what the player has to do first, such as a limit review): a waiver unblocks the same actions as the
 * player's own answer, and records who decided.
 */
import { acceptDuties } from "../player/AccountStatus.ts"
import { type Refusal, refuse } from "../Refusal.ts"
import { type Context, type Decision, refused } from "../state/Decision.ts"
import { Draft } from "../state/Draft.ts"
import { promptDeclined } from "../state/Limits.ts"
import { imposedKinds, type ObligationKind } from "../state/Obligation.ts"
import type { Player } from "../state/Player.ts"
import { checkedSession, secondsOf } from "./Acknowledgements.ts"

export interface Waive {
  readonly obligationId: number
  readonly reason: string
  /** Audit log label of the actor. */
  readonly actor: string
  /** Refusal for an actor who may not release what staff or a case imposed; absent when allowed. */
  readonly mayNotRelease?: Refusal<"INSUFFICIENT_SCOPE"> | undefined
}

export type WaiveRefusal = Refusal<"RESPONSIBLE_GAMING_RULE" | "INSUFFICIENT_SCOPE">

const imposed: ReadonlySet<ObligationKind> = new Set(imposedKinds)

const notOpen = refuse("RESPONSIBLE_GAMING_RULE", "The obligation has already been met or waived.")

/** What stands in a player's settings for an answer that is not asked for any more; undefined where only the player can give it. */
const settingsBy: {
  readonly [kind in ObligationKind]: ((player: Player, now: number) => Partial<Player>) | undefined
} = {
  required_limits: undefined,
  limit_prompt: ({ limitsSet }) => ({ limitsSet: limitsSet | promptDeclined }),
  terms: ({ rules: { terms } }) => ({ termsVersion: terms }),
  limit_review: (_player, now) => ({ limitsReviewed: secondsOf(now) }),
  funds_notice: (_player, now) => ({ fundsNoticed: secondsOf(now) }),
  source_of_funds: () => ({}),
  screening: () => ({}),
  vulnerability_check: () => ({}),
  reality_check: (player, now) => ({ session: checkedSession(player, now) })
}

/** Waives an open obligation together with its gates. Limits that the jurisdiction requires are set by nobody else. */
export const waiveStep =
  ({ actor, mayNotRelease, obligationId, reason }: Waive) =>
  (player: Player, context: Context): Decision<Player, WaiveRefusal> => {
    const obligation = player.obligations.find(({ id }) => id === obligationId)
    if (obligation === undefined) return refused(notOpen)
    const { gates, kind } = obligation
    if (mayNotRelease !== undefined && imposed.has(kind)) return refused(mayNotRelease)
    const { code, version } = player.rules
    const shown = { obligation_id: obligationId, kind, gates, profile: `${code} ${version}` }
    const settings = settingsBy[kind]
    if (settings === undefined) {
      return refused(
        refuse(
          "RESPONSIBLE_GAMING_RULE",
          `An obligation of the kind ${kind} cannot be waived: only the player can meet it.`,
          { kind }
        )
      )
    }
    const { session = player.session, ...changed } = settings(player, context.now)
    const draft = new Draft(player, context)
    draft.session = session
    return acceptDuties(draft, {
      changed,
      records: [{
        actor,
        action: "obligation.waive",
        before: { ...shown, state: "open" },
        after: { ...shown, state: "waived" },
        reason
      }],
      ended: { id: obligationId, state: "waived" }
    })
  }
