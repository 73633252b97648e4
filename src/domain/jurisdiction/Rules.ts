/**
 * Effective rules of a player: the profile version in force, with amounts in the player's currency and the version of the operator's terms and
 * conditions. Players with the same profile, currency and terms share one object, so that a bet needs no look-up.
 */
import { type Factor, thresholdIn } from "../CurrencyConversion.ts"
import { limitFields } from "../LimitFields.ts"
import { amountAt, madeStricter, stricterOf } from "./Differences.ts"
import { noneProfile } from "./BuiltIn.ts"
import type { Profile } from "./Profile.ts"

/** A version of a profile. Versions of a code are numbered from 1 and never change. */
export interface ProfileVersion {
  readonly version: number
  /** Epoch milliseconds from which it counts; a version that waits for an approval does not count. */
  readonly validFrom: number
  readonly isApproved: boolean
  /** Epoch milliseconds from which what is looser than before counts as well. */
  readonly looserFrom: number
  readonly document: Profile
}

/** A move from another jurisdiction, whose stricter rules count as well until an instant, epoch milliseconds. */
export interface Moved {
  readonly from: string
  readonly until: number
}

export interface Rules extends Profile {
  readonly version: number
  /** Version of the operator's terms that the player has to accept; null: any, or none. */
  readonly terms: string | null
  /** Of a player who was moved lately; null for others, who share the object. */
  readonly moved: Moved | null
}

export interface InForce {
  readonly profile: Profile
  readonly version: number
  readonly validFrom: number
  /** Epoch milliseconds until which this counts, if no version is added; infinite when nothing is due. */
  readonly until: number
}

/** What counts at `now`, of the versions of one code; undefined before the first. */
export const inForce = (versions: ReadonlyArray<ProfileVersion>, now: number): InForce | undefined => {
  let current: InForce | undefined
  let until = Infinity
  const due = versions.filter(({ isApproved }) => isApproved).sort((a, b) =>
    a.validFrom - b.validFrom || a.version - b.version
  )
  for (const { document, looserFrom, validFrom, version } of due) {
    if (now < validFrom) {
      until = Math.min(until, validFrom)
      break
    }
    if (current !== undefined && version < current.version) {
      // announced before the one that counts, which it cannot loosen: what would be looser was compared with other rules
      current = { ...current, profile: madeStricter(current.profile, document) }
      continue
    }
    const waits = current !== undefined && now < looserFrom
    until = waits ? Math.min(until, looserFrom) : Infinity
    current = {
      profile: waits && current !== undefined ? stricterOf(current.profile, document) : document,
      version,
      validFrom,
      until
    }
  }
  return current === undefined ? undefined : { ...current, until }
}

/** True when a document has an amount, which a player of another currency needs a factor for. */
export const hasAmounts = ({ bonuses, deposits, limits, stakes, vulnerability }: Profile): boolean =>
  [limits.caps, limits.contact_above].some((amounts) => Object.keys(amounts).some((field) => !isMinutes(field))) ||
  deposits.net_cap !== null || stakes.length > 0 || bonuses.max_amount !== null || vulnerability !== null

const isMinutes = (field: string): boolean => field === "max_session_minutes"

/**
 * The rules of a version in a player's currency: the largest amounts of no greater value, as with an operator's default limits. `factor` is minor
 * units of the profile's currency for one of the player's.
 */
export const rulesIn = (
  { profile, version }: Pick<InForce, "profile" | "version">,
  factor: Factor,
  terms: Rules["terms"] = null
): Rules => {
  const amount = (value: number): number => thresholdIn(value, factor) ?? value
  const orNull = (value: number | null): number | null => value === null ? null : amount(value)
  const perLimit = (amounts: Profile["limits"]["caps"]): Profile["limits"]["caps"] => {
    const converted: { [field in (typeof limitFields)[number]]?: number } = {}
    for (const field of limitFields) {
      const value = amounts[field]
      if (value !== undefined) converted[field] = isMinutes(field) ? value : amount(value)
    }
    return converted
  }
  const byAge = (cap: { readonly amount: number; readonly amount_under: number | null }) => ({
    amount: amount(cap.amount),
    amount_under: orNull(cap.amount_under)
  })
  const { bonuses, deposits: { net_cap }, limits, stakes, vulnerability } = profile
  return {
    ...profile,
    version,
    terms,
    moved: null,
    limits: { ...limits, caps: perLimit(limits.caps), contact_above: perLimit(limits.contact_above) },
    deposits: { net_cap: net_cap === null ? null : { ...net_cap, ...byAge(net_cap) } },
    stakes: stakes.map((stake) => ({ ...stake, ...byAge(stake) })),
    bonuses: { ...bonuses, max_amount: orNull(bonuses.max_amount) },
    vulnerability: vulnerability === null
      ? null
      : { ...vulnerability, net_deposits: amount(vulnerability.net_deposits) }
  }
}

/** The rules of the profile `none`: what a player has whose jurisdiction says nothing. */
export const noRules: Rules = { ...noneProfile, version: 1, terms: null, moved: null }

/** A day as a number that orders days: 20081121 of `2008-11-21`. */
export const dayNumber = (date: string): number => Number(date.replaceAll("-", ""))

/** Age in whole years at `now`, by the calendar day in UTC; who was born on 29 February is a year older on 1 March. `birthDay` is a {@link dayNumber}. */
export const ageAt = (birthDay: number, now: number): number => {
  const date = new Date(now)
  const today = (date.getUTCFullYear() * 100 + date.getUTCMonth() + 1) * 100 + date.getUTCDate()
  return Math.floor((today - birthDay) / 10_000)
}

/** The lowest cap on a stake in a category at an age, minor units; undefined when there is none. */
export const stakeCap = ({ stakes }: Rules, category: string, age: number): number | undefined => {
  let lowest: number | undefined
  for (const stake of stakes) {
    if (stake.categories.includes(category)) lowest = Math.min(lowest ?? Infinity, amountAt(stake, age))
  }
  return lowest
}
