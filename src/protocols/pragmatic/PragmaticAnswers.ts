/** Answers to Pragmatic Play: JSON under HTTP 200, with `error` and `description` in every answer. */
import type { Refusal } from "../../domain/Refusal.ts"
import { toMajorText } from "../Decimal.ts"
import type { Funds, Granted, VendorAnswer, WalletOutcome } from "../Protocol.ts"
import { isAboutGame } from "../Refusals.ts"
import { shownFunds } from "../ShownFunds.ts"

/** Messages of the protocol errors answered here. */
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

/** Error answer. `about` names the cause. */
export const pragmaticError = (error: ErrorCode, about?: string): VendorAnswer => ({
  status: 200,
  body: JSON.stringify({
    error,
    description: about === undefined ? descriptions[error] : `${descriptions[error]}: ${about}`
  })
})

/** Successful answer with fields before `error`, each as JSON followed by a comma. */
export const pragmaticSuccess = (fields: string): VendorAnswer => ({
  status: 200,
  body: `{${fields}"error":0,"description":"Success"}`
})

/** Amounts are JSON numbers, formatted from minor units without arithmetic. */
export const moneyFields = (funds: Funds): string => {
  const { bonus, cash } = shownFunds(funds)
  return `"cash":${toMajorText(cash, funds.currency)},"bonus":${toMajorText(bonus, funds.currency)},`
}

/** The same, with the currency. */
export const balanceFields = (funds: Funds): string =>
  `"currency":${JSON.stringify(funds.currency)},${moneyFields(funds)}`

/**
 * Error code of a refusal. The code determines whether Pragmatic retries a message or refunds a bet: final refusals are 120, unlisted ones *please
 * retry*.
 */
export const errorOf = (refusal: Refusal): ErrorCode => {
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
    case "IP_NOT_ALLOWED":
    case "INVALID_SIGNATURE":
      return 5
    case "VALIDATION_FAILED":
    case "INVALID_REQUEST":
      return 7
    // a reference already used for another message: a refund would roll that one back, and a repeat gives the same answer
    case "DUPLICATE_TRANSACTION":
    // a bet after its refund, a result of a refunded bet, a refund of a paid bet: all final
    case "BET_ROLLED_BACK":
    case "BET_ALREADY_SETTLED":
    case "ROLLBACK_NOT_ALLOWED":
      return 120
    // includes a result before its bet: the bet may still arrive
    default:
      return 100
  }
}

/** A bet sent again after its refund: its stake was returned, so the game must not continue with it. */
const isOfRefunded = (outcome: Granted): boolean =>
  outcome._tag === "Settled" && outcome.settlements.some(({ rolledBack }) => rolledBack === true)

/** Renders outcomes; `fieldsOf` returns the fields of a successful one. */
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
