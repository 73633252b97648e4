/**
 * Money is an integer in minor units of its currency, kept in a JavaScript number and never outside the range in which
 * every integer is exact.
 */

/** The largest amount and the largest balance there is, in minor units. */
export const maxAmount = Number.MAX_SAFE_INTEGER

/** True for an amount the service can hold exactly. */
export const isAmount = (value: number): boolean => Number.isSafeInteger(value)

/** `floor(a × b ÷ c)` for non-negative `a`, `b` and positive `c`, exact even where `a × b` is not. */
export const multiplyDivideFloor = (a: number, b: number, c: number): number => {
  const product = a * b
  return Number.isSafeInteger(product) ? Math.floor(product / c) : Number(BigInt(a) * BigInt(b) / BigInt(c))
}
