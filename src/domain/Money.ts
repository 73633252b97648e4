/** Money is an integer in minor units of its currency, kept in a JavaScript number within the range in which every integer is exact. */

/** Largest amount, in minor units. */
export const maxAmount = Number.MAX_SAFE_INTEGER

/** True for an exactly representable amount. */
export const isAmount = (value: number): boolean => Number.isSafeInteger(value)

/**
 * Largest balance that a credit may lead to, in minor units: ten trillion of a currency with cents. Far below the exact range of a number, so that
 * messages that are always settled, above all rollbacks, never leave it.
 */
export const maxBalance = 1_000_000_000_000_000

/** True for a balance, or a sum of stakes, that a credit may lead to. */
export const isBalance = (value: number): boolean => Number.isSafeInteger(value) && Math.abs(value) <= maxBalance

/** `floor(a × b ÷ c)` for non-negative `a`, `b` and positive `c`, exact even where `a × b` is not. */
export const multiplyDivideFloor = (a: number, b: number, c: number): number => {
  const product = a * b
  return Number.isSafeInteger(product) ? Math.floor(product / c) : Number(BigInt(a) * BigInt(b) / BigInt(c))
}
