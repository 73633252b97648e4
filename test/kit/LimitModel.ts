/**
 * Reference model of limits: a list of all events and of all requested limits,
 * from which each answer is recomputed, with its own calendar. Written from the rules for limits, not from the
 * code, so that the two check each other.
 */
import { type LimitField, limitFields } from "../../src/domain/LimitFields.ts"

type Window = "day" | "week" | "month" | "year"

/** Used and remaining amount of a limit, and the end of its window. */
export interface ModelUsage {
  readonly used: number
  readonly remaining: number | null
  readonly resets_at: string | null
}

export type ModelRefusal =
  | { readonly code: "INSUFFICIENT_FUNDS" }
  | {
    readonly code: "LIMIT_EXCEEDED"
    readonly limit: LimitField
    readonly value: number
    readonly used: number
    readonly resets_at: string | null
  }

/** A requested limit. */
interface Request {
  readonly field: LimitField
  readonly value: number | null
  /** Epoch milliseconds: from when on it counts. */
  readonly effectiveAt: number
}

/** Money that was staked, won or paid in. */
export interface LimitEvent {
  readonly kind: "bet" | "win" | "deposit"
  readonly at: number
  readonly amount: number
  /** The part of it that was real money. */
  readonly real: number
  isTakenBack: boolean
}

const minute = 60_000
const hour = 60 * minute
const breakMs = 15 * minute

const windowOf: { readonly [field in LimitField]?: Window } = {
  max_daily_bet: "day",
  max_weekly_bet: "week",
  max_monthly_bet: "month",
  casino_max_daily_bet: "day",
  max_daily_loss: "day",
  max_weekly_loss: "week",
  max_monthly_loss: "month",
  max_daily_deposit: "day",
  max_weekly_deposit: "week",
  max_monthly_deposit: "month",
  max_yearly_deposit: "year"
}

/** The limits that an action meets, in the order in which they are looked at. */
export const countedByBets: ReadonlyArray<LimitField> = [
  "max_single_bet",
  "casino_max_single_bet",
  "max_daily_bet",
  "casino_max_daily_bet",
  "max_weekly_bet",
  "max_monthly_bet",
  "max_daily_loss",
  "max_weekly_loss",
  "max_monthly_loss"
]
export const countedByDeposits: ReadonlyArray<LimitField> = [
  "max_single_deposit",
  "max_daily_deposit",
  "max_weekly_deposit",
  "max_monthly_deposit",
  "max_yearly_deposit",
  "max_balance"
]

/** The first instants of the window around `at` and of the one after it, found on the calendar day by day. */
const boundsOf = (window: Window, at: number): readonly [from: number, to: number] => {
  const date = new Date(at)
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()]
  const from = new Date(Date.UTC(year, month, date.getUTCDate()))
  switch (window) {
    case "day":
      return [from.getTime(), from.getTime() + 24 * hour]
    case "week":
      while (from.getUTCDay() !== 1) from.setUTCDate(from.getUTCDate() - 1)
      return [from.getTime(), from.getTime() + 7 * 24 * hour]
    case "month":
      return [Date.UTC(year, month), Date.UTC(month === 11 ? year + 1 : year, (month + 1) % 12)]
    case "year":
      return [Date.UTC(year, 0), Date.UTC(year + 1, 0)]
  }
}

const iso = (at: number): string => new Date(at).toISOString()

/** Inputs of limits: all events, and the limits in force. */
export interface LimitView {
  readonly now: number
  readonly real: number
  readonly happenings: ReadonlyArray<LimitEvent>
  /** When games were opened and bets placed. */
  readonly plays: ReadonlyArray<{ readonly at: number; readonly isBet: boolean }>
  readonly inForce: (field: LimitField) => number | null
}

/** Used amount of a limit. */
export const usedOf = (view: LimitView, field: LimitField): number => {
  const window = windowOf[field]
  if (field === "max_balance") return view.real
  if (field === "max_session_minutes") {
    const since = stretchOf(view)?.since
    return since === undefined ? 0 : Math.floor((view.now - since) / minute)
  }
  if (window === undefined) return 0
  const [from, to] = boundsOf(window, view.now)
  let sum = 0
  for (const { amount, at, isTakenBack, kind, real } of view.happenings) {
    // of nodes whose clocks differ, one may have dated what happened before into the next window
    if (at < from || at >= to) continue
    if (field.includes("deposit")) sum += kind === "deposit" ? amount : 0
    else if (isTakenBack || kind === "deposit") continue
    else if (field.includes("loss")) sum += kind === "bet" ? real : -real
    else sum += kind === "bet" ? amount : 0
  }
  return sum
}

const resetsAtOf = (view: LimitView, field: LimitField): string | null => {
  if (field === "max_session_minutes") {
    const stretch = stretchOf(view)
    return stretch === undefined ? null : iso(stretch.last + breakMs)
  }
  const window = windowOf[field]
  return window === undefined ? null : iso(boundsOf(window, view.now)[1])
}

/** The first of the limits that an amount exceeds. */
export const firstExceeded = (
  view: LimitView,
  met: ReadonlyArray<LimitField>,
  amount: number,
  real: number
): ModelRefusal | undefined => {
  for (const field of met) {
    const value = view.inForce(field)
    if (value === null) continue
    const used = usedOf(view, field)
    const adds = field.includes("loss") ? real : amount
    if (used + adds > value) {
      return { code: "LIMIT_EXCEEDED", limit: field, value, used, resets_at: resetsAtOf(view, field) }
    }
  }
  return undefined
}

const refuseLongPlay = (view: LimitView): ModelRefusal | undefined => {
  const limit = "max_session_minutes"
  const value = view.inForce(limit)
  const stretch = stretchOf(view)
  return value === null || stretch === undefined || view.now - stretch.since < value * minute
    ? undefined
    : { code: "LIMIT_EXCEEDED", limit, value, used: usedOf(view, limit), resets_at: resetsAtOf(view, limit) }
}

/** The present stretch of play: from the first game or bet on, until a quarter of an hour has gone by without a bet. */
const stretchOf = (view: LimitView): { readonly since: number; readonly last: number } | undefined => {
  let stretch: { readonly since: number; readonly last: number } | undefined
  for (const { at, isBet } of [...view.plays, { at: view.now, isBet: false }]) {
    if (stretch === undefined || at - stretch.last >= breakMs) stretch = { since: at, last: at }
    else if (isBet) stretch = { ...stretch, last: at }
  }
  // the look itself is no play: a stretch that begins with it is none
  return stretch === undefined || view.plays.length === 0 || isOver(view, stretch) ? undefined : stretch
}

const isOver = (view: LimitView, stretch: { readonly since: number; readonly last: number }): boolean =>
  stretch.since === view.now && !view.plays.some(({ at }) => at === view.now)

/** Why a bet is refused, if it is. */
export const refuseBetBy = (view: LimitView, amount: number, real: number): ModelRefusal | undefined =>
  firstExceeded(view, countedByBets, amount, real) ?? refuseLongPlay(view)

export class LimitModel implements LimitView {
  now: number
  real: number
  readonly happenings: Array<LimitEvent> = []
  readonly plays: Array<{ readonly at: number; readonly isBet: boolean }> = []
  /** Per limit, the last request and the value in force before it. */
  private standing = new Map<LimitField, number>()
  private waiting = new Map<LimitField, Request>()

  constructor(now: number, real: number) {
    this.now = now
    this.real = real
  }

  // Requests of limits

  setLimits(sent: { readonly [field in LimitField]?: number | null }, coolingOffHours: number): {
    readonly applied: ReadonlyArray<LimitField>
    readonly pending: ReadonlyArray<LimitField>
  } {
    const applied: Array<LimitField> = []
    const pending: Array<LimitField> = []
    for (const field of limitFields) {
      const value = sent[field]
      if (value === undefined) continue
      const current = this.inForce(field)
      const waits = this.stillWaiting(field)
      const isLooser = current !== null && (value === null || value > current)
      if (isLooser && coolingOffHours > 0) {
        pending.push(field)
        if (waits?.value === value) continue
        this.settleDown(field)
        this.waiting.set(field, { field, value, effectiveAt: this.now + coolingOffHours * hour })
      } else {
        applied.push(field)
        this.waiting.delete(field)
        if (value === null) this.standing.delete(field)
        else this.standing.set(field, value)
      }
    }
    return { applied, pending }
  }

  inForce(field: LimitField): number | null {
    const asked = this.waiting.get(field)
    if (asked !== undefined && asked.effectiveAt <= this.now) return asked.value
    return this.standing.get(field) ?? null
  }

  private stillWaiting(field: LimitField): Request | undefined {
    const asked = this.waiting.get(field)
    return asked !== undefined && asked.effectiveAt > this.now ? asked : undefined
  }

  /** Applies a raise whose cooling-off has ended. */
  private settleDown(field: LimitField): void {
    const value = this.inForce(field)
    if (value === null) this.standing.delete(field)
    else this.standing.set(field, value)
  }

  // Events

  /** The stake's real part, or why it is refused. `bonus` is never short. */
  bet(amount: number): LimitEvent | ModelRefusal {
    const real = Math.min(amount, Math.max(0, this.real))
    const refusal = refuseBetBy(this, amount, real)
    if (refusal !== undefined) return refusal
    if (this.real < 0) return { code: "INSUFFICIENT_FUNDS" }
    this.real -= real
    this.plays.push({ at: this.now, isBet: true })
    return this.happens({ kind: "bet", at: this.now, amount, real, isTakenBack: false })
  }

  win(bet: LimitEvent, amount: number): LimitEvent {
    const real = amount - (bet.amount === 0 ? 0 : Math.floor(amount * (bet.amount - bet.real) / bet.amount))
    this.real += real
    return this.happens({ kind: "win", at: this.now, amount, real, isTakenBack: false })
  }

  takeBack(target: LimitEvent): void {
    if (target.isTakenBack) return
    target.isTakenBack = true
    this.real += target.kind === "bet" ? target.real : -target.real
  }

  deposit(amount: number): LimitEvent | ModelRefusal {
    const refusal = firstExceeded(this, countedByDeposits, amount, amount)
    if (refusal !== undefined) return refusal
    this.real += amount
    return this.happens({ kind: "deposit", at: this.now, amount, real: amount, isTakenBack: false })
  }

  /** Opens a game for real money. */
  launch(): ModelRefusal | undefined {
    const refusal = refuseLongPlay(this)
    if (refusal === undefined) this.plays.push({ at: this.now, isBet: false })
    return refusal
  }

  // Queries

  resource() {
    const perLimit = <A>(valueOf: (field: LimitField) => A) =>
      Object.fromEntries(limitFields.map((field) => [field, valueOf(field)]))
    const pending = limitFields.flatMap((field) => this.stillWaiting(field) ?? [])
    return {
      limits: perLimit((field) => this.inForce(field)),
      usage: perLimit((field) => this.usage(field)),
      // the sort keeps the order of the limits where the instants are the same
      pending_changes: pending.sort((a, b) => a.effectiveAt - b.effectiveAt).map(({ effectiveAt, field, value }) => ({
        field,
        current_value: this.inForce(field),
        requested_value: value,
        effective_at: iso(effectiveAt)
      }))
    }
  }

  private usage(field: LimitField): ModelUsage {
    const limit = this.inForce(field)
    const used = usedOf(this, field)
    return { used, remaining: limit === null ? null : Math.max(0, limit - used), resets_at: resetsAtOf(this, field) }
  }

  private happens(happening: LimitEvent): LimitEvent {
    this.happenings.push(happening)
    return happening
  }
}
