/** The acting staff member of a back-office action: account, role and accessible operators. */
import type { Role } from "../domain/staff/Staff.ts"
import type { Spender } from "./SpendingFacts.ts"

/** The acting staff member. */
export interface Actor extends Spender {
  readonly name: string
  readonly role: Role
  /** Ids of the operators whose data the actor may read and change; null: all. */
  readonly operators: ReadonlyArray<number> | null
}
