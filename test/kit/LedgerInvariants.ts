/** Invariants of ledger entries, shared by the tests of rules, of simulator commits, and of stored rows. */
import type { Entry } from "../../src/domain/state/Change.ts"
import type { Transaction } from "../../src/domain/state/Rounds.ts"

/** Reports that an invariant does not hold, and where. */
export type Report = (invariant: string, text: string) => void

/** The balances after an entry, and its number. */
export interface LedgerPosition {
  readonly real: number
  readonly bonus: number
  readonly seq: number
}

const none: ReadonlySet<number> = new Set()

type LedgerEntry = Pick<Entry, "id" | "seq" | "wallet" | "type" | "amount" | "balanceAfter">

/** Types that may leave the real balance below zero. */
const mayOwe: ReadonlyArray<Entry["type"]> = ["casino_rollback", "chargeback", "correction_down", "bonus_conversion"]

export const sumOf = (entries: ReadonlyArray<Pick<Entry, "amount" | "wallet">>, wallet?: Entry["wallet"]): number =>
  entries.reduce((sum, entry) => wallet === undefined || entry.wallet === wallet ? sum + entry.amount : sum, 0)

/** Checks a player's next entries, and gives the position after them. After a wrong entry it goes on from that entry's own word. */
export const checkEntries = (
  name: string,
  from: LedgerPosition,
  entries: ReadonlyArray<LedgerEntry>,
  report: Report,
  /** Ids of entries that reinstate a stake, which ignore the balance. */
  reinstating: ReadonlySet<number> = none
): LedgerPosition => {
  const at = { real: from.real, bonus: from.bonus, seq: from.seq }
  for (const { amount, balanceAfter, id, seq, type, wallet } of entries) {
    const about = () => `${name}, entry ${seq} (${type} ${amount} ${wallet})`
    if (seq !== at.seq + 1) report("entries have no gap", `${about()} follows ${at.seq}`)
    if (amount === 0) report("an entry moves money", about())
    const balance = at[wallet] + amount
    if (balanceAfter !== balance) {
      report("each entry carries the balance after it", `${about()}: the chain breaks, ${balanceAfter}, not ${balance}`)
    }
    if (balanceAfter < 0 && (wallet === "bonus" || (amount < 0 && !mayOwe.includes(type) && !reinstating.has(id)))) {
      report("no overdraft", `${about()} leaves ${balanceAfter}`)
    }
    at.seq = seq
    at[wallet] = balanceAfter
  }
  return at
}

/** Checks that a message of a provider names its entries, and says their sums. */
export const checkTransaction = (
  name: string,
  { bonusAmount, entryIds, kind, realAmount, transactionId }: Transaction,
  entries: ReadonlyArray<Entry>,
  report: Report
): void => {
  const own = entries.filter(({ id }) => entryIds.includes(id))
  const isWhole = own.length === entryIds.length
  if (isWhole && sumOf(own, "real") === realAmount && sumOf(own, "bonus") === bonusAmount) return
  report("a message is its entries", `${name}, ${kind} ${transactionId}`)
}
