/**
 * Account changes that fall due with time: limit raises whose cooling-off has ended or that can now be confirmed, ended exclusions, expired identity
 * documents (`docs/decisions/0016-scheduler.md`).
 *
 * The rules apply limits and exclusions from their instant on, so this only records the change. Expired documents are the exception: the account
 * counts as verified until this has run.
 */
import { acceptSettings, emitKyc, type SettingsRecord } from "../player/AccountStatus.ts"
import type { PlayerSettings } from "../state/Change.ts"
import { type Accept, answer, type Context } from "../state/Decision.ts"
import { Draft } from "../state/Draft.ts"
import type { LimitField } from "../LimitFields.ts"
import { effectiveLimits, isNewlyConfirmable, type PendingLimit, waits } from "../state/Limits.ts"
import { confirmableFields, exclusionFields } from "./LimitUsage.ts"
import { exclusionEnd, type Player } from "../state/Player.ts"

/** Retention of an ended exclusion: it invalidates session tokens from before it, and no token lives longer (SPEC section 8). */
export const exclusionRetentionMs = 720 * 60_000

/** Audit log label of the actor. */
const actor = "scheduler"

const isDue = (now: number) => (change: PendingLimit): boolean => !waits(change, now)

const limitsOf = (limits: Player["limits"], fields: ReadonlyArray<LimitField>) => ({
  limits: Object.fromEntries(fields.map((field) => [field, limits[field] ?? null]))
})

type Settings = { -readonly [Name in keyof PlayerSettings]?: PlayerSettings[Name] }

/** Applies all changes due at `now`; none when none are due. The reply is the next player. */
export const applyDueChanges = (player: Player, context: Context): Accept<Player> => {
  const { now } = context
  const changed: Settings = {}
  const records: Array<SettingsRecord> = []
  const draft = new Draft(player, context)

  const raised = player.pendingLimits.filter(isDue(now))
  if (raised.length > 0) {
    const fields = raised.map(({ field }) => field)
    changed.limits = effectiveLimits(player.limits, player.pendingLimits, now)
    changed.pendingLimits = player.pendingLimits.filter((change) => !raised.includes(change))
    records.push({
      actor,
      action: "player.limits",
      before: limitsOf(player.limits, fields),
      after: limitsOf(changed.limits, fields),
      reason: raised.every(({ confirmUntil }) => confirmUntil !== undefined)
        ? "the raise was not confirmed in time"
        : "the cooling-off is over"
    })
  }

  const kept = changed.pendingLimits ?? player.pendingLimits
  const confirmable = kept.filter((raise) => isNewlyConfirmable(raise, now))
  if (confirmable.length > 0) {
    changed.pendingLimits = kept.map((raise) => confirmable.includes(raise) ? { ...raise, isAnnounced: true } : raise)
    for (const raise of confirmable) draft.emit("limit.raise_confirmable", confirmableFields(raise))
  }

  const { exclusion } = player
  const end = exclusion === null ? null : exclusionEnd(exclusion)
  if (exclusion !== null && end !== null && now >= end + exclusionRetentionMs) {
    changed.exclusion = null
    records.push({
      actor,
      action: "player.self_exclusion",
      before: { self_exclusion: exclusionFields(exclusion) },
      after: { self_exclusion: null },
      reason: "the exclusion has ended"
    })
  }

  const { documentExpiresAt } = player
  if (player.kycStatus === "verified" && documentExpiresAt !== null && now >= documentExpiresAt) {
    changed.kycStatus = "expired"
    changed.documentExpiresAt = null
    records.push(
      emitKyc(draft, { status: "expired", documentExpiresAt: null }, { actor, reason: "the document has expired" })
    )
  }

  return records.length === 0 && confirmable.length === 0
    ? answer(player, player)
    : acceptSettings(draft, changed, ...records)
}
