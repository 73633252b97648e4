/** What Pragmatic Play is answered: JSON under HTTP 200, with `error` and `description` in every answer. */
import type { Refusal } from "../../domain/Refusal.ts"
import { toMajorText } from "../Decimal.ts"
import type { Funds, Granted, VendorAnswer, WalletOutcome } from "../Protocol.ts"
import { isAboutGame } from "../Refusals.ts"
import { shownFunds } from "../ShownFunds.ts"

/** Words for each error of the protocol that is answered here. */
const descriptions = {
  1: "Insufficient balance",
  2: "Player not found or logged out",
  3: "Bet is not allowed",
  4: "Token is invalid, unknown or expired",
  5: "Invalid hash",
  6: "Player is frozen",
  7: "Bad parameters",
  8: "Game not found or disabled",
  50: "Bet limit reached",
  100: "Internal error, please retry",
  120: "Internal error, do not retry"
} as const

type ErrorCode = keyof typeof descriptions

/** An answer that says why not. `about` names what is wrong. */
export const pragmaticError = (error: ErrorCode, about?: string): VendorAnswer => ({
  status: 200,
  body: JSON.stringify({
    error,
    description: about === undefined ? descriptions[error] : `${descriptions[error]}: ${about}`
  })
})

/** A good answer with fields before `error`, each written as JSON and followed by a comma. */
export const pragmaticSuccess = (fields: string): VendorAnswer => ({
  status: 200,
  body: `{${fields}"error":0,"description":"Success"}`
})

/** Amounts are numbers of JSON, written from minor units without arithmetic. */
export const moneyFields = (funds: Funds): string => {
  const { bonus, cash } = shownFunds(funds)
  return `"cash":${toMajorText(cash, funds.currency)},"bonus":${toMajorText(bonus, funds.currency)},`
}

/** The same with the currency. */
export const balanceFields = (funds: Funds): string =>
  `"currency":${JSON.stringify(funds.currency)},${moneyFields(funds)}`

/**
 * The error for a refusal. Whether Pragmatic sends a message again, or refunds a bet, follows from the number: what has to be final is 120, and
 * what is not known here is *please retry*.
 */
const errorOf = (refusal: Refusal): ErrorCode => {
  switch (refusal.code) {
    case "INSUFFICIENT_FUNDS":
      return 1
    case "NOT_FOUND":
      return isAboutGame(refusal) ? 8 : 2
    case "INVALID_SESSION":
      return 4
    case "PLAYER_RESTRICTED":
      return refusal.details["reason"] === "can_bet" ? 3 : 6
    case "LIMIT_EXCEEDED":
      return 50
    case "BONUS_INVALID":
      return 3
    case "VALIDATION_FAILED":
      return 7
    // a reference that was used for something else: a refund would take back what it was used for, and a repeat says the same
    case "DUPLICATE_TRANSACTION":
    // a bet after its refund, a result of a refunded bet, a refund of a bet that was paid: all of them are settled for good
    case "BET_ROLLED_BACK":
    case "BET_ALREADY_SETTLED":
    case "ROLLBACK_NOT_ALLOWED":
      return 120
    // a result before its bet is one of these: the bet may come
    default:
      return 100
  }
}

/** A bet that is sent again after its refund: its stake is back with the player, so no game may go on with it. */
const isOfRefunded = (outcome: Granted): boolean =>
  outcome._tag === "Settled" && outcome.settlements.some(({ rolledBack }) => rolledBack === true)

/** Renders outcomes; `fieldsOf` gives the fields of a good one. */
export const pragmaticRenderer = (fieldsOf: (outcome: Granted) => string) => (outcome: WalletOutcome): VendorAnswer => {
  if (outcome._tag !== "Refused") {
    return isOfRefunded(outcome) ? pragmaticError(120) : pragmaticSuccess(fieldsOf(outcome))
  }
  const { code, details } = outcome.refusal
  return pragmaticError(
    errorOf(outcome.refusal),
    code === "VALIDATION_FAILED" ? Object.keys(details).join(", ") : undefined
  )
}
