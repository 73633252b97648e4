/**
 * Comparison of amounts in a player's currency with settings in the operator's currency (`docs/decisions/0021-staff.md`). Exact: rates
 * are integer fractions, never floating point.
 */
import { maxAmount } from "./Money.ts"
import { refuseFields } from "./Refusal.ts"

/** Refusal of a list that is to compare amounts of several currencies: 1,000 minor units are 10 euros or 1,000 yen. */
export const needsCurrency = refuseFields({
  currency: ["is required to compare amounts: name the currency of the amounts"]
})

/** Minor units of the operator's currency for one of the player's, as numerator over denominator; both positive. */
export interface Factor {
  readonly numerator: bigint
  readonly denominator: bigint
}

/** One to one: both currencies are the same. */
export const oneForOne: Factor = { numerator: 1n, denominator: 1n }

/** Parses a decimal number like `0.0085`; undefined when invalid or not positive. */
export const parseFactor = (decimal: string): Factor | undefined => {
  const [, whole = "", fraction = ""] = /^(\d+)(?:\.(\d+))?$/.exec(decimal) ?? []
  const numerator = BigInt(`0${whole}${fraction}`)
  return numerator === 0n ? undefined : { numerator, denominator: 10n ** BigInt(fraction.length) }
}

/**
 * Largest amount in the player's currency whose value does not exceed a threshold in the operator's: an amount exceeds it exactly when its value
 * exceeds the threshold. Null (no threshold) stays null. Without a rate it is 0, so that every amount exceeds it: incomparable amounts are treated as
 * large.
 */
export const thresholdIn = (threshold: number | null, factor: Factor | undefined): number | null => {
  if (threshold === null) return null
  if (factor === undefined) return 0
  const largest = BigInt(threshold) * factor.denominator / factor.numerator
  return largest > BigInt(maxAmount) ? maxAmount : Number(largest)
}

/** Minimum and maximum amount, in minor units, both inclusive. */
export interface Bounds {
  readonly min: number
  readonly max: number
}

/** True when bounds allow every amount in any currency. */
export const areOpen = ({ max, min }: Bounds): boolean => min <= 1 && max >= maxAmount

/**
 * Converts bounds from the operator's currency to the player's: an amount is within the result exactly when its value is within the original. An open
 * end stays open. Null when a conversion is needed and there is no rate.
 */
export const boundsIn = (bounds: Bounds, factor: Factor | undefined): Bounds | null => {
  const { max, min } = bounds
  if (areOpen(bounds)) return bounds
  if (factor === undefined) return null
  const least = (BigInt(min) * factor.denominator + factor.numerator - 1n) / factor.numerator
  return {
    min: min <= 1 ? min : least > BigInt(maxAmount) ? maxAmount : Number(least),
    max: max >= maxAmount ? max : thresholdIn(max, factor) ?? max
  }
}
