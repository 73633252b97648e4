/** Durations of rules, ISO 8601 without fractions: `PT24H`, `P6W`, `P6M`. Months and years are those of the calendar, in UTC. */
import { Schema } from "effect"

const dayMs = 86_400_000

/** Adds calendar months (UTC) at the same time of day, clamped to the last day of the month. */
export const addMonths = (at: number, months: number): number => {
  const date = new Date(at)
  const year = date.getUTCFullYear()
  const month = date.getUTCMonth() + months
  const lastDay = new Date(Date.UTC(year, month + 1, 0)).getUTCDate()
  const timeOfDay = at - Math.floor(at / dayMs) * dayMs
  return Date.UTC(year, month, Math.min(date.getUTCDate(), lastDay)) + timeOfDay
}

const form =
  /^P(?=\d|T)(?:(\d{1,3})Y)?(?:(\d{1,4})M)?(?:(\d{1,4})W)?(?:(\d{1,5})D)?(?:T(?=\d)(?:(\d{1,5})H)?(?:(\d{1,6})M)?(?:(\d{1,7})S)?)?$/

/** A duration as text: `P1Y`, `P7D`, `PT30M`. */
export const Duration = Schema.String.check(
  Schema.makeFilter((text: string) =>
    form.test(text) || "must be a duration of ISO 8601 without fractions, like PT24H or P6M"
  )
)

const units = ["year", "month", "week", "day", "hour", "minute", "second"] as const

/** In words: `PT24H` is 24 hours, `P1Y` 1 year, and one of no length no time. */
export const durationText = (duration: string): string => {
  const counts = (form.exec(duration) ?? []).slice(1).map(Number)
  const parts = units.flatMap((unit, place) => {
    const count = counts[place] ?? 0
    return count > 0 ? [`${count} ${unit}${count === 1 ? "" : "s"}`] : []
  })
  return parts.join(" ") || "no time"
}

interface Parts {
  readonly months: number
  readonly milliseconds: number
}

const read = (duration: string): Parts => {
  const [years, months, weeks, days, hours, minutes, seconds] = (form.exec(duration) ?? []).slice(1).map(
    // a unit that is left out is no number
    (part) => Number(part) || 0
  )
  return {
    months: (years ?? 0) * 12 + (months ?? 0),
    milliseconds: ((weeks ?? 0) * 7 + (days ?? 0)) * dayMs +
      (((hours ?? 0) * 60 + (minutes ?? 0)) * 60 + (seconds ?? 0)) * 1000
  }
}

// Kept: known. Durations of rules, read. Several nodes: its own: computed from the text.
/** Durations that were read: a bet in a session with a reality check reads the same few again and again. */
const known = new Map<string, Parts>()
const maxKnown = 1000

const partsOf = (duration: string): Parts => {
  const found = known.get(duration)
  if (found !== undefined) return found
  const parts = read(duration)
  if (known.size >= maxKnown) known.clear()
  known.set(duration, parts)
  return parts
}

/** The instant, epoch milliseconds, at which a duration that begins `at` is over. */
export const after = (duration: string, at: number): number => {
  const { milliseconds, months } = partsOf(duration)
  return (months === 0 ? at : addMonths(at, months)) + milliseconds
}

/** The latest instant of which `after` is surely over at `now`: up to three days earlier where months differ in length. */
export const before = (duration: string, now: number): number => {
  const { milliseconds, months } = partsOf(duration)
  return addMonths(now - milliseconds, -months)
}

/** Milliseconds of a duration that begins at 1970-01-01: an order of durations, not their length. */
export const orderOf = (duration: string): number => after(duration, 0)
