/** Periods, types, sources and endings of exclusions. Pure and without server code: the pages show the end before the request is sent. */
import { after, orderOf } from "./Duration.ts"

/** Length of each period; null has no end. */
const lengths = {
  "24_hours": "PT24H",
  "7_days": "P7D",
  "30_days": "P30D",
  "1_month": "P1M",
  "6_weeks": "P6W",
  "2_months": "P2M",
  "3_months": "P3M",
  "6_months": "P6M",
  "12_months": "P12M",
  "5_years": "P5Y",
  indefinite: null
} as const

export type ExclusionPeriod = keyof typeof lengths

export const exclusionPeriods = [
  "24_hours",
  "7_days",
  "30_days",
  "1_month",
  "6_weeks",
  "2_months",
  "3_months",
  "6_months",
  "12_months",
  "5_years",
  "indefinite"
] as const satisfies ReadonlyArray<ExclusionPeriod>

/** End of a period that begins at `from`, epoch milliseconds; null: none. */
export const periodEnd = (period: ExclusionPeriod, from: number): number | null => {
  const length = lengths[period]
  return length === null ? null : after(length, from)
}

export const exclusionTypes = ["self_exclusion", "time_out", "self_closure"] as const

export type ExclusionType = (typeof exclusionTypes)[number]

/** Who asked for an exclusion. */
export const exclusionSources = ["player", "operator", "staff", "licensee"] as const

export type ExclusionSource = (typeof exclusionSources)[number]

/** Where an exclusion holds: at the player's operator alone, or for the same person at every operator of its licensee. */
export const exclusionScopes = ["operator", "licensee"] as const

export type ExclusionScope = (typeof exclusionScopes)[number]

/** How an exclusion ends. */
export const exclusionEndings = ["by_itself", "on_request"] as const

const noWait = "PT0S"

/** The wait from the request to return to the return: the longest of the jurisdiction's and those of exclusions that go on in this one. */
export const returnWaitOf = (
  { return_wait: wait }: { readonly return_wait: string | null },
  ...others: ReadonlyArray<string | undefined>
): string =>
  others.reduce<string>(
    (longest, other = noWait) => orderOf(other) > orderOf(longest) ? other : longest,
    wait ?? noWait
  )

/** Periods on offer where a jurisdiction does not say otherwise (SPEC section 4.7). */
export const standardPeriods = {
  "24_hours": "time_out",
  "7_days": "time_out",
  "30_days": "time_out",
  "3_months": "self_exclusion",
  "6_months": "self_exclusion",
  "12_months": "self_exclusion",
  "5_years": "self_exclusion"
} as const satisfies { readonly [period in ExclusionPeriod]?: ExclusionType }

/** How players reach staff. */
export const requestChannels = ["phone", "email", "chat", "letter", "in_person"] as const
