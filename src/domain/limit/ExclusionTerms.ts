/** Type of an exclusion by its length, and how it ends. Pure and without server code: the pages show both before the request is sent. */
import { after } from "../jurisdiction/Duration.ts"
import type { ExclusionPeriod, ExclusionType } from "../jurisdiction/ExclusionPeriods.ts"
import type { Profile } from "../jurisdiction/Profile.ts"

type Breaks = Pick<Profile["breaks"], "ends" | "periods" | "self_exclusion" | "time_out">

/** What the terms of a new exclusion take from the one in force. */
interface Current {
  readonly type: ExclusionType
  /** Epoch milliseconds; null: without an end. */
  readonly until: number | null
  readonly endsOnRequest: boolean
}

/** A time-out keeps bonuses; the other two types have the same effects. */
export const isStrong = (type: ExclusionType): boolean => type !== "time_out"

/** Whether a break that ends at `end` (null: never) is as long as its bounds want it. */
export const isWithin = (
  { max, min }: { readonly min: string | null; readonly max: string | null },
  end: number | null,
  now: number
): boolean =>
  (min === null || end === null || end >= after(min, now)) && (max === null || end !== null && end <= after(max, now))

/** Type of a break of this length: a time-out as long as it may be one; null between the bounds of the two. */
const typeByLength = (breaks: Breaks, end: number | null, now: number): ExclusionType | null =>
  isWithin(breaks.time_out, end, now)
    ? "time_out"
    : isWithin(breaks.self_exclusion, end, now)
    ? "self_exclusion"
    : null

/** Type of an exclusion that is asked for without one: never weaker than the one in force; null where the bounds allow none. */
export const derivedType = (
  breaks: Breaks,
  { end, period }: { readonly period: ExclusionPeriod | null; readonly end: number | null },
  current: Current | null,
  now: number
): ExclusionType | null => {
  const derived = (period === null ? undefined : breaks.periods[period]) ?? typeByLength(breaks, end, now)
  return current !== null && isStrong(current.type) && derived !== "self_exclusion" ? current.type : derived
}

/** Least time of an exclusion without end where the jurisdiction does not say. */
const leastIndefinite = "P6M"

/**
 * From when the player may ask to return; undefined where the exclusion ends by itself. A time-out always does, one without end never, and what
 * prolongs another neither ends in an easier way nor sooner.
 */
export const returnFromOf = (
  breaks: Breaks,
  current: Current | null,
  { type, until }: { readonly type: ExclusionType; readonly until: number | null },
  now: number
): number | undefined => {
  if (until === null) return Math.max(after(breaks.self_exclusion.min ?? leastIndefinite, now), current?.until ?? now)
  const endsOnRequest = current?.endsOnRequest === true || type === "self_exclusion" && breaks.ends === "on_request"
  return endsOnRequest ? until : undefined
}
