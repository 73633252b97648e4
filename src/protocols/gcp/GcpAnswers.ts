/** Answers to game studios that use SOFTSWISS's universal API (GCP): JSON with amounts in the currency's subunits. */
import { shownTotal } from "../ShownFunds.ts"
import { type Code, codeOf, type ErrorAnswer, messages, renderers } from "../Softswiss.ts"

const statusOf = (code: Code): number => code === 403 || code === 500 ? code : 412

/** Error answer; contains the balance when the player is known. */
export const gcpError: ErrorAnswer = (code, funds = null, about) => ({
  status: statusOf(code),
  body: JSON.stringify({
    code,
    message: about ?? messages[code],
    ...(funds === null ? {} : { balance: shownTotal(funds) })
  })
})

export const { render, renderIssue } = renderers(gcpError, codeOf)
