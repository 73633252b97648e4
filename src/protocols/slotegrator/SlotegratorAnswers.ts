/** Answers to Slotegrator: JSON under HTTP 200, including the protocol's two errors. */
import { toMajorText } from "../Decimal.ts"
import { type Funds, fundsIn, type VendorAnswer, type WalletOutcome } from "../Protocol.ts"
import { shownTotal } from "../ShownFunds.ts"

/** A failed bet is refunded and any other failure retried: the protocol has no final refusal. */
export const slotegratorError = (
  code: "INSUFFICIENT_FUNDS" | "INTERNAL_ERROR",
  description: string
): VendorAnswer => ({ status: 200, body: JSON.stringify({ error_code: code, error_description: description }) })

/** The balance is a JSON number in major units, formatted from minor units without arithmetic; other fields follow as JSON. */
const balanceAnswer = (funds: Funds, fields = ""): VendorAnswer => ({
  status: 200,
  body: `{"balance":${toMajorText(shownTotal(funds), funds.currency)}${fields}}`
})

/** Renders outcomes; `fields` is added to the balance. */
export const slotegratorRenderer = (action: string, fields = "") => (outcome: WalletOutcome): VendorAnswer => {
  if (outcome._tag !== "Refused") {
    const funds = fundsIn(outcome)
    return funds === null ? slotegratorError("INTERNAL_ERROR", "Not answered.") : balanceAnswer(funds, fields)
  }
  const { funds, refusal } = outcome
  // a refund rolled back before it arrived is complete: its target never happened
  const earlier = refusal.details["earlier"]
  const isTombstone = typeof earlier === "object" && earlier !== null && "kind" in earlier &&
    earlier.kind === "tombstone"
  if (action === "refund" && isTombstone && funds !== null) return balanceAnswer(funds, fields)
  return slotegratorError(
    action === "bet" && refusal.code === "INSUFFICIENT_FUNDS" ? "INSUFFICIENT_FUNDS" : "INTERNAL_ERROR",
    refusal.message
  )
}
