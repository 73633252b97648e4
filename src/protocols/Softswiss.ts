/**
 * Shared parts of SOFTSWISS's two protocols: the Game Aggregator (`a8r`, of 01.tech) and its forerunner, the universal API of game studios (`gcp`).
 */
import type { Refusal } from "../domain/Refusal.ts"
import type { Amount } from "./Decimal.ts"
import { parseJson, readText } from "./JsonBody.ts"
import { JsonFields } from "./JsonFields.ts"
import type {
  Funds,
  Granted,
  PlayerName,
  ReadCall,
  Received,
  VendorAnswer,
  VendorCall,
  WalletCall,
  WalletOutcome
} from "./Protocol.ts"
import { isAboutCurrency, isAboutGame } from "./Refusals.ts"
import { type RequestSigner, signatureHeader } from "./RequestSign.ts"

/** Parses the fields of one method. */
export type ReadMethod = (fields: JsonFields, method: string) => ReadCall

/** Maximum characters of any text. */
const maxTextLength = 255

/** Messages of the codes answered here. */
export const messages = {
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

export type Code = keyof typeof messages

/** Error answer; contains the balance when the player is known. */
export type ErrorAnswer = (code: Code, funds?: Funds | null, about?: string) => VendorAnswer

/** Code of a refusal. Unlisted refusals are *unknown*, under HTTP 500, and are retried by the vendor. */
export const codeOf = (refusal: Refusal): Code => {
  switch (refusal.code) {
    case "INSUFFICIENT_FUNDS":
      return 100
    case "INVALID_SESSION":
      return 101
    case "NOT_FOUND":
      return isAboutGame(refusal) ? 405 : 101
    case "LIMIT_EXCEEDED":
      // the cap of the jurisdiction is no limit of the player's own
      return refusal.details["limit"] === "stake_cap" ? 106 : 105
    case "BONUS_INVALID":
      return 106
    case "PLAYER_RESTRICTED":
      return 110
    case "VALIDATION_FAILED":
      return isAboutCurrency(refusal) ? 154 : 400
    case "IP_NOT_ALLOWED":
    case "INVALID_SIGNATURE":
      return 403
    case "INVALID_REQUEST":
    case "DUPLICATE_TRANSACTION":
    // an action rolled back before it arrived
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

type Values = (outcome: Granted) => unknown

/** Renderers of outcomes, given the values of a successful one. */
export const renderers = (error: ErrorAnswer, code: (refusal: Refusal) => Code) => {
  const render = (valuesOf: Values) => (outcome: WalletOutcome): VendorAnswer =>
    outcome._tag === "Refused"
      ? error(code(outcome.refusal), outcome.funds)
      : { status: 200, body: JSON.stringify(valuesOf(outcome)) }
  /** Free spins not issued by us: their player is unknown. */
  const renderIssue = (valuesOf: Values) => (outcome: WalletOutcome): VendorAnswer => {
    const isUnknown = outcome._tag === "Refused" &&
      (outcome.refusal.code === "NOT_FOUND" || outcome.refusal.code === "INVALID_SESSION")
    return isUnknown ? error(400, null, "issue_id: unknown issue") : render(valuesOf)(outcome)
  }
  return { render, renderIssue }
}

export const playerOf = (ref: string | null): PlayerName => ({ ref, token: null, transactionId: null })

const currencyForm = /^[A-Z0-9]{2,15}$/

export const currencyOf = (fields: JsonFields): string => {
  const currency = fields.text("currency")
  if (!currencyForm.test(currency)) fields.refuse("currency")
  return currency
}

/** Payment of the total of issued free spins; their player is known from the issue. */
export const finishedFreespins = (
  { amount, issueId, method, player }: {
    readonly method: string
    readonly issueId: string
    readonly player: PlayerName
    readonly amount: Amount
  }
): WalletCall => ({
  kind: "settle",
  method,
  player,
  gameId: null,
  roundId: null,
  currency: null,
  session: "none",
  actions: [{
    action: "promo_win",
    transactionId: `freespins:${issueId}`,
    kind: "free_rounds",
    campaignId: issueId,
    amount
  }],
  grant: { reference: issueId, mustExist: true, finishes: true }
})

/** Parses a signed call of a known method; `playerField` names its player. */
export const receiveSigned = (
  { body, header }: VendorCall,
  { error, method, playerField, read, signer }: {
    readonly signer: RequestSigner
    readonly method: string
    readonly read: ReadMethod
    readonly playerField: string
    readonly error: ErrorAnswer
  }
): Received => {
  if (!signer.verify(body, header(signatureHeader) ?? "")) {
    return { _tag: "Stranger", answer: error(403) }
  }
  const values = parseJson(body)
  if (values === undefined) return { _tag: "Answered", method, reason: "form", answer: error(400) }
  const fields = new JsonFields(values, maxTextLength)
  const asked = read(fields, method)
  if (fields.bad === undefined) return { _tag: "Call", ...asked }
  const about = `${fields.bad}: value is missing or malformed`
  const ref = readText(values[playerField], maxTextLength)
  if (ref === undefined) return { _tag: "Answered", method, reason: "form", answer: error(400, null, about) }
  // refusals, including malformed calls, contain the balance: the wallet is asked for nothing else
  return {
    _tag: "Call",
    call: { kind: "balance", method, player: playerOf(ref), gameId: null, currency: null },
    render: (outcome) =>
      error(400, outcome._tag === "Balance" || outcome._tag === "Refused" ? outcome.funds : null, about)
  }
}
