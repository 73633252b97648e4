/**
 * Changes of a player's limits: stricter at once, looser only after the operator's cooling-off period (SPEC sections 3.6 and 4.7;
 * `docs/decisions/0008-responsible-gaming.md`).
 */
import { acceptSettings } from "../player/AccountStatus.ts"
import { answer, type Context, type Decision, refused } from "../state/Decision.ts"
import { Draft } from "../state/Draft.ts"
import { type LimitField, limitFields } from "../LimitFields.ts"
import { isOwn, limitBit, type Limits, ownLimits, type PendingLimit, waits } from "../state/Limits.ts"
import { after } from "../jurisdiction/Duration.ts"
import { raisedAt } from "./LimitRaise.ts"
import { type LimitsResource, limitsResource, raiseTimes } from "./LimitUsage.ts"
import { isAmount, maxAmount } from "../Money.ts"
import type { Player } from "../state/Player.ts"
import { type Refusal, refuse, refuseFields } from "../Refusal.ts"

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
  pending_changes: waiting.filter(({ field }) => fields.has(field)).map((change) => ({
    field: change.field,
    requested_value: change.value,
    ...raiseTimes(change)
  }))
})

interface Decided {
  readonly limits: Limits
  readonly pendingLimits: ReadonlyArray<PendingLimit>
  readonly limitsSet: number
  readonly applied: ReadonlyArray<LimitField>
  readonly pending: ReadonlyArray<LimitField>
  readonly hasChange: boolean
}

/**
 * Effect of each limit sent, given the value in force and the pending one:
 * - stricter, or the first: in force at once; a pending raise of it is dropped;
 * - equal: a pending raise is withdrawn;
 * - looser: pending for the cooling-off period from now, in place of an earlier raise, and for a confirmation where the jurisdiction wants one. An
 *   identical pending raise keeps its time.
 */
const decide = (
  { limitsSet: setBefore, rules }: Player,
  current: Limits,
  waiting: ReadonlyArray<PendingLimit>,
  { changes, coolingOffHours }: SetLimits,
  now: number
): Decided => {
  const { raise } = rules.limits
  const limits: { [field in LimitField]?: number } = { ...current }
  const pendingLimits = new Map(waiting.map((change) => [change.field, change]))
  const applied: Array<LimitField> = []
  const pending: Array<LimitField> = []
  let hasChange = false
  let limitsSet = setBefore
  for (const [field, value] of changes) {
    const before = current[field] ?? null
    const waits = pendingLimits.get(field)
    const effectiveAt = raisedAt(field, { current: before, value, waiting: waits }, { coolingOffHours, raise }, now)
    if (value !== null) limitsSet |= limitBit(field)
    if (effectiveAt !== undefined) {
      pending.push(field)
      if (waits?.effectiveAt === effectiveAt && waits.value === value) continue
      const confirmUntil = raise.confirm ? { confirmUntil: after(raise.confirm_within, effectiveAt) } : {}
      pendingLimits.set(field, { field, value, effectiveAt, ...confirmUntil })
    } else {
      applied.push(field)
      if (waits === undefined && value === before) continue
      pendingLimits.delete(field)
      if (value === null) delete limits[field]
      else limits[field] = value
    }
    hasChange = true
  }
  return { limits, pendingLimits: [...pendingLimits.values()], limitsSet, applied, pending, hasChange }
}

export type SetLimitsRefusal = Refusal<"VALIDATION_FAILED" | "RESPONSIBLE_GAMING_RULE">

/** Refuses a limit above the cap of the jurisdiction, or none where there is a cap. */
export const refuseCapped = (field: LimitField, cap: number): Refusal<"VALIDATION_FAILED"> =>
  refuseFields({ [`limits.${field}`]: [`must be at most ${cap}, which the jurisdiction allows`] })

/** Refuses what the jurisdiction does not allow: more than its cap, none where there is one, none where one of a group has to be set. */
const refuseChanges = (
  player: Player,
  current: Limits,
  waiting: ReadonlyArray<PendingLimit>,
  { changes }: SetLimits
): SetLimitsRefusal | undefined => {
  const { caps, required } = player.rules.limits
  for (const [field, value] of changes) {
    const cap = caps[field]
    if (cap !== undefined && (value === null ? isOwn(player, current, field) : value > cap)) {
      return refuseCapped(field, cap)
    }
  }
  // one whose removal waits is as good as removed: each of two could be asked for alone
  const isKept = (field: LimitField): boolean =>
    isOwn(player, current, field) && !waiting.some((one) => one.field === field && one.value === null)
  const isSet = (field: LimitField): boolean => {
    const value = changes.get(field)
    return value === undefined ? isKept(field) : value !== null
  }
  const emptied = required.find((group) =>
    group.some((field) => changes.get(field) === null) && group.some((field) => isOwn(player, current, field)) &&
    !group.some(isSet)
  )
  return emptied === undefined ? undefined : refuse(
    "RESPONSIBLE_GAMING_RULE",
    `One of these limits has to be set: ${emptied.join(", ")}.`,
    { required: emptied }
  )
}

/** Changes the limits sent. Pending raises that are due are applied first and written. */
export const setLimitsStep =
  (command: SetLimits) => (player: Player, context: Context): Decision<LimitsOutcome, SetLimitsRefusal> => {
    const { now } = context
    const current = ownLimits(player, now)
    const waiting = player.pendingLimits.filter((change) => waits(change, now))
    const refusal = refuseChanges(player, current, waiting, command)
    if (refusal !== undefined) return refused(refusal)
    const { applied, hasChange, limits, limitsSet, pending, pendingLimits } = decide(
      player,
      current,
      waiting,
      command,
      now
    )
    const { wait } = player.rules.limits.raise
    const waitHours = wait === null ? 0 : Math.ceil((after(wait, now) - now) / 3_600_000)
    const outcome = (next: Player): LimitsOutcome => ({
      resource: limitsResource(next, now),
      applied,
      pending,
      coolingOffHours: Math.max(command.coolingOffHours, waitHours)
    })
    if (!hasChange && limitsSet === player.limitsSet) return answer(player, outcome(player))
    const record = {
      actor: command.actor,
      action: command.reason === undefined ? "player.limits" : "player.limit",
      before: touched(current, waiting, command.changes),
      after: touched(limits, pendingLimits, command.changes),
      reason: command.reason ?? null
    }
    // a default of the operator that the player takes for the own one has no other value
    const records = hasChange ? [record] : []
    const accepted = acceptSettings(
      new Draft(player, context),
      { limits, limitsSet, pendingLimits },
      ...records
    )
    return { ...accepted, reply: outcome(accepted.state) }
  }
