/** Renders the wallet's outcomes as answers to Spribe's calls. */
import type { Refusal } from "../../domain/Refusal.ts"
import type { Settlement } from "../../domain/settlement/Settlement.ts"
import { minorDigits } from "../../domain/Standards.ts"
import { operatorId } from "../OperatorIds.ts"
import type { Funds, VendorAnswer, WalletOutcome } from "../Protocol.ts"
import { isAboutGame } from "../Refusals.ts"
import { shownTotal } from "../ShownFunds.ts"
import { amountScale, type Echo, type Method } from "./SpribeCalls.ts"

const messages = {
  200: "ok",
  401: "User token is invalid",
  402: "Insufficient fund",
  403: "User token is expired",
  405: "Internal error with no retry",
  408: "Transaction does not found",
  409: "Duplicate transaction",
  413: "Invalid Client-Signature",
  500: "Internal error"
}

export type Code = keyof typeof messages

/** Answer; the HTTP status is always 200. `data` is a JSON object. */
export const answerOf = (code: Code, data?: string): VendorAnswer => ({
  status: 200,
  body: `{"code":${code},"message":"${messages[code]}"${data === undefined ? "" : `,"data":${data}`}}`
})

/** Minor units as thousandths, with zeros appended as text to stay exact; finer units are cut off. */
const unitsText = (minor: number, currency: string): string => {
  const zeros = amountScale - minorDigits(currency)
  if (zeros < 0) return String(Math.floor(minor / 10 ** -zeros))
  return minor === 0 ? "0" : `${minor}${"0".repeat(zeros)}`
}

/** Player data of `auth` and `info`. A game does not need the player's name. */
const playerData = (playerRef: string, funds: Funds): string => {
  const user = JSON.stringify(playerRef)
  const balance = unitsText(shownTotal(funds), funds.currency)
  return `{"user_id":${user},"username":${user},"balance":${balance},"currency":"${funds.currency}"}`
}

/** Funds before a transaction; those of now for a replay: its original balances are not stored. */
const fundsBefore = (funds: Funds, { bonusAmount, realAmount, status }: Settlement): Funds =>
  status === "processed"
    // money may have come to a bonus that cannot be staked any more
    ? { ...funds, real: funds.real - realAmount, bonus: Math.max(0, funds.bonus - bonusAmount) }
    : funds

const settledData = (playerRef: string, funds: Funds, settlement: Settlement, echo: Echo): string => {
  const after = shownTotal(funds)
  const fields = JSON.stringify({
    user_id: playerRef,
    ...settlement.transactionId !== null && { operator_tx_id: operatorId(settlement.transactionId) },
    ...echo.provider !== null && { provider: echo.provider },
    ...echo.transactionId !== null && { provider_tx_id: echo.transactionId }
  })
  const before = shownTotal(fundsBefore(funds, settlement))
  const units = (minor: number) => unitsText(minor, funds.currency)
  return `${fields.slice(0, -1)},"old_balance":${units(before)},"new_balance":${
    units(after)
  },"currency":"${funds.currency}"}`
}

/** Codes that the vendor treats as success: 200 the first time, 409 after that. */
const codeOfSettlement = (method: Method, { first, rolledBack, status }: Settlement): Code => {
  // rollback of an unknown transaction
  if (method === "rollback" && first === "ignored") return 408
  // a bet rolled back since: the game must not continue with it
  if (method === "withdraw" && (rolledBack === true || status === "ignored")) return 405
  if (method === "deposit" && status === "ignored") return 408
  return status === "processed" ? 200 : 409
}

const isOver = ({ details }: Refusal): boolean => details["session"] === "over"

/** Refusals of queries and bets. */
const codeOfAsking = (refusal: Refusal): Code | undefined => {
  switch (refusal.code) {
    case "INVALID_SESSION":
      return isOver(refusal) ? 403 : 401
    case "INSUFFICIENT_FUNDS":
      return 402
    case "LIMIT_EXCEEDED":
    case "BONUS_INVALID":
    case "PLAYER_RESTRICTED":
    case "ROUND_CLOSED":
    case "BET_ROLLED_BACK":
    case "BET_NOT_FOUND":
      return 405
    default:
      return undefined
  }
}

/** Refusals of a deposit or a rollback: only for the message itself and its bet, never for the session or the player. */
const codeOfSettling = ({ code }: Refusal): Code | undefined => {
  switch (code) {
    case "BET_NOT_FOUND":
    case "BET_ROLLED_BACK":
      return 408
    case "BET_ALREADY_SETTLED":
    case "ROLLBACK_NOT_ALLOWED":
      return 405
    default:
      return undefined
  }
}

/** An unlisted code is transient: retry. */
export const codeOfRefusal = (method: Method, refusal: Refusal): Code => {
  const isSettling = method === "deposit" || method === "rollback"
  switch (refusal.code) {
    case "INVALID_SIGNATURE":
    case "IP_NOT_ALLOWED":
      return 413
    case "NOT_FOUND":
      if (isSettling) return 408
      return method === "withdraw" && isAboutGame(refusal) ? 405 : 401
    case "VALIDATION_FAILED":
    case "INVALID_REQUEST":
    // not 409, which would confirm the different transaction
    case "DUPLICATE_TRANSACTION":
      return 405
    default:
      return (isSettling ? codeOfSettling(refusal) : codeOfAsking(refusal)) ?? 500
  }
}

/** Answer to an outcome of the wallet. */
export const answerTo = (method: Method, echo: Echo, outcome: WalletOutcome): VendorAnswer => {
  switch (outcome._tag) {
    case "Identified":
      return answerOf(200, playerData(outcome.player.playerRef, outcome.funds))
    case "Balance":
      return answerOf(200, playerData(outcome.playerRef, outcome.funds))
    case "Session":
    case "Status":
    case "Balances":
      return answerOf(500)
    case "Settled": {
      const [settlement] = outcome.settlements
      if (settlement === undefined) return answerOf(500)
      const code = codeOfSettlement(method, settlement)
      return code === 200 || code === 409
        ? answerOf(code, settledData(outcome.playerRef, outcome.funds, settlement, echo))
        : answerOf(code)
    }
    case "Refused":
      return answerOf(codeOfRefusal(method, outcome.refusal))
  }
}
