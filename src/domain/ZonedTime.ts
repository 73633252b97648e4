/** Local times of a time zone, and named ranges: yesterday, last month. Pure. */

const minuteMs = 60_000
const hourMs = 60 * minuteMs
const dayMs = 24 * hourMs

// Kept: formats. Formats of the time zones that were asked for. Several nodes: the same everywhere.
const formats = new Map<string, Intl.DateTimeFormat>()

/** Format of a zone, cached: making one takes longer than using it. */
const formatOf = (zone: string): Intl.DateTimeFormat => {
  const known = formats.get(zone)
  if (known !== undefined) return known
  const format = new Intl.DateTimeFormat("en-GB", {
    timeZone: zone,
    calendar: "iso8601",
    hourCycle: "h23",
    year: "numeric",
    month: "2-digit",
    day: "2-digit",
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit"
  })
  formats.set(zone, format)
  return format
}

/** By how much clocks of a zone are ahead of UTC at an instant, milliseconds. */
const offsetAt = (at: number, zone: string): number => {
  const parts = new Map(formatOf(zone).formatToParts(at).map(({ type, value }) => [type, Number(value)]))
  const part = (name: Intl.DateTimeFormatPartTypes): number => parts.get(name) ?? 0
  const shown = Date.UTC(part("year"), part("month") - 1, part("day"), part("hour"), part("minute"), part("second"))
  return shown - Math.floor(at / 1000) * 1000
}

/** `2026-11-27T21:40`, as clocks of the zone show an instant. */
export const wallTime = (at: number, zone: string): string =>
  new Date(at + offsetAt(at, zone)).toISOString().slice(0, 16)

const wallPattern = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}$/

/**
 * The instant at which clocks of a zone show a time; undefined for what is no time since 1900. A time that is skipped when clocks are set forward is the
 * one an hour later, one that is shown twice the first.
 */
export const instantOf = (wall: string, zone: string): number | undefined => {
  const shown = wallPattern.test(wall) ? Date.parse(`${wall}:00Z`) : NaN
  if (Number.isNaN(shown) || wall < "1900") return undefined
  const before = shown - offsetAt(shown - dayMs, zone)
  const after = shown - offsetAt(shown + dayMs, zone)
  return wallTime(before, zone) === wall || wallTime(after, zone) !== wall ? before : after
}

/** Both included, epoch milliseconds. */
export interface TimeRange {
  readonly from: number
  readonly to: number
}

export const namedRanges = ["today", "yesterday", "last_24_hours", "last_week", "this_month", "last_month"] as const

export type NamedRange = (typeof namedRanges)[number]

/** Days and months of a zone; weeks begin on Monday. */
export const rangeNamed = (name: NamedRange, now: number, zone: string): TimeRange => {
  const [year = 0, month = 1, day = 1] = wallTime(now, zone).slice(0, 10).split("-").map(Number)
  /** Beginning of a day, counted from the first of this month. */
  const dayAt = (months: number, days: number): number => {
    const date = new Date(Date.UTC(year, month - 1 + months, days)).toISOString().slice(0, 10)
    return instantOf(`${date}T00:00`, zone) ?? now
  }
  const between = (from: number, end: number): TimeRange => ({ from, to: end - 1 })
  switch (name) {
    case "today":
      return between(dayAt(0, day), dayAt(0, day + 1))
    case "yesterday":
      return between(dayAt(0, day - 1), dayAt(0, day))
    case "last_24_hours":
      return { from: now - dayMs, to: now }
    case "last_week": {
      const sinceMonday = (new Date(Date.UTC(year, month - 1, day)).getUTCDay() + 6) % 7
      return between(dayAt(0, day - sinceMonday - 7), dayAt(0, day - sinceMonday))
    }
    case "this_month":
      return between(dayAt(0, 1), dayAt(1, 1))
    case "last_month":
      return between(dayAt(-1, 1), dayAt(0, 1))
    default:
      return name satisfies never
  }
}

/** Half an hour before and after an instant. */
export const rangeAround = (at: number): TimeRange => ({ from: at - hourMs / 2, to: at + hourMs / 2 })
