/** Renders the wallet's outcomes as answers to Evolution's One Wallet calls. */
import type { LimitField } from "../../domain/LimitFields.ts"
import type { Refusal } from "../../domain/Refusal.ts"
import type { Settlement } from "../../domain/settlement/Settlement.ts"
import { toMajorText } from "../Decimal.ts"
import type { Funds, VendorAnswer, WalletOutcome } from "../Protocol.ts"
import { shownTotal } from "../ShownFunds.ts"
import type { Method } from "./EvolutionCalls.ts"

export type Status =
  | "OK"
  | "BET_ALREADY_EXIST"
  | "BET_ALREADY_SETTLED"
  | "TEMPORARY_ERROR"
  | "BET_DOES_NOT_EXIST"
  | "INSUFFICIENT_FUNDS"
  | "FINAL_ERROR_ACTION_FAILED"
  | "BONUS_LIMIT_EXCEEDED"
  | "CASINO_LIMIT_EXCEEDED_TURNOVER"
  | "CASINO_LIMIT_EXCEEDED_SESSION_TIME"
  | "CASINO_LIMIT_EXCEEDED_STAKE"
  | "CASINO_LIMIT_EXCEEDED_LOSS"
  | "INVALID_PARAMETER"
  | "INVALID_SID"
  | "INVALID_TOKEN_ID"
  | "ACCOUNT_LOCKED"

interface Parts {
  readonly uuid?: string | undefined
  readonly sid?: string | null
  readonly funds?: Funds | null
}

/** Answer. The bonus is part of the balance: the player may stake both, and neither is counted twice. */
export const answerOf = (status: Status, { funds, sid, uuid }: Parts, httpStatus = 200): VendorAnswer => {
  let body = `{"status":"${status}"`
  if (sid !== undefined && sid !== null) body += `,"sid":${JSON.stringify(sid)}`
  if (funds !== undefined && funds !== null) {
    body += `,"balance":${toMajorText(shownTotal(funds), funds.currency)},"bonus":${toMajorText(0, funds.currency)}`
  }
  if (uuid !== undefined) body += `,"uuid":${JSON.stringify(uuid)}`
  // a debit of unknown outcome has to be sent again as well, or its stake might be lost
  if (status === "TEMPORARY_ERROR") body += `,"retransmission":true`
  return { status: httpStatus, body: `${body}}` }
}

/** Limits of the player, and the cap of the jurisdiction. */
type Limit = LimitField | "stake_cap"

const limitStatus: { readonly [limit in Limit]?: Status } = {
  stake_cap: "CASINO_LIMIT_EXCEEDED_STAKE",
  max_single_bet: "CASINO_LIMIT_EXCEEDED_STAKE",
  casino_max_single_bet: "CASINO_LIMIT_EXCEEDED_STAKE",
  max_daily_loss: "CASINO_LIMIT_EXCEEDED_LOSS",
  max_weekly_loss: "CASINO_LIMIT_EXCEEDED_LOSS",
  max_monthly_loss: "CASINO_LIMIT_EXCEEDED_LOSS",
  max_session_minutes: "CASINO_LIMIT_EXCEEDED_SESSION_TIME"
}

const isLimit = (name: unknown): name is Limit => typeof name === "string" && name in limitStatus

const statusOfLimit = ({ limit }: Refusal["details"]): Status =>
  (isLimit(limit) ? limitStatus[limit] : undefined) ?? "CASINO_LIMIT_EXCEEDED_TURNOVER"

/** The first message under the id was a cancel of a debit that had not arrived. */
const wasIgnored = ({ earlier }: Refusal["details"]): boolean =>
  typeof earlier === "object" && earlier !== null && "status" in earlier && earlier.status === "ignored"

/** Status of a refusal; an unlisted code is transient: retry. */
const statusOfRefusal = (method: Method, { code, details }: Refusal): Status => {
  switch (code) {
    case "DUPLICATE_TRANSACTION":
      if (method !== "credit" && method !== "cancel") {
        return method === "debit" ? "FINAL_ERROR_ACTION_FAILED" : "INVALID_PARAMETER"
      }
      return wasIgnored(details) ? "BET_DOES_NOT_EXIST" : "BET_ALREADY_SETTLED"
    case "BET_ROLLED_BACK":
      return method === "credit" ? "BET_DOES_NOT_EXIST" : "FINAL_ERROR_ACTION_FAILED"
    case "BET_NOT_FOUND":
      return "BET_DOES_NOT_EXIST"
    case "BET_ALREADY_SETTLED":
      return "BET_ALREADY_SETTLED"
    case "ROUND_CLOSED":
    case "ROLLBACK_NOT_ALLOWED":
      return "FINAL_ERROR_ACTION_FAILED"
    case "INSUFFICIENT_FUNDS":
      return "INSUFFICIENT_FUNDS"
    case "LIMIT_EXCEEDED":
      return statusOfLimit(details)
    case "BONUS_INVALID":
      return "BONUS_LIMIT_EXCEEDED"
    case "PLAYER_RESTRICTED":
      return "ACCOUNT_LOCKED"
    case "INVALID_SESSION":
      return "INVALID_SID"
    case "VALIDATION_FAILED":
    case "INVALID_REQUEST":
    case "NOT_FOUND":
      return "INVALID_PARAMETER"
    case "IP_NOT_ALLOWED":
    case "INVALID_SIGNATURE":
      return "INVALID_TOKEN_ID"
    default:
      return "TEMPORARY_ERROR"
  }
}

/** HTTP status of an answer to a call that is not read. */
const httpStatuses: { readonly [status in Status]?: number } = { INVALID_PARAMETER: 400, INVALID_TOKEN_ID: 401 }

/** Answer to a call that is not read: neither its `uuid` nor the player are known. */
export const refusalAnswer = (method: Method, refusal: Refusal): VendorAnswer => {
  const status = statusOfRefusal(method, refusal)
  return answerOf(status, {}, httpStatuses[status])
}

const statusOfSettlement = (method: Method, { first, rolledBack, status }: Settlement): Status => {
  if (method === "promo_payout") return "OK"
  if (method === "cancel" && first === "ignored") return "BET_DOES_NOT_EXIST"
  if (status === "processed") return "OK"
  if (method !== "debit") return "BET_ALREADY_SETTLED"
  // sent again after its own cancel: the game must not continue with it
  return rolledBack === true ? "FINAL_ERROR_ACTION_FAILED" : "BET_ALREADY_EXIST"
}

/** Answer to an outcome of the wallet. */
export const answerTo = (method: Method, uuid: string | undefined, outcome: WalletOutcome): VendorAnswer => {
  switch (outcome._tag) {
    case "Identified":
      return answerOf("OK", { uuid, sid: outcome.player.token })
    case "Balance":
      return answerOf("OK", { uuid, funds: outcome.funds })
    case "Session":
    case "Status":
    case "Balances":
      return answerOf("TEMPORARY_ERROR", { uuid })
    case "Settled": {
      const [settlement] = outcome.settlements
      const status = settlement === undefined ? "TEMPORARY_ERROR" : statusOfSettlement(method, settlement)
      return answerOf(status, { uuid, funds: outcome.funds })
    }
    case "Refused":
      return answerOf(statusOfRefusal(method, outcome.refusal), {
        uuid,
        funds: method === "check" ? null : outcome.funds
      })
  }
}
