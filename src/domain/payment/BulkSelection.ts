/** Selected payments to which a bulk action applies, as far as a page can tell. The service checks each again, as in a single action. */
import type { PaymentStatus, PaymentType } from "../state/Change.ts"
import { paymentTransitions } from "./PaymentTransitions.ts"

/** Why a payment is left out. */
export type LeftOut = "status" | "held" | "not_judged" | "second_person" | "not_by_you"

/** A payment as the list of staff shows it. */
interface ListedPayment {
  readonly type: PaymentType
  readonly status: PaymentStatus
  readonly waiting_for: ReadonlyArray<string>
  /** Why the next step is not for who asks. */
  readonly objection: string | null
}

/** Why a payment is left out of an action; undefined: it is not. What returns the money asks for no second person, and no alert stops it. */
export const leftOutOf = (
  action: "approve" | "pay" | "reject",
  { objection, status, type, waiting_for: reasons }: ListedPayment
): LeftOut | undefined => {
  const { from, type: of } = paymentTransitions[action]
  if (type !== of || !from.includes(status)) return "status"
  if (action === "reject") return undefined
  if (reasons.includes("alert") || reasons.includes("case")) return "held"
  if (reasons.includes("judgement")) return "not_judged"
  if (objection === null) return undefined
  return objection === "second_approver" ? "second_person" : "not_by_you"
}
