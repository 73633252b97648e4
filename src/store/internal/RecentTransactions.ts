import type { Transaction } from "../../domain/settlement/Rounds.ts"

interface Ids {
  readonly transactions: ReadonlyArray<Pick<Transaction, "providerId" | "transactionId">>
}

/** Ids remembered, a power of two: 4 MiB, some minutes of a busy node. */
const defaultCapacity = 2 ** 20

/**
 * Fingerprints of the transaction ids that this process committed last. A player carries only its latest transactions, and an older id that comes again
 * rejects the commit of all units around it: a change with such an id is looked up first instead. Each id has one place, where a later one
 * replaces it: a forgotten id costs that rejection, two ids of one fingerprint (one in four billion) a look-up.
 */
export class RecentTransactions {
  private readonly fingerprints: Uint32Array
  private place = 0
  private fingerprint = 0

  constructor(capacity: number = defaultCapacity) {
    this.fingerprints = new Uint32Array(capacity)
  }

  /** Adds the ids of a committed change. */
  add({ transactions }: Ids): void {
    for (const { providerId, transactionId } of transactions) {
      this.locate(providerId, transactionId)
      this.fingerprints[this.place] = this.fingerprint
    }
  }

  /** Whether an id of a change was probably committed before. */
  has({ transactions }: Ids): boolean {
    return transactions.some(({ providerId, transactionId }) => {
      this.locate(providerId, transactionId)
      return this.fingerprints[this.place] === this.fingerprint
    })
  }

  /** Place and fingerprint of an id: FNV-1a, and a second hash to which the provider's id is multiplied, so that no pair of ids has both in common by design. */
  private locate(providerId: number, transactionId: string): void {
    let one = 0x811c9dc5 ^ providerId
    let other = Math.imul(providerId, 0x9e3779b1)
    for (let at = 0; at < transactionId.length; at++) {
      const code = transactionId.charCodeAt(at)
      one = Math.imul(one ^ code, 0x01000193)
      other = Math.imul(other ^ code, 0x85ebca6b)
      other ^= other >>> 15
    }
    this.place = (one ^ one >>> 16) & (this.fingerprints.length - 1)
    // zero is an empty place
    this.fingerprint = other >>> 0 || 1
  }
}
