/** The form of a ledger invariant. */

export interface LedgerInvariant {
  /** Its name; several when the statement checks several invariants and returns the name in a column `rule`. */
  readonly rule: string | ReadonlyArray<string>
  /**
   * Statement that finds violations: `player_id`, `subject`, `message`. `$operator` is replaced by a condition on `operator_id`, `$transactions` by
   * the provider transactions of the operator's players. Reads whole tables, so every join has to be hashable.
   */
  readonly statement: string
  /** How long it takes for 20 million entries, about: the longest are checked first, so that both sessions end at the same time. */
  readonly seconds?: number
}

/** A violated invariant and the record. */
export interface Violation {
  /** The invariant. */
  readonly rule: string
  readonly player_id: number | null
  /** The entry, payment, provider transaction or round. */
  readonly subject: string
  readonly message: string
}

/** Violations reported per invariant. */
export const maxViolations = 100
