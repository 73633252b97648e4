/**
 * Money is an integer in minor units of its currency, kept in a JavaScript number and never outside the range in which
 * every integer is exact.
 */

/** The largest amount there is, in minor units. */
export const maxAmount = Number.MAX_SAFE_INTEGER

/** True for an amount the service can hold exactly. */
export const isAmount = (value: number): boolean => Number.isSafeInteger(value)

/**
 * The largest balance that money coming in may lead to, in minor units: ten trillion of a currency with cents. Far below what
 * a number holds exactly, so that what is always settled, a rollback above all, never leaves the exact range.
 */
export const maxBalance = 1_000_000_000_000_000

/** True for a balance, or a sum of stakes, that money coming in may lead to. */
export const isBalance = (value: number): boolean => Number.isSafeInteger(value) && Math.abs(value) <= maxBalance

/** `floor(a × b ÷ c)` for non-negative `a`, `b` and positive `c`, exact even where `a × b` is not. */
export const multiplyDivideFloor = (a: number, b: number, c: number): number => {
  const product = a * b
  return Number.isSafeInteger(product) ? Math.floor(product / c) : Number(BigInt(a) * BigInt(b) / BigInt(c))
}
