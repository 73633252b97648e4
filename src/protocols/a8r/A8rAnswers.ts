/** What 01.tech's aggregator is answered: JSON, and Twirp errors that hold the code that counts. */
import type { Refusal } from "../../domain/Refusal.ts"
import { toMajorText } from "../Decimal.ts"
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
  409: "Already exists.",
  500: "Unknown error."
} as const

type ApiCode = keyof typeof messages

/** Twirp's word for a code. */
const codeOf = (apiCode: ApiCode): string => {
  switch (apiCode) {
    case 403:
      return "permission_denied"
    case 409:
      return "already_exists"
    case 500:
      return "internal"
    default:
      return "invalid_argument"
  }
}

/** The balance as it is shown, in major units: nothing while a deficit stands, whatever the bonus is. */
export const balanceText = (funds: Funds): string => toMajorText(funds.real < 0 ? 0 : shownTotal(funds), funds.currency)

/** An answer that says why not; the balance stands in it where the player is known. */
export const a8rError = (apiCode: ApiCode, funds: Funds | null = null, about?: string): VendorAnswer => {
  const message = about ?? messages[apiCode]
  return {
    status: apiCode === 500 ? 500 : 400,
    body: JSON.stringify({
      code: codeOf(apiCode),
      msg: message,
      meta: {
        api_code: String(apiCode),
        api_message: message,
        ...(funds === null ? {} : { balance: balanceText(funds) })
      }
    })
  }
}

/** The code for a refusal. What is not known here is *unknown*, under HTTP 500: it is sent again. */
const apiCodeOf = (refusal: Refusal): ApiCode => {
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
      return 409
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
export const a8rRenderer = (valuesOf: (outcome: Granted) => unknown) => (outcome: WalletOutcome): VendorAnswer =>
  outcome._tag === "Refused"
    ? a8rError(apiCodeOf(outcome.refusal), outcome.funds)
    : { status: 200, body: JSON.stringify(valuesOf(outcome)) }

/** The free spins that a call ends are none of ours: whom they were for is not known. */
export const a8rIssueRenderer = (valuesOf: (outcome: Granted) => unknown) => (outcome: WalletOutcome): VendorAnswer => {
  const isUnknown = outcome._tag === "Refused" &&
    (outcome.refusal.code === "NOT_FOUND" || outcome.refusal.code === "INVALID_SESSION")
  return isUnknown ? a8rError(400, null, "issue_id: unknown issue") : a8rRenderer(valuesOf)(outcome)
}
