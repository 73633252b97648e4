/**
 * Calendar windows of limits, all in UTC: the day from midnight, the ISO week from Monday, the month and the year from their first day. Instants are
 * epoch milliseconds.
 */

export type Window = "day" | "week" | "month" | "year"

const dayMs = 86_400_000

/** Start of the window that contains `at`. */
export const windowStart = (window: Window, at: number): number => {
  const day = Math.floor(at / dayMs)
  switch (window) {
    case "day":
      return day * dayMs
    case "week":
      // 1970-01-01 was a Thursday, three days after a Monday
      return (day - ((day + 3) % 7 + 7) % 7) * dayMs
    case "month": {
      const date = new Date(at)
      return Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), 1)
    }
    case "year":
      return Date.UTC(new Date(at).getUTCFullYear(), 0, 1)
  }
}

/** End of the window that contains `at`, which is the start of the next. */
export const windowEnd = (window: Window, at: number): number => {
  switch (window) {
    case "day":
      return windowStart("day", at) + dayMs
    case "week":
      return windowStart("week", at) + 7 * dayMs
    case "month": {
      const date = new Date(at)
      return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1)
    }
    case "year":
      return Date.UTC(new Date(at).getUTCFullYear() + 1, 0, 1)
  }
}

/** True when both instants are in the same window. */
export const sameWindow = (window: Window, a: number, b: number): boolean =>
  a === b || windowStart(window, a) === windowStart(window, b)
