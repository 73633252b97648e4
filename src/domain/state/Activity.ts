/**
 * Days of activity of a player, kept so that the number of distinct players of any range of days is a sum.
 *
 * Each day of activity is stored together with the player's previous one. Within a range, exactly one of a player's days has its previous day
 * outside: the first. The distinct players of a range are therefore the stored days within it whose previous day lies before the range: a sum of
 * daily counts, whatever the number of players.
 *
 * Days are numbered from 1970-01-01, UTC.
 */

/** Kinds of activity stored per player. */
export type ActivityKind = "rng" | "live" | "deposit" | "withdrawal"

/** Kinds of distinct-player counts: `casino` is the union of `rng` and `live`. */
export type VisitKind = ActivityKind | "casino"

/** The last day of activity and the one before it. */
interface Days {
  readonly last: number
  readonly before: number
}

export interface Activity extends Readonly<Record<ActivityKind, Days>> {}

/** Adds (or, negative, removes) players on `day` whose previous day of activity is `previousDay`. */
export interface Visit {
  readonly kind: VisitKind
  readonly day: number
  readonly previousDay: number
  readonly players: 1 | -1
}

/** Longest range of a report, in days. */
export const maxReportDays = 366

/** Sentinel before all days of activity, outside every range. */
export const noDay = -999

const noDays: Days = { last: noDay, before: noDay }

export const noActivity: Activity = { rng: noDays, live: noDays, deposit: noDays, withdrawal: noDays }

/** Clamps the previous day: no range that contains `day` begins earlier, so all older days are equivalent. */
const previousOf = (day: number, previous: number): number => Math.max(previous, day - maxReportDays)

/**
 * Visits that add `day`. Around midnight a clock may lag behind the one of the process that wrote the previous entry: the day is then inserted
 * between the two. A day before the last two days of activity is not counted, since its previous day is no longer known.
 */
const visitsOf = (kind: VisitKind, { before, last }: Days, day: number): ReadonlyArray<Visit> => {
  if (day > last) return [{ kind, day, previousDay: previousOf(day, last), players: 1 }]
  if (day === last || day <= before) return []
  return [
    { kind, day, previousDay: previousOf(day, before), players: 1 },
    { kind, day: last, previousDay: previousOf(last, before), players: -1 },
    { kind, day: last, previousDay: day, players: 1 }
  ]
}

const withDay = ({ before, last }: Days, day: number): Days =>
  day > last ? { last: day, before: last } : { last, before: Math.max(before, day) }

/** The latest two days of both: `casino` is not stored but derived from `rng` and `live`. */
const union = (a: Days, b: Days): Days => {
  const last = Math.max(a.last, b.last)
  const before = (days: Days): number => days.last < last ? days.last : days.before
  return { last, before: Math.max(before(a), before(b)) }
}

/** True when the day is already recorded; checked once per bet. */
export const isRecorded = (activity: Activity, kind: ActivityKind, day: number): boolean => {
  const { before, last } = activity[kind]
  return last === day || day <= before
}

/** Records the day and returns the visits that it adds; none when {@link isRecorded}. */
export const recordDay = (
  activity: Activity,
  kind: ActivityKind,
  day: number
): { readonly activity: Activity; readonly visits: ReadonlyArray<Visit> } => ({
  activity: { ...activity, [kind]: withDay(activity[kind], day) },
  visits: [
    ...visitsOf(kind, activity[kind], day),
    ...(kind === "rng" || kind === "live" ? visitsOf("casino", union(activity.rng, activity.live), day) : [])
  ]
})
