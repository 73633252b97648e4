/** What Slotegrator is answered: JSON under HTTP 200, errors too, of which there are two. */
import { toMajorText } from "../Decimal.ts"
import type { Funds, VendorAnswer, WalletOutcome } from "../Protocol.ts"
import { shownTotal } from "../ShownFunds.ts"

/** A failed bet is refunded and anything else is sent again: a final refusal is not in the protocol. */
export const slotegratorError = (
  code: "INSUFFICIENT_FUNDS" | "INTERNAL_ERROR",
  description: string
): VendorAnswer => ({ status: 200, body: JSON.stringify({ error_code: code, error_description: description }) })

/** The balance is a number of JSON in major units, written from minor units without arithmetic; other fields follow as JSON. */
const balanceAnswer = (funds: Funds, fields = ""): VendorAnswer => ({
  status: 200,
  body: `{"balance":${toMajorText(shownTotal(funds), funds.currency)}${fields}}`
})

/** Renders outcomes; `fields` is what stands beside the balance. */
export const slotegratorRenderer = (action: string, fields = "") => (outcome: WalletOutcome): VendorAnswer => {
  if (outcome._tag === "Balances") return slotegratorError("INTERNAL_ERROR", "Not answered.")
  if (outcome._tag !== "Refused") return balanceAnswer(outcome.funds, fields)
  const { funds, refusal } = outcome
  // a refund that was rolled back before it came is done: what it takes back never was
  const earlier = refusal.details["earlier"]
  const isTombstone = typeof earlier === "object" && earlier !== null && "kind" in earlier &&
    earlier.kind === "tombstone"
  if (action === "refund" && isTombstone && funds !== null) return balanceAnswer(funds, fields)
  return slotegratorError(
    action === "bet" && refusal.code === "INSUFFICIENT_FUNDS" ? "INSUFFICIENT_FUNDS" : "INTERNAL_ERROR",
    refusal.message
  )
}
