/** Exponential backoff for client addresses whose authentication fails repeatedly. */

/** Default number of failures before the first wait. */
const manyFailures = 300

/** First wait; doubles with every further failure. */
const firstWaitMs = 1000
const longestWaitMs = 60_000

/** Time without a failure after which an address is forgotten. */
const forgottenAfterMs = 300_000

/** Maximum number of addresses in memory; at the limit the oldest is evicted. */
const maxAddresses = 10_000

interface Record {
  readonly failures: number
  readonly lastAt: number
}

export interface BackOff {
  /** Remaining wait of an address. `now` in monotonic milliseconds. */
  readonly leftMs: (address: string, now: number) => number
  readonly fail: (address: string, now: number) => void
}

const waitMs = (failures: number, freeFailures: number): number =>
  failures < freeFailures ? 0 : Math.min(longestWaitMs, firstWaitMs * 2 ** Math.min(10, failures - freeFailures))

export const makeBackOff = (freeFailures = manyFailures): BackOff => {
  // Kept: records. Wrong staff tokens by address. Several nodes: its own (docs/architecture.md, Limits that each node counts for itself).
  const records = new Map<string, Record>()
  const remembered = (address: string, now: number): Record | undefined => {
    const record = records.get(address)
    return record === undefined || now - record.lastAt > forgottenAfterMs ? undefined : record
  }
  return {
    leftMs: (address, now) => {
      const record = remembered(address, now)
      return record === undefined ? 0 : Math.max(0, record.lastAt + waitMs(record.failures, freeFailures) - now)
    },
    fail: (address, now) => {
      const failures = (remembered(address, now)?.failures ?? 0) + 1
      records.delete(address)
      for (const first of records.keys()) {
        if (records.size < maxAddresses) break
        records.delete(first)
      }
      records.set(address, { failures, lastAt: now })
    }
  }
}
