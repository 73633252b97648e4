/** Renders the wallet's outcomes as answers to Hub88's Wallet API calls. */
import type { Refusal } from "../../domain/Refusal.ts"
import { minorDigits } from "../../domain/Standards.ts"
import type { Funds, Identified, VendorAnswer, WalletOutcome } from "../Protocol.ts"
import { isAboutCurrency, isAboutGame } from "../Refusals.ts"
import { shownTotal } from "../ShownFunds.ts"
import { amountScale, type FormStatus } from "./Hub88Calls.ts"
import type { Hub88Dialect, Method } from "./Hub88Dialects.ts"

type Status =
  | FormStatus
  | Hub88Dialect["limitStatus"]
  | "RS_OK"
  | "RS_ERROR_UNKNOWN"
  | "RS_ERROR_INVALID_TOKEN"
  | "RS_ERROR_TOKEN_EXPIRED"
  | "RS_ERROR_INVALID_GAME"
  | "RS_ERROR_WRONG_CURRENCY"
  | "RS_ERROR_NOT_ENOUGH_MONEY"
  | "RS_ERROR_USER_DISABLED"
  | "RS_ERROR_INVALID_SIGNATURE"
  | "RS_ERROR_DUPLICATE_TRANSACTION"
  | "RS_ERROR_TRANSACTION_DOES_NOT_EXIST"
  | "RS_ERROR_TRANSACTION_ROLLED_BACK"

/** Fields of the call repeated in its answer. */
export interface Echo {
  readonly user: string | null
  readonly requestId: string | undefined
}

/** Hundred-thousandths: minor units with zeros appended as text, to stay exact. */
const unitsText = (minor: number, currency: string): string =>
  minor === 0 ? "0" : `${minor}${"0".repeat(amountScale - minorDigits(currency))}`

const fieldsOf = (fields: { readonly [name: string]: unknown }): string => {
  const text = JSON.stringify(fields)
  return text === "{}" ? "" : `,${text.slice(1, -1)}`
}

/** Answer; everything but the status only where known. */
export const answerOf = (
  status: Status,
  { requestId, user }: Echo,
  funds: Funds | null = null,
  more: { readonly [name: string]: unknown } = {}
): VendorAnswer => {
  let body = user === null ? "{" : `{"user":${JSON.stringify(user)},`
  body += `"status":"${status}"`
  if (requestId !== undefined) body += `,"request_uuid":${JSON.stringify(requestId)}`
  if (funds !== null) {
    body += `,"currency":"${funds.currency}","balance":${unitsText(shownTotal(funds), funds.currency)}`
  }
  return { status: 200, body: `${body}${fieldsOf(more)}}` }
}

const dayOf = (epochMs: number): string => new Date(epochMs).toISOString().slice(0, 10)

/** Player data of `/user/info`. The licence is that of the country. */
const infoOf = ({ birthDate, country, registeredAt, tags }: Identified, subPartnerId: string) => ({
  country,
  jurisdiction: country,
  sub_partner_id: subPartnerId,
  birth_date: birthDate,
  registration_date: dayOf(registeredAt),
  tags
})

/** Never final for a win, which would be lost: refusals for session, account or limit do not apply to wins. */
const statusOfRefusal = (method: Method, refusal: Refusal, dialect: Hub88Dialect): Status => {
  switch (refusal.code) {
    case "DUPLICATE_TRANSACTION":
      return "RS_ERROR_DUPLICATE_TRANSACTION"
    case "BET_ROLLED_BACK":
      return "RS_ERROR_TRANSACTION_ROLLED_BACK"
    case "BET_NOT_FOUND":
      return "RS_ERROR_TRANSACTION_DOES_NOT_EXIST"
    case "NOT_FOUND":
      if (method === "rollback") return "RS_ERROR_TRANSACTION_DOES_NOT_EXIST"
      if (isAboutGame(refusal)) return "RS_ERROR_INVALID_GAME"
      return method === "win" ? "RS_ERROR_TRANSACTION_DOES_NOT_EXIST" : "RS_ERROR_INVALID_TOKEN"
    case "VALIDATION_FAILED":
      return isAboutCurrency(refusal) ? "RS_ERROR_WRONG_CURRENCY" : "RS_ERROR_WRONG_TYPES"
    case "INVALID_REQUEST":
      return "RS_ERROR_WRONG_SYNTAX"
    case "IP_NOT_ALLOWED":
    case "INVALID_SIGNATURE":
      return "RS_ERROR_INVALID_SIGNATURE"
    default:
      return method === "win" || method === "rollback" ? "RS_ERROR_UNKNOWN" : statusOfRefusedBet(refusal, dialect)
  }
}

const statusOfRefusedBet = ({ code, details }: Refusal, { limitStatus }: Hub88Dialect): Status => {
  switch (code) {
    case "INSUFFICIENT_FUNDS":
      return "RS_ERROR_NOT_ENOUGH_MONEY"
    case "INVALID_SESSION":
      return details["session"] === "over" ? "RS_ERROR_TOKEN_EXPIRED" : "RS_ERROR_INVALID_TOKEN"
    case "PLAYER_RESTRICTED":
      return "RS_ERROR_USER_DISABLED"
    case "LIMIT_EXCEEDED":
    case "BONUS_INVALID":
      return limitStatus
    default:
      return "RS_ERROR_UNKNOWN"
  }
}

/** Answer to a call that is not read: neither player nor request are known. */
export const refusalAnswer = (method: Method, refusal: Refusal, dialect: Hub88Dialect): VendorAnswer =>
  answerOf(statusOfRefusal(method, refusal, dialect), { user: null, requestId: undefined })

/** Answer to an outcome of the wallet. */
export const answerTo = (
  method: Method,
  { requestId, user }: Echo,
  outcome: WalletOutcome,
  dialect: Hub88Dialect,
  subPartnerId: string
): VendorAnswer => {
  switch (outcome._tag) {
    case "Identified": {
      const echo = { requestId, user: outcome.player.playerRef }
      return method === "info"
        ? answerOf("RS_OK", echo, null, infoOf(outcome.player, subPartnerId))
        : answerOf("RS_OK", echo, outcome.funds, { token: outcome.player.token })
    }
    case "Balance":
    case "Settled":
      return answerOf("RS_OK", { requestId, user: outcome.playerRef }, outcome.funds)
    case "Session":
    case "Status":
    case "Balances":
      // not requested by any of their calls
      return answerOf("RS_ERROR_UNKNOWN", { requestId, user })
    case "Refused": {
      const { funds, playerRef, refusal } = outcome
      const echo = { requestId, user: user ?? playerRef }
      // a rollback at a provider where the player never played: there is nothing to roll back
      const isNothing = method === "rollback" && refusal.code === "NOT_FOUND" && funds !== null
      return answerOf(isNothing ? "RS_OK" : statusOfRefusal(method, refusal, dialect), echo, funds)
    }
  }
}
