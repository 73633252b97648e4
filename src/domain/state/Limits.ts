/**
 * Responsible-gaming limits: values, usage, and the checks of bets, play and deposits (SPEC sections 2.9 and 3.6).
 *
 * Usage is kept as sums per calendar window and updated with the money itself, so that a check needs no query. A window other than the present one
 * counts as empty on the next access.
 */
import { type LimitField, limitFields } from "../LimitFields.ts"
import type { Rules } from "../jurisdiction/Rules.ts"
import { type Refusal, refuse } from "../Refusal.ts"
import { sameWindow, type Window, windowEnd } from "./Windows.ts"

/** Limits in force; an absent field is not limited. Minor units, minutes for `max_session_minutes`. */
export type Limits = { readonly [field in LimitField]?: number }

/** Raise pending its cooling-off period. `value` null removes the limit. */
export interface PendingLimit {
  readonly field: LimitField
  readonly value: number | null
  /** Epoch milliseconds; in force from then on, even before it has been written. */
  readonly effectiveAt: number
  /** With a raise that has to be confirmed from `effectiveAt` on: until when; it is never in force by itself. */
  readonly confirmUntil?: number
  /** That it can be confirmed has been told. */
  readonly isAnnounced?: true
}

/** Bit of a limit in a set of limits. */
export const limitBit = (field: LimitField): number => 1 << limitFields.indexOf(field)

/** Bits of several limits. */
export const setBits = (fields: ReadonlyArray<LimitField>): number =>
  fields.reduce((bits, field) => bits | limitBit(field), 0)

/** Bits of all limits. */
export const ownBits = setBits(limitFields)

/** Usage in minor units, as of `at`. */
export interface Counters {
  /** Time of the last change, epoch milliseconds: determines the windows of the sums. */
  readonly at: number
  readonly betDay: number
  readonly betWeek: number
  readonly betMonth: number
  readonly lossDay: number
  readonly lossWeek: number
  readonly lossMonth: number
  readonly depositDay: number
  readonly depositWeek: number
  readonly depositMonth: number
  readonly depositYear: number
  /** Withdrawals requested, whatever their outcome. */
  readonly withdrawalDay: number
  /** Withdrawals requested in the month and neither rejected nor cancelled in it. */
  readonly withdrawalMonth: number
  /** Provider credits above the bound of `LargeCredits.ts`; rollbacks are not subtracted. */
  readonly creditDay: number
  /** Start of the current stretch of play, epoch milliseconds; 0 before the first. */
  readonly playSince: number
  /** Epoch milliseconds of the last bet; 0 before the first. */
  readonly lastBetAt: number
}

export const emptyCounters: Counters = {
  at: 0,
  betDay: 0,
  betWeek: 0,
  betMonth: 0,
  lossDay: 0,
  lossWeek: 0,
  lossMonth: 0,
  depositDay: 0,
  depositWeek: 0,
  depositMonth: 0,
  depositYear: 0,
  withdrawalDay: 0,
  withdrawalMonth: 0,
  creditDay: 0,
  playSince: 0,
  lastBetAt: 0
}

/** A break of this length without a bet ends a stretch of play. */
export const breakMs = 15 * 60_000

/**
 * Counters at `now`: sums of other windows are zero, of past ones and of those to come, which a clock that was ahead had begun. Within the same
 * window a sum stands although the clock went back.
 */
export const roll = (counters: Counters, now: number): Counters => {
  if (sameWindow("day", counters.at, now)) return counters
  const week = sameWindow("week", counters.at, now)
  const month = sameWindow("month", counters.at, now)
  return {
    ...counters,
    at: now,
    betDay: 0,
    lossDay: 0,
    depositDay: 0,
    withdrawalDay: 0,
    creditDay: 0,
    betWeek: week ? counters.betWeek : 0,
    lossWeek: week ? counters.lossWeek : 0,
    depositWeek: week ? counters.depositWeek : 0,
    betMonth: month ? counters.betMonth : 0,
    lossMonth: month ? counters.lossMonth : 0,
    depositMonth: month ? counters.depositMonth : 0,
    withdrawalMonth: month ? counters.withdrawalMonth : 0,
    depositYear: sameWindow("year", counters.at, now) ? counters.depositYear : 0
  }
}

/**
 * Adds to the stake and loss sums. `stake` is the gross stake, `loss` the real money lost (negative for a win). `from` is the instant the money
 * counts for: a rolled back bet lowers only the windows it had raised.
 */
export const countPlay = (counters: Counters, now: number, stake: number, loss: number, from: number): Counters => {
  const rolled = roll(counters, now)
  const day = from === now || sameWindow("day", from, now)
  const week = day || sameWindow("week", from, now)
  const month = day || sameWindow("month", from, now)
  return {
    at: Math.max(now, rolled.at),
    betDay: day ? rolled.betDay + stake : rolled.betDay,
    betWeek: week ? rolled.betWeek + stake : rolled.betWeek,
    betMonth: month ? rolled.betMonth + stake : rolled.betMonth,
    lossDay: day ? rolled.lossDay + loss : rolled.lossDay,
    lossWeek: week ? rolled.lossWeek + loss : rolled.lossWeek,
    lossMonth: month ? rolled.lossMonth + loss : rolled.lossMonth,
    depositDay: rolled.depositDay,
    depositWeek: rolled.depositWeek,
    depositMonth: rolled.depositMonth,
    depositYear: rolled.depositYear,
    withdrawalDay: rolled.withdrawalDay,
    withdrawalMonth: rolled.withdrawalMonth,
    creditDay: rolled.creditDay,
    playSince: rolled.playSince,
    lastBetAt: rolled.lastBetAt
  }
}

/** Adds a withdrawal to its sums. */
export const countWithdrawal = (counters: Counters, now: number, amount: number): Counters => {
  const rolled = roll(counters, now)
  return {
    ...rolled,
    at: Math.max(now, rolled.at),
    withdrawalDay: rolled.withdrawalDay + amount,
    withdrawalMonth: rolled.withdrawalMonth + amount
  }
}

/** Takes a withdrawal requested at `from`, which is rejected or cancelled, out of its month; the sum of its day is never reversed. */
export const uncountWithdrawal = (counters: Counters, now: number, amount: number, from: number): Counters => {
  const rolled = roll(counters, now)
  return sameWindow("month", from, now)
    ? { ...rolled, at: Math.max(now, rolled.at), withdrawalMonth: rolled.withdrawalMonth - amount }
    : rolled
}

/** Deposits less withdrawals of the month. */
export const netDeposits = (counters: Counters, now: number): number => {
  const { depositMonth, withdrawalMonth } = roll(counters, now)
  return depositMonth - withdrawalMonth
}

/** Adds a provider credit to its sum. */
export const countCredit = (counters: Counters, now: number, amount: number): Counters => {
  const rolled = roll(counters, now)
  return { ...rolled, at: Math.max(now, rolled.at), creditDay: rolled.creditDay + amount }
}

/** Adds a deposit to its sums; never reversed: a chargeback does not restore a player's deposit allowance. */
export const countDeposit = (counters: Counters, now: number, amount: number): Counters => {
  const rolled = roll(counters, now)
  return {
    ...rolled,
    at: Math.max(now, rolled.at),
    depositDay: rolled.depositDay + amount,
    depositWeek: rolled.depositWeek + amount,
    depositMonth: rolled.depositMonth + amount,
    depositYear: rolled.depositYear + amount
  }
}

/** Start of the current stretch of play; null when there is none, a break has passed, or it lies as far ahead, by a clock that was wrong. */
export const playSince = (counters: Counters, now: number): number | null =>
  counters.playSince === 0 || Math.abs(now - Math.max(counters.playSince, counters.lastBetAt)) >= breakMs
    ? null
    : counters.playSince

/** Records play at `now`: a bet, or the launch of a game, begins a stretch when none is running. */
export const recordPlay = (counters: Counters, now: number, isBet: boolean): Counters => {
  const since = playSince(counters, now) ?? now
  // a bet that lies ahead ends no stretch until then
  const lastBetAt = isBet ? now : Math.min(counters.lastBetAt, now)
  return since === counters.playSince && lastBetAt === counters.lastBetAt
    ? counters
    : { ...counters, playSince: since, lastBetAt }
}

const applies = (pending: PendingLimit, now: number): boolean =>
  now >= pending.effectiveAt && pending.confirmUntil === undefined

/** Whether a raise still waits, for its time or for its confirmation. */
export const waits = ({ confirmUntil, effectiveAt }: PendingLimit, now: number): boolean =>
  now < (confirmUntil ?? effectiveAt)

/** Whether a raise can be confirmed at `now`, and nobody has been told. */
export const isNewlyConfirmable = (raise: PendingLimit, now: number): boolean =>
  raise.confirmUntil !== undefined && raise.isAnnounced === undefined && now >= raise.effectiveAt && waits(raise, now)

/** Limits in force at `now`: the stored ones with due raises applied. */
export const effectiveLimits = (limits: Limits, pending: ReadonlyArray<PendingLimit>, now: number): Limits => {
  if (pending.length === 0 || !pending.some((change) => applies(change, now))) return limits
  const next: { [field in LimitField]?: number } = { ...limits }
  for (const { field, value } of pending.filter((change) => applies(change, now))) {
    if (value === null) delete next[field]
    else next[field] = value
  }
  return next
}

/** The player's own limits in force at `now`: none above the cap of the jurisdiction. */
export const ownLimits = ({ limits, pendingLimits, rules }: Limited, now: number): Limits =>
  cappedBy(effectiveLimits(limits, pendingLimits, now), rules.limits.caps, false)

/** Limits that bind the player at `now`: the own ones, and the caps of the jurisdiction where there is none. */
export const bindingLimits = ({ limits, pendingLimits, rules }: Limited, now: number): Limits =>
  cappedBy(effectiveLimits(limits, pendingLimits, now), rules.limits.caps, true)

const isUnlimited = (limits: Limits): boolean => {
  for (const _ in limits) return false
  return true
}

/** Whether the player, or the operator for the player, set a limit that is in force. */
export const isOwn = ({ limitsSet }: { readonly limitsSet: number }, limits: Limits, field: LimitField): boolean =>
  (limitsSet & limitBit(field)) !== 0 && limits[field] !== undefined

/** Whether a limit is in force that the player, or the operator for the player, set. */
export const hasOwnLimits = (player: Limited & { readonly limitsSet: number }, now: number): boolean => {
  const limits = effectiveLimits(player.limits, player.pendingLimits, now)
  return limitFields.some((field) => isOwn(player, limits, field))
}

/** Bit in a set of limits: the player was asked for limits, and declined. */
export const promptDeclined = 1 << limitFields.length

const promptAnswered = promptDeclined |
  setBits(limitFields.filter((field) => !field.includes("balance") && !field.includes("session")))

/** Whether the player has to set a deposit, loss or bet limit, or decline to, before the first deposit. */
export const mustAnswerPrompt = ({ limitsSet, rules }: Limited & { readonly limitsSet: number }): boolean =>
  rules.limits.prompt && (limitsSet & promptAnswered) === 0

/** Groups of limits of which the jurisdiction requires one, and none is set. */
export const missingLimits = (player: Limited & { readonly limitsSet: number }, now: number) => {
  const limits = effectiveLimits(player.limits, player.pendingLimits, now)
  return player.rules.limits.required.filter((group) => !group.some((field) => isOwn(player, limits, field)))
}

interface Limited {
  readonly limits: Limits
  readonly pendingLimits: ReadonlyArray<PendingLimit>
  readonly rules: Pick<Rules, "limits">
}

const cappedBy = (limits: Limits, caps: Limits, bindsAll: boolean): Limits => {
  if (isUnlimited(caps)) return limits
  const next: { [field in LimitField]?: number } = { ...limits }
  for (const field of limitFields) {
    const [own, cap] = [limits[field], caps[field]]
    if (cap !== undefined && (own === undefined ? bindsAll : own > cap)) next[field] = cap
  }
  return next
}

const exceeded = (limit: LimitField, value: number, used: number, window: Window | null, now: number) =>
  refuse("LIMIT_EXCEEDED", `The limit ${limit} would be exceeded.`, {
    limit,
    value,
    used,
    resets_at: window === null ? null : new Date(windowEnd(window, now)).toISOString()
  })

type Check = readonly [field: LimitField, used: number, added: number, window: Window | null]

const firstExceeded = (
  limits: Limits,
  checks: ReadonlyArray<Check>,
  now: number
): Refusal<"LIMIT_EXCEEDED"> | undefined => {
  for (const [field, used, added, window] of checks) {
    const value = limits[field]
    if (value !== undefined && used + added > value) return exceeded(field, value, used, window, now)
  }
  return undefined
}

/** Reason for refusing a bet by its limits. `stake` is the whole stake, `realStake` its real-money part. */
export const refuseBet = (
  limits: Limits,
  counters: Counters,
  stake: number,
  realStake: number,
  now: number
): Refusal<"LIMIT_EXCEEDED"> | undefined => {
  if (isUnlimited(limits)) return undefined
  const used = roll(counters, now)
  return firstExceeded(limits, [
    ["max_single_bet", 0, stake, null],
    ["casino_max_single_bet", 0, stake, null],
    ["max_daily_bet", used.betDay, stake, "day"],
    ["casino_max_daily_bet", used.betDay, stake, "day"],
    ["max_weekly_bet", used.betWeek, stake, "week"],
    ["max_monthly_bet", used.betMonth, stake, "month"],
    ["max_daily_loss", used.lossDay, realStake, "day"],
    ["max_weekly_loss", used.lossWeek, realStake, "week"],
    ["max_monthly_loss", used.lossMonth, realStake, "month"]
  ], now) ?? refusePlay(limits, counters, now)
}

/** Reason for refusing to begin or continue play by the session limit. */
export const refusePlay = (
  limits: Limits,
  counters: Counters,
  now: number
): Refusal<"LIMIT_EXCEEDED"> | undefined => {
  const minutes = limits.max_session_minutes
  if (minutes === undefined) return undefined
  const since = playSince(counters, now)
  if (since === null || now - since < minutes * 60_000) return undefined
  return refuse("LIMIT_EXCEEDED", "The session limit is reached. Play can go on after a break of 15 minutes.", {
    limit: "max_session_minutes",
    value: minutes,
    used: Math.floor((now - since) / 60_000),
    resets_at: new Date(Math.max(counters.lastBetAt, counters.playSince) + breakMs).toISOString()
  })
}

/** Reason for refusing a deposit by its limits. `balance` is the real balance before it. */
export const refuseDeposit = (
  limits: Limits,
  counters: Counters,
  amount: number,
  balance: number,
  now: number
): Refusal<"LIMIT_EXCEEDED"> | undefined => {
  if (isUnlimited(limits)) return undefined
  const used = roll(counters, now)
  return firstExceeded(limits, [
    ["max_single_deposit", 0, amount, null],
    ["max_daily_deposit", used.depositDay, amount, "day"],
    ["max_weekly_deposit", used.depositWeek, amount, "week"],
    ["max_monthly_deposit", used.depositMonth, amount, "month"],
    ["max_yearly_deposit", used.depositYear, amount, "year"],
    ["max_balance", balance, amount, null]
  ], now)
}
