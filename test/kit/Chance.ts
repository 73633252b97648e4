/** Seeded random draws in independent streams: a draw from one does not affect the others. */
import { randomInt } from "node:crypto"

/** The seed of this run: a new one, or that of `E2E_SEED`, to have a run again. */
export const seedOfRun = (): number => {
  const given = Number(process.env["E2E_SEED"])
  return Number.isSafeInteger(given) && given > 0 ? given : randomInt(1, 2 ** 31)
}

/** A stream of chances. */
export interface Chance {
  /** From 0 up to, not including, 1. */
  readonly next: () => number
  /** A whole number from 0 up to, not including, `bound`. */
  readonly below: (bound: number) => number
  /** A whole number, both ends included. */
  readonly between: (least: number, most: number) => number
  readonly happens: (probability: number) => boolean
  /** One of them, which there must be. */
  readonly pick: <A>(items: ReadonlyArray<A>) => A
  /** One of them, the more often the larger its weight. */
  readonly pickBy: <A>(items: ReadonlyArray<readonly [item: A, weight: number]>) => A
}

const hashOf = (text: string, start: number): number => {
  let hash = start
  for (let index = 0; index < text.length; index++) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193)
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  return hash ^ (hash >>> 13)
}

/** The stream under these names: the same names give the same stream, others an unrelated one. */
export const chanceOf = (...names: ReadonlyArray<string | number>): Chance => {
  const name = names.join("\n")
  let a = hashOf(name, 0x811c9dc5)
  let b = hashOf(name, 0x9e3779b9)
  let c = hashOf(name, 0x7f4a7c15)
  let counter = 1
  const next = (): number => {
    // sfc32
    const sum = (a + b | 0) + counter | 0
    counter = counter + 1 | 0
    a = b ^ b >>> 9
    b = c + (c << 3) | 0
    c = (c << 21 | c >>> 11) + sum | 0
    return (sum >>> 0) / 2 ** 32
  }
  for (let turn = 0; turn < 8; turn++) next()
  const below = (bound: number): number => Math.floor(next() * bound)
  const pick = <A>(items: ReadonlyArray<A>): A => {
    const item = items[below(items.length)]
    if (item === undefined) throw new RangeError("there is nothing to pick from")
    return item
  }
  return {
    next,
    below,
    between: (least, most) => least + below(most - least + 1),
    happens: (probability) => next() < probability,
    pick,
    pickBy: (items) => {
      let left = next() * items.reduce((sum, [, weight]) => sum + weight, 0)
      for (const [item, weight] of items) {
        left -= weight
        if (left < 0) return item
      }
      return pick(items)[0]
    }
  }
}

/** A running hash of numbers, order included; two runs are the same when their hashes are. */
export class Trace {
  private high = 0x811c9dc5
  private low = 0x9e3779b9

  add(value: number): void {
    this.high = Math.imul(this.high ^ value, 0x01000193)
    this.low = Math.imul(this.low ^ (value + (this.high >>> 7)), 0x85ebca6b)
  }

  addText(text: string): void {
    for (let index = 0; index < text.length; index++) this.add(text.charCodeAt(index))
  }

  /** 16 hexadecimal digits. */
  digest(): string {
    const hex = (part: number) => (part >>> 0).toString(16).padStart(8, "0")
    return hex(this.high) + hex(this.low)
  }
}
