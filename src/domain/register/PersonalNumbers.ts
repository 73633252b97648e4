/** National personal numbers: their validation, and the birth date that some carry. Dates are `YYYY-MM-DD`. */

/** A number as registers take it, and the birth date that it carries. */
export interface DatedNumber {
  readonly digits: string
  readonly birthDate: string
}

const isCalendarDay = (date: string): boolean => {
  const day = new Date(`${date}T00:00:00Z`)
  return !Number.isNaN(day.getTime()) && day.toISOString().startsWith(date)
}

const dated = (digits: string, year: number, month: string, day: string): DatedNumber | undefined => {
  const birthDate = `${year}-${month}-${day}`
  return isCalendarDay(birthDate) ? { digits, birthDate } : undefined
}

const luhnSum = (digits: string): number =>
  Array.from(digits, Number).reduce((sum, digit, index) => {
    const weighted = index % 2 === 0 ? 2 * digit : digit
    return sum + (weighted > 9 ? weighted - 9 : weighted)
  }, 0)

/** A coordination number has 60 added to its day. */
const coordination = 60

/** Swedish personal or coordination number `YYYYMMDDNNNN` or `YYYYMMDD-NNNN`, with its check digit; undefined for any other text. */
export const swedishNumber = (text: string): DatedNumber | undefined => {
  const match = /^((\d{4})(\d{2})(\d{2}))-?(\d{4})$/.exec(text)
  if (match === null) return undefined
  const [, date = "", year = "", month = "", day = "", end = ""] = match
  const digits = date + end
  // the century is no part of the check
  if (luhnSum(digits.slice(2)) % 10 !== 0) return undefined
  const dayOfMonth = Number(day) > coordination ? Number(day) - coordination : Number(day)
  return dated(digits, Number(year), month, String(dayOfMonth).padStart(2, "0"))
}

/** Century by the seventh digit, as the Danish civil register assigns it. */
const danishCentury = (seventh: number, year: number): number => {
  if (seventh <= 3) return 1900
  if (seventh === 4 || seventh === 9) return year <= 36 ? 2000 : 1900
  return year <= 57 ? 2000 : 1800
}

/** Danish personal number `DDMMYYNNNN` or `DDMMYY-NNNN`; undefined for any other text. Numbers since 2007 need not pass modulus 11. */
export const danishNumber = (text: string): DatedNumber | undefined => {
  const match = /^(\d{2})(\d{2})(\d{2})-?(\d{4})$/.exec(text)
  if (match === null) return undefined
  const [, day = "", month = "", year = "", end = ""] = match
  const century = danishCentury(Number(end[0]), Number(year))
  return dated(day + month + year + end, century + Number(year), month, day)
}

/** True for a Dutch citizen service number of nine digits that passes the eleven test. */
export const isDutchNumber = (text: string): boolean => {
  if (!/^\d{9}$/.test(text) || text === "000000000") return false
  const sum = Array.from(text, Number).reduce((sum, digit, index) => sum + digit * (index === 8 ? -1 : 9 - index), 0)
  return sum % 11 === 0
}
