/**
 * Comparing amounts of a player's currency with an operator's settings, which are amounts of the operator's
 * (`docs/decisions/0021-back-office-rules.md`). Exact: rates are fractions of whole numbers here, never floating point.
 */
import { maxAmount } from "../Money.ts"

/** Minor units of the operator's currency for one minor unit of the player's, as numerator over denominator; both positive. */
export interface Factor {
  readonly numerator: bigint
  readonly denominator: bigint
}

/** One for one: the player's currency is the operator's own. */
export const oneForOne: Factor = { numerator: 1n, denominator: 1n }

/** Reads a decimal number like `0.0085`; undefined when it is none, or not above zero. */
export const parseFactor = (decimal: string): Factor | undefined => {
  const [, whole = "", fraction = ""] = /^(\d+)(?:\.(\d+))?$/.exec(decimal) ?? []
  const numerator = BigInt(`0${whole}${fraction}`)
  return numerator === 0n ? undefined : { numerator, denominator: 10n ** BigInt(fraction.length) }
}

/**
 * The largest amount of the player's currency that is not worth more than a threshold of the operator's: an amount is above the
 * one exactly when its value is above the other. Null (no threshold) stays null. Without a rate it is 0, so that
 * everything is above it: what cannot be compared is treated as large.
 */
export const thresholdIn = (threshold: number | null, factor: Factor | undefined): number | null => {
  if (threshold === null) return null
  if (factor === undefined) return 0
  const largest = BigInt(threshold) * factor.denominator / factor.numerator
  return largest > BigInt(maxAmount) ? maxAmount : Number(largest)
}

/** The least and the greatest amount that is taken, in minor units, both included. */
export interface Bounds {
  readonly min: number
  readonly max: number
}

/** Whether bounds leave every amount in, in whatever currency. */
export const areOpen = ({ max, min }: Bounds): boolean => min <= 1 && max >= maxAmount

/**
 * Bounds of the operator's currency in the player's: an amount is within the ones exactly when its value is within the others. An end
 * that is open stays open. Null where they bound something and there is no rate.
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
