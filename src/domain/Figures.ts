/**
 * Key figures over time: hourly values from snapshots of a day's running totals, and interpolated values of the same time last week
 * (`docs/decisions/0050-live-figures.md`). Pure.
 */

export const seriesMetrics = [
  "ggr",
  "bets",
  "wins",
  "rounds",
  "deposits",
  "withdrawals",
  "active_players",
  "registrations",
  "bonus_cost"
] as const

export type SeriesMetric = (typeof seriesMetrics)[number]

export const seriesSteps = ["hour", "day"] as const

export type SeriesStep = (typeof seriesSteps)[number]

/** Maximum number of points of a series. */
export const maxPoints = 400

const hourMs = 3_600_000
const dayMs = 24 * hourMs

export const stepMs = { hour: hourMs, day: dayMs } as const satisfies { readonly [step in SeriesStep]: number }

/** The smallest of the values that a percentage of them does not exceed; undefined for none. */
export const percentile = (values: ReadonlyArray<number>, percent: number): number | undefined =>
  values.toSorted((a, b) => a - b)[Math.max(0, Math.ceil(values.length * percent / 100) - 1)]

/** True for metrics that can be filtered by provider. */
export const isOfGames = (metric: SeriesMetric): boolean => ["ggr", "bets", "wins", "rounds"].includes(metric)

/** True for metrics that are counts, not amounts. */
export const isCount = (metric: SeriesMetric): boolean => ["rounds", "active_players", "registrations"].includes(metric)

/** Figures of a day up to a given instant: minor units of the operator's currency, and counts. */
export interface DayFigures {
  readonly rounds: number
  readonly bets: number
  readonly wins: number
  readonly bonusConversions: number
  readonly deposits: number
  readonly withdrawals: number
  readonly players: number
  readonly registrations: number
}

/** Value of one metric of a day's figures. */
export const metricOf = (figures: DayFigures, metric: SeriesMetric): number => {
  switch (metric) {
    case "ggr":
      return figures.bets - figures.wins
    case "bets":
      return figures.bets
    case "wins":
      return figures.wins
    case "rounds":
      return figures.rounds
    case "deposits":
      return figures.deposits
    case "withdrawals":
      return figures.withdrawals
    case "active_players":
      return figures.players
    case "registrations":
      return figures.registrations
    case "bonus_cost":
      return figures.bonusConversions
    default:
      return metric satisfies never
  }
}

/** Value at the beginning of an hour or day (epoch milliseconds); null when unknown. */
export interface Point {
  readonly at: number
  readonly value: number | null
}

/** One value for each day of a range: 0 without activity, null for future days. */
export const dayPoints = (
  range: { readonly from: number; readonly to: number; readonly now: number },
  valueOf: (at: number) => number | undefined
): ReadonlyArray<Point> => {
  const points: Array<Point> = []
  for (let at = range.from; at <= range.to; at += dayMs) {
    points.push({ at, value: at > range.now ? null : valueOf(at) ?? 0 })
  }
  return points
}

/**
 * One value for each hour of a range of days. `readings` are the running totals of the day at full hours, by epoch milliseconds; `days` the totals of
 * each day until now, by its beginning. An hour without a reading at its end is null, and its amount is part of the next hour that has one.
 */
export const hourPoints = (
  range: { readonly from: number; readonly to: number; readonly now: number },
  readings: ReadonlyMap<number, number>,
  days: ReadonlyMap<number, number>
): ReadonlyArray<Point> => {
  const points: Array<Point> = []
  for (let day = range.from; day <= range.to; day += dayMs) {
    let before = 0
    for (let at = day; at < day + dayMs; at += hourMs) {
      const end = at + hourMs
      if (at > range.now) {
        points.push({ at, value: null })
        continue
      }
      // the last hour of a day and the current hour end with the day's total
      const isLast = end === day + dayMs || end > range.now
      const reached = isLast ? days.get(day) ?? 0 : readings.get(end)
      points.push({ at, value: reached === undefined ? null : reached - before })
      before = reached ?? before
    }
  }
  return points
}

/** Linear interpolation of a figure between two readings, rounded. */
export const between = (
  at: number,
  before: { readonly at: number; readonly value: number },
  after: { readonly at: number; readonly value: number }
): number =>
  after.at <= before.at
    ? after.value
    : Math.round(
      before.value + (after.value - before.value) * Math.min(1, Math.max(0, (at - before.at) / (after.at - before.at)))
    )
