/** Interval between reality checks as the player sets it, and the next check as shown to the player. */
import { acceptSettings } from "../player/AccountStatus.ts"
import { durationText, orderOf } from "../jurisdiction/Duration.ts"
import { checkDue } from "../obligation/Obligations.ts"
import { type Refusal, refuseFields } from "../Refusal.ts"
import { answer, type Context, type Decision, refused } from "../state/Decision.ts"
import { Draft } from "../state/Draft.ts"
import { type Player, withExtras } from "../state/Player.ts"
import { checkDueAt, checkInterval, runningSession, sessionFields } from "../state/PlaySession.ts"

export interface SetRealityCheck {
  /** ISO 8601; null removes the player's own. */
  readonly interval: string | null
  /** Audit log label of the actor. */
  readonly actor: string
}

/** A player's reality check on the wire. */
export const realityCheckFields = (player: Player, now: number) => {
  const running = runningSession(player, now)
  // one that is open stays so, whatever the interval is meanwhile
  const dueAt = running === null ? null : checkDue(player, now) ?? checkDueAt(player)
  return {
    interval: checkInterval(player),
    elapsed_seconds: running === null
      ? 0
      : Math.max(0, Math.floor((now - running.since - running.checkedAfter) / 1000)),
    due_at: dueAt === null ? null : new Date(dueAt).toISOString(),
    session: sessionFields(player, now)
  }
}

/** Sets or removes the player's own interval, which has to be of a length that the jurisdiction allows. A check that is due stays open. */
export const setRealityCheckStep =
  ({ actor, interval }: SetRealityCheck) =>
  (player: Player, context: Context): Decision<Player, Refusal<"VALIDATION_FAILED">> => {
    const { max, min } = player.rules.reality_check
    if (interval !== null && (orderOf(interval) < orderOf(min) || orderOf(interval) > orderOf(max))) {
      return refused(refuseFields({ interval: [`must be from ${durationText(min)} to ${durationText(max)}`] }))
    }
    const before = player.extras?.realityCheck ?? null
    if (before === interval) return answer(player, player)
    const { code, version } = player.rules
    return acceptSettings(new Draft(player, context), { extras: withExtras(player, { realityCheck: interval }) }, {
      actor,
      action: "player.reality_check",
      before: { interval: before },
      after: { interval, profile: `${code} ${version}` },
      reason: null
    })
  }
