/**
 * Daily figures in a time zone a whole number of hours from UTC, computed from sums by UTC day and hourly snapshots of a day's running totals
 * (`docs/decisions/0058-figures-by-game.md`). Pure.
 */
import { type DayFigures, stepMs } from "./Figures.ts"

/** Hours by which a zone may be ahead of UTC. */
export const offsetHours = { minimum: -12, maximum: 14 } as const

/** How many days of a zone there are, the running one included. */
export const maxLocalDays = 40

const figures = ["rounds", "bets", "wins", "bonusConversions", "deposits", "withdrawals"] as const

/** Figures that add up over days; minor units of the operator's currency, and rounds. */
export type AddedFigures = Pick<DayFigures, (typeof figures)[number]>

/** A day of a zone. Instants in epoch milliseconds. */
export interface LocalDay {
  /** Midnight of its date, as if the zone were UTC. */
  readonly day: number
  /** Beginning and end as they could be cut. */
  readonly from: number
  readonly until: number
  readonly sums: AddedFigures
}

const none: AddedFigures = { rounds: 0, bets: 0, wins: 0, bonusConversions: 0, deposits: 0, withdrawals: 0 }

const plus = (some: AddedFigures, more: AddedFigures, sign: 1 | -1): AddedFigures => ({
  rounds: some.rounds + sign * more.rounds,
  bets: some.bets + sign * more.bets,
  wins: some.wins + sign * more.wins,
  bonusConversions: some.bonusConversions + sign * more.bonusConversions,
  deposits: some.deposits + sign * more.deposits,
  withdrawals: some.withdrawals + sign * more.withdrawals
})

const utcDayOf = (at: number): number => Math.floor(at / stepMs.day) * stepMs.day

/** The day of a zone at an instant, as its midnight in UTC. */
export const localDayAt = (at: number, hours: number): number => utcDayOf(at + hours * stepMs.hour)

/** The instant at which a day of a zone begins. */
export const localMidnight = (day: number, hours: number): number => day - hours * stepMs.hour

/**
 * The days of a zone from `from` to `to` (as midnights in UTC) that have begun. `readings` are what UTC days had come to at full hours, `days` the sums
 * of whole UTC days, that of the running one until now. A day that begins at an hour without a reading begins at the one before that has one, or with
 * the UTC day: nothing is left out and nothing counts twice, so that the days add up to those of UTC.
 */
export const localDays = (
  { from, hours, now, to }: {
    readonly from: number
    readonly to: number
    readonly hours: number
    readonly now: number
  },
  readings: ReadonlyMap<number, AddedFigures>,
  days: ReadonlyMap<number, AddedFigures>
): ReadonlyArray<LocalDay> => {
  const cutAt = (day: number): number => {
    const at = localMidnight(day, hours)
    // the end of the running day
    if (at > now) return at
    const first = utcDayOf(at)
    let cut = at
    while (cut > first && !readings.has(cut)) cut -= stepMs.hour
    return cut
  }
  /** What the UTC day of a cut had come to. */
  const reached = (cut: number): AddedFigures =>
    cut === utcDayOf(cut) ? none : (cut > now ? days.get(utcDayOf(cut)) : readings.get(cut)) ?? none
  const rows: Array<LocalDay> = []
  for (let day = from; day <= to && localMidnight(day, hours) <= now; day += stepMs.day) {
    const [begins, ends] = [cutAt(day), cutAt(day + stepMs.day)]
    let sums = none
    for (let whole = utcDayOf(begins); whole < utcDayOf(ends); whole += stepMs.day) {
      sums = plus(sums, days.get(whole) ?? none, 1)
    }
    rows.push({ day, from: begins, until: ends, sums: plus(plus(sums, reached(ends), 1), reached(begins), -1) })
  }
  return rows
}
