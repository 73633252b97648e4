/**
 * Changes of a player's limits: stricter at once, looser only after the operator's cooling-off period (SPEC sections 3.6 and 4.7;
 * `docs/decisions/0008-responsible-gaming.md`).
 */
import { acceptSettings } from "../player/AccountStatus.ts"
import { answer, type Context, type Decision } from "../state/Decision.ts"
import { Draft } from "../state/Draft.ts"
import { type LimitField, limitFields } from "../LimitFields.ts"
import { effectiveLimits, type Limits, type PendingLimit } from "../state/Limits.ts"
import { raisedAt } from "./LimitRaise.ts"
import { type LimitsResource, limitsResource } from "./LimitUsage.ts"
import { isAmount, maxAmount } from "../Money.ts"
import type { Player } from "../state/Player.ts"
import { type Refusal, refuseFields } from "../Refusal.ts"

const minSessionMinutes = 5
const maxSessionMinutes = 1440

/** New values by limit; null removes a limit, absent ones are unchanged. Minor units, minutes for `max_session_minutes`. */
export type LimitChanges = ReadonlyMap<LimitField, number | null>

const isLimitField = (name: string): name is LimitField => limitFields.some((field) => field === name)

/** What a limit may be set to, both included. */
export const boundsOf = (field: LimitField): readonly [from: number, to: number] =>
  field === "max_session_minutes" ? [minSessionMinutes, maxSessionMinutes] : [0, maxAmount]

/**
 * Parses the `limits` of a request; `called` names the field in errors. An unknown name is refused, not ignored: the caller believes that it protects
 * the player.
 */
export const readLimitChanges = (sent: unknown, called = "limits"): LimitChanges | Refusal<"VALIDATION_FAILED"> => {
  if (typeof sent !== "object" || sent === null || Array.isArray(sent)) {
    return refuseFields({ [called]: ["must be an object"] })
  }
  const changes = new Map<LimitField, number | null>()
  const messages: Array<readonly [field: string, messages: ReadonlyArray<string>]> = []
  for (const [name, value] of Object.entries(sent)) {
    const addError = (message: string) => messages.push([`${called}.${name}`, [message]])
    if (!isLimitField(name)) {
      addError("is not a limit")
    } else if (value === null) {
      changes.set(name, null)
    } else {
      const [from, to] = boundsOf(name)
      if (typeof value === "number" && isAmount(value) && value >= from && value <= to) changes.set(name, value)
      else addError(`must be an integer between ${from} and ${to}, or null`)
    }
  }
  return messages.length === 0 ? changes : refuseFields(Object.fromEntries(messages))
}

export interface SetLimits {
  readonly changes: LimitChanges
  readonly coolingOffHours: number
  /** Audit log label of the actor. */
  readonly actor: string
  /** Why, where staff change them. */
  readonly reason?: string
}

export interface LimitsOutcome {
  readonly resource: LimitsResource
  /** Limits sent whose value is now in force, changed or not. */
  readonly applied: ReadonlyArray<LimitField>
  /** Limits sent whose value is pending. */
  readonly pending: ReadonlyArray<LimitField>
  readonly coolingOffHours: number
}

/** The limits of a request under their wire names. */
const touched = (limits: Limits, waiting: ReadonlyArray<PendingLimit>, fields: LimitChanges) => ({
  limits: Object.fromEntries([...fields.keys()].map((field) => [field, limits[field] ?? null])),
  pending_changes: waiting.filter(({ field }) => fields.has(field)).map(({ effectiveAt, field, value }) => ({
    field,
    requested_value: value,
    effective_at: new Date(effectiveAt).toISOString()
  }))
})

interface Decided {
  readonly limits: Limits
  readonly pendingLimits: ReadonlyArray<PendingLimit>
  readonly applied: ReadonlyArray<LimitField>
  readonly pending: ReadonlyArray<LimitField>
  readonly hasChange: boolean
}

/**
 * Effect of each limit sent, given the value in force and the pending one:
 * - stricter, or the first: in force at once; a pending raise of it is dropped;
 * - equal: a pending raise is withdrawn;
 * - looser: pending for the cooling-off period from now, in place of an earlier raise. An identical pending raise keeps its time.
 */
const decide = (
  current: Limits,
  waiting: ReadonlyArray<PendingLimit>,
  { changes, coolingOffHours }: SetLimits,
  now: number
): Decided => {
  const limits: { [field in LimitField]?: number } = { ...current }
  const pendingLimits = new Map(waiting.map((change) => [change.field, change]))
  const applied: Array<LimitField> = []
  const pending: Array<LimitField> = []
  let hasChange = false
  for (const [field, value] of changes) {
    const before = current[field] ?? null
    const waits = pendingLimits.get(field)
    const effectiveAt = raisedAt({ current: before, value, waiting: waits }, coolingOffHours, now)
    if (effectiveAt !== undefined) {
      pending.push(field)
      if (waits?.effectiveAt === effectiveAt && waits.value === value) continue
      pendingLimits.set(field, { field, value, effectiveAt })
    } else {
      applied.push(field)
      if (waits === undefined && value === before) continue
      pendingLimits.delete(field)
      if (value === null) delete limits[field]
      else limits[field] = value
    }
    hasChange = true
  }
  return { limits, pendingLimits: [...pendingLimits.values()], applied, pending, hasChange }
}

/** Changes the limits sent. Pending raises that are due are applied first and written. */
export const setLimitsStep =
  (command: SetLimits) => (player: Player, context: Context): Decision<LimitsOutcome, never> => {
    const { now } = context
    const current = effectiveLimits(player.limits, player.pendingLimits, now)
    const waiting = player.pendingLimits.filter(({ effectiveAt }) => now < effectiveAt)
    const { applied, hasChange, limits, pending, pendingLimits } = decide(current, waiting, command, now)
    const outcome = (next: Player): LimitsOutcome => ({
      resource: limitsResource(next, now),
      applied,
      pending,
      coolingOffHours: command.coolingOffHours
    })
    if (!hasChange) return answer(player, outcome(player))
    const accepted = acceptSettings(new Draft(player, context), { limits, pendingLimits }, {
      actor: command.actor,
      action: command.reason === undefined ? "player.limits" : "player.limit",
      before: touched(current, waiting, command.changes),
      after: touched(limits, pendingLimits, command.changes),
      reason: command.reason ?? null
    })
    return { ...accepted, reply: outcome(accepted.state) }
  }
