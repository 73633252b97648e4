/** Value that a share of 0 to 1 of the values does not exceed, on the line between the two nearest. NaN without values. */
export const quantile = (values: ReadonlyArray<number>, share: number): number => {
  const sorted = [...values].sort((left, right) => left - right)
  const position = share * (sorted.length - 1)
  const lower = sorted[Math.floor(position)] ?? Number.NaN
  const upper = sorted[Math.ceil(position)] ?? Number.NaN
  return lower + (upper - lower) * (position - Math.floor(position))
}

/** Median of the values; the mean of the two middle ones when their number is even. NaN without values. */
export const median = (values: ReadonlyArray<number>): number => quantile(values, 0.5)

/** Statistics of the rounds of one measurement. */
export interface Spread {
  readonly median: number
  readonly min: number
  readonly max: number
}

export const spread = (values: ReadonlyArray<number>): Spread => ({
  median: median(values),
  min: Math.min(...values),
  max: Math.max(...values)
})

/** How often a value of one side is above one of the other: 1 for each such pair, a half for equal ones. */
const wins = (one: ReadonlyArray<number>, other: ReadonlyArray<number>): number => {
  let sum = 0
  for (const left of one) for (const right of other) sum += left > right ? 1 : left === right ? 0.5 : 0
  return sum
}

/**
 * In how many ways `size` of the ranks 1 to `size + others` add up to each number of pairs won: the distribution of `wins` when
 * there is no difference.
 */
const winCounts = (size: number, others: number): ReadonlyArray<number> => {
  const pairs = size * others
  const empty = (): Array<number> => Array.from({ length: pairs + 1 }, () => 0)
  // ways[k][w]: k of the values seen so far are of the one side, and won w pairs
  const ways = Array.from({ length: size + 1 }, empty)
  const [first] = ways
  if (first !== undefined) first[0] = 1
  for (let rank = 0; rank < size + others; rank++) {
    for (let taken = Math.min(size - 1, rank); taken >= 0; taken--) {
      // as the next of the one side, this value wins against all of the other side seen so far
      const won = rank - taken
      if (won > others) continue
      const from = ways[taken]
      const to = ways[taken + 1]
      if (from === undefined || to === undefined) continue
      for (let sum = 0; sum + won <= pairs; sum++) to[sum + won] = (to[sum + won] ?? 0) + (from[sum] ?? 0)
    }
  }
  return ways[size] ?? []
}

/**
 * How likely a difference at least as clear would be by chance alone: the exact test of Mann and Whitney, two-sided. It asks
 * nothing of how values are distributed; with three values on each side it cannot get below 0.1, with four 0.03, with five 0.008.
 */
export const chanceOfDifference = (one: ReadonlyArray<number>, other: ReadonlyArray<number>): number => {
  const pairs = one.length * other.length
  if (pairs === 0) return 1
  const fewer = Math.floor(Math.min(wins(one, other), pairs - wins(one, other)))
  const counts = winCounts(one.length, other.length)
  const all = counts.reduce((sum, count) => sum + count, 0)
  const tail = counts.slice(0, fewer + 1).reduce((sum, count) => sum + count, 0)
  return Math.min(1, 2 * tail / all)
}
