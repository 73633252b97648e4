/** The form of a ledger invariant. */

export interface LedgerInvariant {
  /** What it is called; several when the statement checks several invariants at once and says in a column `rule` which one it is about. */
  readonly rule: string | ReadonlyArray<string>
  /**
   * A statement that finds violations: `player_id`, `subject`, `message`. `$operator` stands for a condition on `operator_id`,
   * `$transactions` for the provider transactions of the operator's players. It reads whole tables, so its joins are ones that can
   * be hashed.
   */
  readonly statement: string
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
