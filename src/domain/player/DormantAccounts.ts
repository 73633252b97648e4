/** Dormant accounts: no sign-in, bet or deposit for the period of the jurisdiction. Any of the three ends dormancy. */
import { type Accept, answer, type Context } from "../state/Decision.ts"
import { Draft } from "../state/Draft.ts"
import { type Player, withExtras } from "../state/Player.ts"
import { acceptSettings, isDormant } from "./AccountStatus.ts"

/** What an account looked like when it was found without use. */
export interface SeenUnused {
  readonly entrySeq: number
  /** Epoch milliseconds; 0: never. */
  readonly lastBetAt: number
}

/** Marks an account as dormant, unless it was used since it was found. Nothing is charged or moved. */
export const markDormantStep = (seen: SeenUnused) => (player: Player, context: Context): Accept<Player> => {
  const { counters, entrySeq, rules } = player
  if (isDormant(player) || entrySeq !== seen.entrySeq || counters.lastBetAt !== seen.lastBetAt) {
    return answer(player, player)
  }
  const draft = new Draft(player, context)
  const since = new Date(context.now).toISOString()
  draft.emit("player.dormant", { dormant_since: since })
  return acceptSettings(draft, { extras: withExtras(player, { dormantSince: context.now }) }, {
    actor: "scheduler",
    action: "player.dormant",
    before: { dormant_since: null },
    after: { dormant_since: since, profile: `${rules.code} ${rules.version}` },
    reason: `neither a sign-in, a bet nor a deposit for ${rules.dormant.after}`
  })
}
