/** Answers to the SOFTSWISS Game Aggregator (A8R): JSON, and Twirp errors that contain the protocol's own code. */
import { toMajorText } from "../Decimal.ts"
import type { Funds } from "../Protocol.ts"
import { shownTotal } from "../ShownFunds.ts"
import { type Code, codeOf, type ErrorAnswer, messages, renderers } from "../Softswiss.ts"

/** Twirp error code of a protocol code. */
const twirpCode = (apiCode: Code): string => {
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

/** Balance in major units. */
export const balanceText = (funds: Funds): string => toMajorText(shownTotal(funds), funds.currency)

/** Error answer; contains the balance when the player is known. */
export const a8rError: ErrorAnswer = (apiCode, funds = null, about) => {
  const message = about ?? messages[apiCode]
  return {
    status: apiCode === 500 ? 500 : 400,
    body: JSON.stringify({
      code: twirpCode(apiCode),
      msg: message,
      meta: {
        api_code: String(apiCode),
        api_message: message,
        ...(funds === null ? {} : { balance: balanceText(funds) })
      }
    })
  }
}

export const { render, renderIssue } = renderers(
  a8rError,
  (refusal) => refusal.code === "DUPLICATE_TRANSACTION" ? 409 : codeOf(refusal)
)
