/**
 * On which days a player did what the reports count players for, so that "how many different players from this day to that
 * one" is a sum.
 *
 * A player is counted on each day of activity together with the day of activity before it. Of all days of one player in a
 * range, exactly one has its day before outside: the first. So the different players of a range are the visits on its days
 * whose day before lies before the range, added up, however many players there are.
 *
 * Days are numbered from 1970-01-01, UTC.
 */

/** What a player is remembered for. */
export type ActivityKind = "rng" | "live" | "deposit" | "withdrawal"

/** What players are counted for: `casino` is `rng` or `live`, a player of both once. */
export type VisitKind = ActivityKind | "casino"

/** The last day of activity and the one before it. */
interface Days {
  readonly last: number
  readonly before: number
}

export interface Activity extends Readonly<Record<ActivityKind, Days>> {}

/** One player more, or less, on `day` whose day before was `previousDay`. */
export interface Visit {
  readonly kind: VisitKind
  readonly day: number
  readonly previousDay: number
  readonly players: 1 | -1
}

/** The longest range of a report in days. */
export const maxReportDays = 366

/** A day before all days of activity, further than any range reaches. */
export const never = -999

const noDays: Days = { last: never, before: never }

export const noActivity: Activity = { rng: noDays, live: noDays, deposit: noDays, withdrawal: noDays }

/** No range that holds `day` begins so early that it matters how long before it a day was: they are all one. */
const previousOf = (day: number, previous: number): number => Math.max(previous, day - maxReportDays)

/**
 * The visits that make `day` one of the days. A clock may stand a little behind the one that made the entry before, around
 * midnight, when another process wrote it: then the day goes in between. One that goes back further than the last two days of
 * activity is not counted, since what stood before it is not known any more.
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

/** The last two days of either: `casino` is not kept, it follows from its parts. */
const union = (a: Days, b: Days): Days => {
  const last = Math.max(a.last, b.last)
  const before = (days: Days): number => days.last < last ? days.last : days.before
  return { last, before: Math.max(before(a), before(b)) }
}

/** Whether the day is noted already; what asks once per bet. */
export const isNoted = (activity: Activity, kind: ActivityKind, day: number): boolean => {
  const { before, last } = activity[kind]
  return last === day || day <= before
}

/** Notes the day, with the visits that it adds. Of a day that {@link isNoted} there are none. */
export const noteDay = (
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
