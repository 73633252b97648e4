/** Periods of exclusions, and how players ask for one. Pure and without server code: the pages say the end before it is sent. */

export const exclusionPeriods = [
  "24_hours",
  "7_days",
  "30_days",
  "3_months",
  "6_months",
  "12_months",
  "5_years"
] as const

export type ExclusionPeriod = (typeof exclusionPeriods)[number]

export const dayMs = 86_400_000

/** Adds calendar months (UTC) at the same time of day, clamped to the last day of the month. */
export const addMonths = (at: number, months: number): number => {
  const date = new Date(at)
  const year = date.getUTCFullYear()
  const month = date.getUTCMonth() + months
  const lastDay = new Date(Date.UTC(year, month + 1, 0)).getUTCDate()
  const timeOfDay = at - Math.floor(at / dayMs) * dayMs
  return Date.UTC(year, month, Math.min(date.getUTCDate(), lastDay)) + timeOfDay
}

/** End of a period that begins at `from`. */
export const periodEnd = (period: ExclusionPeriod, from: number): number => {
  switch (period) {
    case "24_hours":
      return from + dayMs
    case "7_days":
      return from + 7 * dayMs
    case "30_days":
      return from + 30 * dayMs
    case "3_months":
      return addMonths(from, 3)
    case "6_months":
      return addMonths(from, 6)
    case "12_months":
      return addMonths(from, 12)
    case "5_years":
      return addMonths(from, 60)
  }
}

/** How players reach staff. */
export const requestChannels = ["phone", "email", "chat", "letter", "in_person"] as const
