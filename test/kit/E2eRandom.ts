/** Chance that can be had again: everything a run draws follows from one seed, which stands in the name of the test. */
import { randomInt } from "node:crypto"

export interface Chance {
  /** A whole number from 0 up to, not including, `bound`. */
  readonly below: (bound: number) => number
  readonly between: (low: number, high: number) => number
  /** True in this share of draws. */
  readonly share: (share: number) => boolean
  readonly pick: <A>(items: ReadonlyArray<A>) => A
}

/** The seed of this run: a new one, or that of `E2E_SEED`, to have a run again. */
export const seedOfRun = (): number => {
  const given = Number(process.env["E2E_SEED"])
  return Number.isSafeInteger(given) && given > 0 ? given : randomInt(1, 2 ** 31)
}

/** A stream of draws. Those who draw side by side take streams of their own, by number. */
export const chanceOf = (seed: number, stream = 0): Chance => {
  let state = (seed ^ Math.imul(stream + 1, 0x9e3779b9)) >>> 0
  // mulberry32
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ state >>> 15, state | 1)
    mixed ^= mixed + Math.imul(mixed ^ mixed >>> 7, mixed | 61)
    return ((mixed ^ mixed >>> 14) >>> 0) / 2 ** 32
  }
  const below = (bound: number): number => Math.floor(next() * bound)
  return {
    below,
    between: (low, high) => low + below(high - low + 1),
    share: (share) => next() < share,
    pick: (items) => {
      const item = items[below(items.length)]
      if (item === undefined) throw new Error("there is nothing to pick from")
      return item
    }
  }
}
