/** Formatted values, each with its machine-readable form for copying. */
import { useRouter } from "@tanstack/react-router"
import { digits } from "virtual:staff-api"
import { numberTexts } from "../../domain/TypedNumber.ts"
import { locale } from "../app/locale.ts"
import { useTimeZone } from "../app/preferences.tsx"

/** Decimals of a currency: 2 for EUR, 0 for JPY. */
export const digitsOf = (currency: string): number => digits[currency] ?? 2

interface MoneyTexts {
  readonly shown: (amount: number) => string
  readonly copied: (amount: number) => string
}

const moneyTexts = new Map<string, MoneyTexts>()

/** Texts of amounts of a currency, cached: creating a format takes longer than rendering a row. */
const moneyTextsOf = (currency: string): MoneyTexts => {
  const known = moneyTexts.get(currency)
  if (known !== undefined) return known
  const count = digitsOf(currency)
  const format = new Intl.NumberFormat(locale, {
    style: "currency",
    currency,
    minimumFractionDigits: count,
    maximumFractionDigits: count
  })
  const texts = { shown: (amount: number) => format.format(amount / 10 ** count), copied: numberTexts(locale, count) }
  moneyTexts.set(currency, texts)
  return texts
}

/** Formats an amount in minor units. */
export const moneyText = (amount: number, currency: string): string => moneyTextsOf(currency).shown(amount)

/** Amount in minor units; null is a dash. Copied as it is typed: in major units, in the user's language. */
export function Money(
  { amount, currency, signed = false }: {
    readonly amount: number | null | undefined
    readonly currency: string
    readonly signed?: boolean
  }
) {
  if (amount === null || amount === undefined) return <span>–</span>
  return (
    <span
      className={signed && amount < 0 ? "figure negative" : "figure"}
      data-copy={moneyTextsOf(currency).copied(amount)}
    >
      {signed && amount > 0 ? "+" : ""}
      {moneyText(amount, currency)}
    </span>
  )
}

const countFormat = new Intl.NumberFormat(locale)

/** Count with separators. */
export const countText = (count: number): string => countFormat.format(count)

/** Integer count. */
export function Count({ of: count }: { readonly of: number }) {
  return <span className="figure" data-copy={String(count)}>{countText(count)}</span>
}

const timeFormats = new Map<string, Intl.DateTimeFormat>()

/** Formatter of instants in a zone, cached: creating one takes longer than rendering a row. */
const timeFormat = (timeZone: string, timeStyle: "medium" | "short"): Intl.DateTimeFormat => {
  const key = `${timeStyle} ${timeZone}`
  const known = timeFormats.get(key)
  if (known !== undefined) return known
  const format = new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeStyle, timeZone })
  timeFormats.set(key, format)
  return format
}

/** Instant in a time zone, to the second. `at`: ISO 8601. */
export const instantText = (at: string, timeZone: string): string => timeFormat(timeZone, "medium").format(new Date(at))

interface BriefFormats {
  readonly day: Intl.DateTimeFormat
  readonly year: Intl.DateTimeFormat
  readonly ofYear: Intl.DateTimeFormat
  readonly short: Intl.DateTimeFormat
  readonly medium: Intl.DateTimeFormat
}

const briefFormats = new Map<string, BriefFormats>()

const briefFormatsOf = (timeZone: string): BriefFormats => {
  const known = briefFormats.get(timeZone)
  if (known !== undefined) return known
  const formats = {
    day: new Intl.DateTimeFormat(locale, { dateStyle: "short", timeZone }),
    year: new Intl.DateTimeFormat(locale, { year: "numeric", timeZone }),
    ofYear: new Intl.DateTimeFormat(locale, {
      day: "numeric",
      month: "short",
      hour: "2-digit",
      minute: "2-digit",
      timeZone
    }),
    short: new Intl.DateTimeFormat(locale, { timeStyle: "short", timeZone }),
    medium: new Intl.DateTimeFormat(locale, { timeStyle: "medium", timeZone })
  }
  briefFormats.set(timeZone, formats)
  return formats
}

/** Time of day of an instant of today; day and time to the minute within this year; undefined for any other. */
const briefText = (at: Date, timeZone: string, style: "short" | "medium"): string | undefined => {
  const { day, ofYear, year, [style]: time } = briefFormatsOf(timeZone)
  const now = new Date()
  if (day.format(at) === day.format(now)) return time.format(at)
  return style === "short" && year.format(at) === year.format(now) ? ofYear.format(at) : undefined
}

/** Instant in the user's time zone, with the exact one in UTC on hover. `at`: ISO 8601. `isBrief`: of today's, the time alone, and no year of this year's. */
export function Instant(
  { at, isBrief = false, seconds = true }: {
    readonly at: string | null | undefined
    readonly seconds?: boolean
    readonly isBrief?: boolean
  }
) {
  const [timeZone] = useTimeZone()
  if (at === null || at === undefined) return <span>–</span>
  const style = seconds ? "medium" : "short"
  const instant = new Date(at)
  const text = (isBrief ? briefText(instant, timeZone, style) : undefined) ??
    timeFormat(timeZone, style).format(instant)
  return <time dateTime={at} data-copy={at} title={`${at} (shown in ${timeZone})`}>{text}</time>
}

/** Texts of instants to the minute, in the user's time zone. */
export const useInstantText = (): (at: string | number) => string => {
  const [timeZone] = useTimeZone()
  return (at) => timeFormat(timeZone, "short").format(new Date(at))
}

const rangeFormats = new Map<string, Intl.DateTimeFormat>()

/** Times of a period in the user's time zone, with dates only where it goes beyond a day: `21:12 – 21:58`. */
export const usePeriodText = (): (from: string, to: string) => string => {
  const [timeZone] = useTimeZone()
  return (from, to) => {
    const format = rangeFormats.get(timeZone) ?? new Intl.DateTimeFormat(locale, { timeStyle: "short", timeZone })
    rangeFormats.set(timeZone, format)
    return format.formatRange(new Date(from), new Date(to))
  }
}

const statusColors: Readonly<Record<string, string>> = {
  active: "green",
  approved: "green",
  completed: "green",
  delivered: "green",
  posted: "green",
  verified: "green",
  processed: "green",
  activated: "green",
  issued: "blue",
  open: "blue",
  stricter: "green",
  pending: "orange",
  proposed: "orange",
  looser: "orange",
  pending_review: "orange",
  investigating: "orange",
  processing: "orange",
  failed: "red",
  dead: "red",
  rejected: "red",
  // its last answer was an error
  retrying: "red",
  locked: "red",
  tombstone: "orange",
  cancelled: "gray",
  expired: "gray",
  inactive: "gray",
  closed: "gray",
  self_excluded: "red",
  self_exclusion: "red",
  self_closure: "red",
  time_out: "red",
  held: "red",
  restricted: "red",
  suspended: "red",
  blocked: "red",
  in_review: "orange",
  escalated: "orange",
  stopped: "red",
  on: "green",
  critical: "red",
  high: "red",
  medium: "orange",
  low: "gray"
}

/** Codes that promise what they do not do. */
const phrases: Readonly<Record<string, string>> = { deposit_match: "fixed amount on a deposit" }

/** Code as words: `self_excluded` → `self excluded`. */
export const words = (code: string): string => phrases[code] ?? code.replaceAll("_", " ")

/** Like {@link words}, as a heading: `bonus_bets` → `Bonus bets`; `ggr` is GGR. */
export const asHeading = (code: string): string =>
  code === "ggr" ? "GGR" : words(code).replace(/^./, (first) => first.toUpperCase())

/** Status badge by code. `isMuted`: without its colour, where something else says more. */
export function Status(
  { isMuted = false, of: code }: { readonly of: string | null | undefined; readonly isMuted?: boolean }
) {
  if (code === null || code === undefined) return <span>–</span>
  const tint = `var(--mantine-color-${isMuted ? "gray" : statusColors[code] ?? "gray"}-light`
  return (
    <span className="status" style={{ background: `${tint})`, color: `${tint}-color)` }} data-copy={code}>
      {words(code)}
    </span>
  )
}

/** Yes or no. */
export function YesNo({ of: value }: { readonly of: boolean }) {
  return <Status of={value ? "yes" : "no"} />
}

/** Link to a page of this back office. `to`: path with query. */
export function PageLink(
  { children, title, to }: { readonly children: React.ReactNode; readonly to: string; readonly title?: string }
) {
  const { history } = useRouter()
  const follow = (event: React.MouseEvent) => {
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.button !== 0) return
    event.preventDefault()
    history.push(to)
  }
  return <a className="link mantine-focus-auto" href={to} onClick={follow} title={title}>{children}</a>
}

/** Text truncated to a width, complete on hover. */
export function Clip({ children, width = 280 }: { readonly children: string; readonly width?: number }) {
  return <span className="cut" title={children} style={{ maxWidth: width }}>{children}</span>
}
