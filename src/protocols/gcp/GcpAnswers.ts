/** What a studio of the universal API is answered: JSON with amounts in the currency's subunits. */
import type { Refusal } from "../../domain/Refusal.ts"
import type { Funds, VendorAnswer, WalletOutcome } from "../Protocol.ts"
import { isAboutCurrency, isAboutGame } from "../Refusals.ts"
import { shownTotal } from "../ShownFunds.ts"

/** An outcome that is no refusal. */
export type Granted = Exclude<WalletOutcome, { readonly _tag: "Refused" }>

/** Words for each code of the protocol that is answered here. */
const messages = {
  100: "Player has not enough funds to process an action.",
  101: "Player is invalid.",
  105: "Player reached own bet limit.",
  106: "Bet exceeded the maximum.",
  110: "Player is disabled.",
  154: "Currency is not allowed for the player.",
  400: "Bad request.",
  403: "Forbidden.",
  405: "Game is not available.",
  500: "Unknown error."
} as const

type Code = keyof typeof messages

const statusOf = (code: Code): number => code === 403 || code === 500 ? code : 412

/** An answer that says why not; the balance stands in it where the player is known. */
export const gcpError = (code: Code, funds: Funds | null = null, about?: string): VendorAnswer => ({
  status: statusOf(code),
  body: JSON.stringify({
    code,
    message: about ?? messages[code],
    ...(funds === null ? {} : { balance: shownTotal(funds) })
  })
})

/** The code for a refusal. What is not known here is *unknown*, under HTTP 500: it is sent again. */
const codeOf = (refusal: Refusal): Code => {
  switch (refusal.code) {
    case "INSUFFICIENT_FUNDS":
      return 100
    case "INVALID_SESSION":
      return 101
    case "NOT_FOUND":
      return isAboutGame(refusal) ? 405 : 101
    case "LIMIT_EXCEEDED":
      return 105
    case "BONUS_INVALID":
      return 106
    case "PLAYER_RESTRICTED":
      return 110
    case "VALIDATION_FAILED":
      return isAboutCurrency(refusal) ? 154 : 400
    case "DUPLICATE_TRANSACTION":
    // an action that was rolled back before it came
    case "BET_ROLLED_BACK":
    case "BET_ALREADY_SETTLED":
    case "BET_NOT_FOUND":
    case "ROLLBACK_NOT_ALLOWED":
    case "ROUND_CLOSED":
      return 400
    default:
      return 500
  }
}

/** Renders outcomes; `valuesOf` gives the values of a good one. */
export const gcpRenderer = (valuesOf: (outcome: Granted) => unknown) => (outcome: WalletOutcome): VendorAnswer =>
  outcome._tag === "Refused"
    ? gcpError(codeOf(outcome.refusal), outcome.funds)
    : { status: 200, body: JSON.stringify(valuesOf(outcome)) }

/** The free spins that a call ends are none of ours: whom they were for is not known. */
export const gcpIssueRenderer = (valuesOf: (outcome: Granted) => unknown) => (outcome: WalletOutcome): VendorAnswer => {
  const isUnknown = outcome._tag === "Refused" &&
    (outcome.refusal.code === "NOT_FOUND" || outcome.refusal.code === "INVALID_SESSION")
  return isUnknown ? gcpError(400, null, "issue_id: unknown issue") : gcpRenderer(valuesOf)(outcome)
}
