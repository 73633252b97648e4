/** Exact decimal amounts as vendors send them. Never rounded: an amount that is not a whole number of minor units is invalid. */
import { maxAmount } from "../domain/Money.ts"
import { minorDigits } from "../domain/Standards.ts"

/** `coefficient` × 10^-`scale`, without trailing zeros; `coefficient` is an exact integer. */
export interface Decimal {
  readonly coefficient: number
  readonly scale: number
}

/** Amount in minor units of any currency. */
interface MinorUnits {
  readonly minor: number
}

/** Exact amount of the wire, before its currency is known. */
export type Amount = Decimal | MinorUnits

const pattern = /^(-?)(\d{1,30})(?:\.(\d{1,30}))?$/

/** Parses a plain decimal (no exponent, no plus sign); undefined for any other text and outside the exact range. */
export const parseDecimal = (text: string): Decimal | undefined => {
  const match = pattern.exec(text)
  if (match === null) return undefined
  const [, sign = "", whole = "", fraction = ""] = match
  const significant = fraction.replace(/0+$/, "")
  const coefficient = Number(whole + significant)
  if (coefficient > maxAmount) return undefined
  return { coefficient: sign === "-" ? 0 - coefficient : coefficient, scale: significant.length }
}

/** Converts to minor units of a currency with `digits` decimals; undefined when not whole or not exact. */
export const toMinorUnits = (amount: Amount, digits: number): number | undefined => {
  if ("minor" in amount) return amount.minor
  const { coefficient, scale } = amount
  // trailing zeros are dropped when parsing: 120.00 of a currency without decimals is whole
  if (scale > digits) return undefined
  const minor = coefficient * 10 ** (digits - scale)
  return Number.isSafeInteger(minor) ? minor : undefined
}

/** Decimal of `units` × 10^-`scale`. */
export const fromUnits = (units: number, scale: number): Decimal => {
  let [coefficient, left] = [units, scale]
  while (left > 0 && coefficient % 10 === 0) {
    coefficient /= 10
    left--
  }
  return { coefficient, scale: left }
}

/** Formats minor units in major units of the currency: 1050 of the euro is `10.50`. */
export const toMajorText = (minor: number, currency: string): string => {
  const digits = minorDigits(currency)
  const text = String(Math.abs(minor)).padStart(digits + 1, "0")
  const sign = minor < 0 ? "-" : ""
  return digits === 0 ? `${sign}${text}` : `${sign}${text.slice(0, -digits)}.${text.slice(-digits)}`
}

/** Formats a decimal as plain text; minor units as such. */
export const decimalText = (amount: Amount): string => {
  if ("minor" in amount) return String(amount.minor)
  const { coefficient, scale } = amount
  const digits = String(Math.abs(coefficient)).padStart(scale + 1, "0")
  const sign = coefficient < 0 ? "-" : ""
  return scale === 0 ? `${sign}${digits}` : `${sign}${digits.slice(0, -scale)}.${digits.slice(-scale)}`
}
