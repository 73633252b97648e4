/** Answers to Spribe: from the wallet's words to theirs. */
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

/** An answer of theirs; its HTTP status is always 200. `data` is an object in JSON. */
export const answerOf = (code: Code, data?: string): VendorAnswer => ({
  status: 200,
  body: `{"code":${code},"message":"${messages[code]}"${data === undefined ? "" : `,"data":${data}`}}`
})

/** Minor units as thousandths. Zeros are written behind them, so that no number has to hold more; what is finer is not shown. */
const unitsText = (minor: number, currency: string): string => {
  const zeros = amountScale - minorDigits(currency)
  if (zeros < 0) return String(Math.floor(minor / 10 ** -zeros))
  return minor === 0 ? "0" : `${minor}${"0".repeat(zeros)}`
}

/** What `auth` and `info` tell. A player's name is nothing that a game needs. */
const playerData = (playerRef: string, funds: Funds): string => {
  const user = JSON.stringify(playerRef)
  const balance = unitsText(shownTotal(funds), funds.currency)
  return `{"user_id":${user},"username":${user},"balance":${balance},"currency":"${funds.currency}"}`
}

/** What a transaction moved. Of one that is known already it is told that nothing moves: the balances of then are not kept. */
const movedBy = ({ bonusAmount, realAmount, status }: Settlement): number =>
  status === "processed" ? realAmount + bonusAmount : 0

const settledData = (playerRef: string, funds: Funds, settlement: Settlement, echo: Echo): string => {
  const after = shownTotal(funds)
  const fields = JSON.stringify({
    user_id: playerRef,
    ...settlement.transactionId !== null && { operator_tx_id: operatorId(settlement.transactionId) },
    ...echo.provider !== null && { provider: echo.provider },
    ...echo.transactionId !== null && { provider_tx_id: echo.transactionId }
  })
  const before = Math.max(0, after - movedBy(settlement))
  const units = (minor: number) => unitsText(minor, funds.currency)
  return `${fields.slice(0, -1)},"old_balance":${units(before)},"new_balance":${
    units(after)
  },"currency":"${funds.currency}"}`
}

/** What the vendor takes for done: 200 the first time, 409 after that. */
const codeOfSettlement = (method: Method, { first, rolledBack, status }: Settlement): Code => {
  // a rollback of what never came
  if (method === "rollback" && first === "ignored") return 408
  // a bet that was taken back meanwhile: no game may go on with it
  if (method === "withdraw" && (rolledBack === true || status === "ignored")) return 405
  if (method === "deposit" && status === "ignored") return 408
  return status === "processed" ? 200 : 409
}

const isOver = ({ details }: Refusal): boolean => details["session"] === "over"

/** Refusals of whoever asks, or bets. */
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

/** Refusals of a deposit or a rollback: only for what it says of itself and of its bet, never for the session or the player. */
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

/** A code that is not here can only pass: try again. */
const codeOfRefusal = (method: Method, refusal: Refusal): Code => {
  const isSettling = method === "deposit" || method === "rollback"
  switch (refusal.code) {
    case "INVALID_SIGNATURE":
    case "IP_NOT_ALLOWED":
      return 413
    case "NOT_FOUND":
      if (isSettling) return 408
      return method === "withdraw" && isAboutGame(refusal) ? 405 : 401
    case "VALIDATION_FAILED":
    // not 409, which says that what they sent is done
    case "DUPLICATE_TRANSACTION":
      return 405
    default:
      return (isSettling ? codeOfSettling(refusal) : codeOfAsking(refusal)) ?? 500
  }
}

/** The answer to an outcome of the wallet. */
export const answerTo = (method: Method, echo: Echo, outcome: WalletOutcome): VendorAnswer => {
  switch (outcome._tag) {
    case "Identified":
      return answerOf(200, playerData(outcome.player.playerRef, outcome.funds))
    case "Balance":
      return answerOf(200, playerData(outcome.playerRef, outcome.funds))
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
