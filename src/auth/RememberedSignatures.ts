/** Recently accepted request signatures, in a table of fixed size in memory, so that most replays are refused without a query. */

/** Number of slots, a power of two: 4 MiB. At 10,000 requests a second a signature is kept for half a minute on average. */
const defaultCapacity = 2 ** 18

/** Hexadecimal digits that name the slot, and those compared within it: 52 bits, which a number holds exactly. */
const slotDigits = 6
const comparedDigits = 13

const comparedIn = (signature: string): number =>
  Number.parseInt(signature.slice(slotDigits, slotDigits + comparedDigits), 16)

/** Compared with no signature's digits. */
const nothing = -1

/**
 * Each signature has one slot, where a later one replaces it. Arrays of numbers: strings in a map would be most of what garbage collection promotes
 * and marks (`docs/decisions/0053-garbage-of-commits.md`). Signatures are SHA-256: one that was never added is refused once in 2^52 times.
 */
export class RememberedSignatures {
  private readonly compared: Float64Array
  /** Epoch milliseconds; zero is an empty slot. */
  private readonly acceptedAt: Float64Array

  constructor(capacity: number = defaultCapacity) {
    this.compared = new Float64Array(capacity)
    this.acceptedAt = new Float64Array(capacity)
  }

  private slotOf(signature: string): number {
    return Number.parseInt(signature.slice(0, slotDigits), 16) & (this.compared.length - 1)
  }

  /** Adds a signature, hexadecimal; false when one accepted at `since` or later is there. Epoch milliseconds. */
  add(signature: string, now: number, since: number): boolean {
    const slot = this.slotOf(signature)
    const compared = comparedIn(signature)
    if (this.compared[slot] === compared && this.acceptedAt[slot]! >= since) return false
    this.compared[slot] = compared
    this.acceptedAt[slot] = now
    return true
  }

  /** Removes a signature if it is there. */
  remove(signature: string): void {
    const slot = this.slotOf(signature)
    if (this.compared[slot] === comparedIn(signature)) this.compared[slot] = nothing
  }
}
