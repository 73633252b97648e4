/** The form of the laws that the proof of the ledger checks. */

export interface Law {
  readonly rule: string
  /** A statement that finds violations. `$operator` stands for a condition on `operator_id`. */
  readonly statement: string
}

/** A law that does not hold, and where. */
export interface Violation {
  /** Which law. */
  readonly rule: string
  readonly player_id: number | null
  /** The entry, payment, provider transaction or round. */
  readonly subject: string
  readonly message: string
}

/** How many violations of one law are told. One is too many already. */
export const toldMost = 100
