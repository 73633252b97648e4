/** What 01.tech's aggregator is answered: JSON, and Twirp errors that hold the code that counts. */
import { toMajorText } from "../Decimal.ts"
import type { Funds } from "../Protocol.ts"
import { shownTotal } from "../ShownFunds.ts"
import { type Code, codeOf, type ErrorAnswer, messages, renderers } from "../Softswiss.ts"

/** Twirp's word for a code. */
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

/** The balance as it is shown, in major units: nothing while a deficit stands, whatever the bonus is. */
export const balanceText = (funds: Funds): string => toMajorText(funds.real < 0 ? 0 : shownTotal(funds), funds.currency)

/** An answer that says why not; the balance stands in it where the player is known. */
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
