/** A player's limits as the API shows them: values, pending raises, usage and resets (SPEC section 2.9). */
import { Struct } from "effect"
import { type LimitField, limitFields } from "../LimitFields.ts"
import {
  breakMs,
  type Counters,
  type Limits,
  ownLimits,
  type PendingLimit,
  playSince,
  roll,
  waits
} from "../state/Limits.ts"
import type { exclusionEndings, ExclusionSource, ExclusionType } from "../jurisdiction/ExclusionPeriods.ts"
import { activeExclusion, type Exclusion, type Player } from "../state/Player.ts"
import { type Window, windowEnd } from "../state/Windows.ts"

const iso = (at: number): string => new Date(at).toISOString()

const isoOrNull = (at: number | null): string | null => at === null ? null : iso(at)

/** Minor units, minutes for `max_session_minutes`. */
interface Usage {
  /** Negative for a loss limit when the player has won, and for a negative balance. */
  readonly used: number
  /** Amount still available, at least 0; null without a limit. */
  readonly remaining: number | null
  /** Time of the next reset of `used`, ISO 8601; null when there is none. */
  readonly resets_at: string | null
}

interface PendingChange {
  readonly field: LimitField
  readonly current_value: number | null
  readonly requested_value: number | null
  /** ISO 8601. */
  readonly effective_at: string
  /** With a raise that has to be confirmed: from when, and until when it can be. */
  readonly confirm_from?: string
  readonly confirm_until?: string
}

const confirmationTimes = ({ confirmUntil, effectiveAt }: PendingLimit) =>
  confirmUntil === undefined ? {} : { confirm_from: iso(effectiveAt), confirm_until: iso(confirmUntil) }

/** Times of a raise under their wire names. */
export const raiseTimes = (raise: PendingLimit) => ({
  effective_at: iso(raise.effectiveAt),
  ...confirmationTimes(raise)
})

/** A raise that can be confirmed, as its event has it. */
export const confirmableFields = (raise: PendingLimit) => ({ field: raise.field, ...confirmationTimes(raise) })

export interface LimitsResource {
  readonly player_id: number
  readonly currency: string
  readonly limits: { readonly [field in LimitField]: number | null }
  readonly pending_changes: ReadonlyArray<PendingChange>
  readonly self_exclusion: ExclusionFields | null
  readonly usage: { readonly [field in LimitField]: Usage }
}

export interface ExclusionFields {
  readonly type: ExclusionType
  readonly since: string
  readonly until: string | null
  readonly ends: (typeof exclusionEndings)[number]
  /** When the player returns, of an exclusion that ends on request; null: nobody has asked, or it ends by itself. */
  readonly return_at: string | null
  readonly source: ExclusionSource
}

/** Exclusion under its wire names. */
export const exclusionFields = (exclusion: Exclusion): ExclusionFields => ({
  type: exclusion.type,
  since: iso(exclusion.since),
  until: isoOrNull(exclusion.until),
  ends: exclusion.onRequest === undefined ? "by_itself" : "on_request",
  return_at: isoOrNull(exclusion.onRequest?.returnAt ?? null),
  source: exclusion.source ?? "operator"
})

/** One value for each of the sixteen limits. */
export const perLimit = <Value>(valueOf: (field: LimitField) => Value): { readonly [field in LimitField]: Value } => ({
  max_single_bet: valueOf("max_single_bet"),
  max_daily_bet: valueOf("max_daily_bet"),
  max_weekly_bet: valueOf("max_weekly_bet"),
  max_monthly_bet: valueOf("max_monthly_bet"),
  casino_max_single_bet: valueOf("casino_max_single_bet"),
  casino_max_daily_bet: valueOf("casino_max_daily_bet"),
  max_daily_loss: valueOf("max_daily_loss"),
  max_weekly_loss: valueOf("max_weekly_loss"),
  max_monthly_loss: valueOf("max_monthly_loss"),
  max_single_deposit: valueOf("max_single_deposit"),
  max_daily_deposit: valueOf("max_daily_deposit"),
  max_weekly_deposit: valueOf("max_weekly_deposit"),
  max_monthly_deposit: valueOf("max_monthly_deposit"),
  max_yearly_deposit: valueOf("max_yearly_deposit"),
  max_balance: valueOf("max_balance"),
  max_session_minutes: valueOf("max_session_minutes")
})

type SummedLimit = Exclude<
  LimitField,
  "max_single_bet" | "casino_max_single_bet" | "max_single_deposit" | "max_balance" | "max_session_minutes"
>

/** Counter and window of each windowed limit. */
const sums = {
  max_daily_bet: ["betDay", "day"],
  max_weekly_bet: ["betWeek", "week"],
  max_monthly_bet: ["betMonth", "month"],
  casino_max_daily_bet: ["betDay", "day"],
  max_daily_loss: ["lossDay", "day"],
  max_weekly_loss: ["lossWeek", "week"],
  max_monthly_loss: ["lossMonth", "month"],
  max_daily_deposit: ["depositDay", "day"],
  max_weekly_deposit: ["depositWeek", "week"],
  max_monthly_deposit: ["depositMonth", "month"],
  max_yearly_deposit: ["depositYear", "year"]
} as const satisfies { readonly [field in SummedLimit]: readonly [sum: keyof Counters, window: Window] }

/** Sums that move with a player; `casino_max_daily_bet` has that of `max_daily_bet`. */
export const movedSums = {
  ...Struct.omit(sums, ["casino_max_daily_bet"]),
  daily_withdrawals: ["withdrawalDay", "day"],
  monthly_withdrawals: ["withdrawalMonth", "month"]
} as const satisfies { readonly [field: string]: readonly [sum: keyof Counters, window: Window] }

/** Their counters. */
export const movedCounters = Object.values(movedSums).map(([counter]) => counter)

const isSummed = (field: LimitField): field is SummedLimit => field in sums

/** The window that a limit sums over; undefined for one that sums nothing. */
export const windowOf = (field: LimitField): Window | undefined => isSummed(field) ? sums[field][1] : undefined

const usageOf = (
  field: LimitField,
  player: Player,
  counters: Counters,
  limit: number | undefined,
  windowEnds: { readonly [window in Window]: string },
  now: number
): Usage => {
  const usage = (used: number, resetsAt: string | null): Usage => ({
    used,
    remaining: limit === undefined ? null : Math.max(0, limit - used),
    resets_at: resetsAt
  })
  switch (field) {
    case "max_single_bet":
    case "casino_max_single_bet":
    case "max_single_deposit":
      return usage(0, null)
    case "max_balance":
      return usage(player.real, null)
    case "max_session_minutes": {
      const since = playSince(counters, now)
      return since === null
        ? usage(0, null)
        : usage(Math.floor((now - since) / 60_000), iso(Math.max(counters.playSince, counters.lastBetAt) + breakMs))
    }
    default: {
      const [sum, window] = sums[field]
      return usage(counters[sum], windowEnds[window])
    }
  }
}

const pendingChanges = (player: Player, limits: Limits, now: number): ReadonlyArray<PendingChange> =>
  player.pendingLimits
    .filter((change) => waits(change, now))
    .sort((a, b) => a.effectiveAt - b.effectiveAt || limitFields.indexOf(a.field) - limitFields.indexOf(b.field))
    .map((change) => ({
      field: change.field,
      current_value: limits[change.field] ?? null,
      requested_value: change.value,
      ...raiseTimes(change)
    }))

/** Limits resource at `now`: due raises are in `limits`, the others in `pending_changes`. */
export const limitsResource = (player: Player, now: number): LimitsResource => {
  const limits = ownLimits(player, now)
  const counters = roll(player.counters, now)
  const exclusion = activeExclusion(player, now)
  const endOf = (window: Window): string => iso(windowEnd(window, now))
  const windowEnds = { day: endOf("day"), week: endOf("week"), month: endOf("month"), year: endOf("year") }
  return {
    player_id: player.id,
    currency: player.currency,
    limits: perLimit((field) => limits[field] ?? null),
    pending_changes: pendingChanges(player, limits, now),
    self_exclusion: exclusion === null ? null : exclusionFields(exclusion),
    usage: perLimit((field) => usageOf(field, player, counters, limits[field], windowEnds, now))
  }
}
