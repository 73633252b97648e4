/** Picks players uniformly and repeatably (Mulberry32): a run with the same seed bets for the same players. */
export class PlayerPicker {
  readonly #count: number
  #state: number

  constructor(count: number, seed: number) {
    this.#count = count
    this.#state = seed >>> 0
  }

  /** An index from 0 to count − 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let mixed = this.#state
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return Math.floor(((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296 * this.#count)
  }
}
