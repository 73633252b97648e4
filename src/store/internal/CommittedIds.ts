/**
 * Fingerprints of probably committed transaction ids, in a table of fixed size. A message whose id is among them is looked up before its commit,
 * since a duplicate would have the whole group commit rejected.
 */
import type { Transaction } from "../../domain/state/Rounds.ts"

type TransactionId = Pick<Transaction, "providerId" | "transactionId">

/** Number of slots, a power of two: 4 MiB. At 12,000 transactions a second an id is kept for a minute and a half on average. */
const defaultCapacity = 2 ** 20

/**
 * Each id has one slot, where a later id replaces it. An id that was never added
 * shares slot and fingerprint with one that was about once in four billion times.
 */
export class CommittedIds {
  private readonly fingerprints: Uint32Array
  private slot = 0
  private fingerprint = 0

  constructor(capacity: number = defaultCapacity) {
    this.fingerprints = new Uint32Array(capacity)
  }

  add(id: TransactionId): void {
    this.locate(id)
    this.fingerprints[this.slot] = this.fingerprint
  }

  has(id: TransactionId): boolean {
    this.locate(id)
    return this.fingerprints[this.slot] === this.fingerprint
  }

  /** Slot by FNV-1a, fingerprint by a second hash with other constants: ids that agree in one seldom agree in both. */
  private locate({ providerId, transactionId }: TransactionId): void {
    let one = Math.imul(0x811c9dc5 ^ providerId, 0x01000193)
    let other = Math.imul(providerId, 0x9e3779b1)
    for (let at = 0; at < transactionId.length; at++) {
      const code = transactionId.charCodeAt(at)
      one = Math.imul(one ^ code, 0x01000193)
      other = Math.imul(other ^ code, 0x85ebca6b)
      other ^= other >>> 15
    }
    this.slot = (one ^ one >>> 16) & (this.fingerprints.length - 1)
    // zero is an empty slot
    this.fingerprint = other >>> 0 || 1
  }
}
