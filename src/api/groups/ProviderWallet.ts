/** The wallet API that game providers settle rounds with. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { RetryAfterFailure } from "../Annotations.ts"
import { refusals } from "../Errors.ts"
import { amountFrom, currency, oneOf, reference, text } from "../Fields.ts"
import { single } from "../Pagination.ts"
import { ProviderBalance, ProviderTransactionStatus, SettledBatch, Settlement, WalletSession } from "../Settlement.ts"

const sessionToken = text(512)
const playerRef = text(64)
const flag = Schema.Boolean

const freeStake = Schema.makeFilter(
  (bet: { readonly amount: number; readonly is_free?: boolean; readonly campaign_id?: string }) => {
    const free = bet.is_free === true
    const issues = [
      ...(bet.amount === 0 && !free ? [{ path: ["amount"], issue: "must be at least 1 unless is_free is true" }] : []),
      ...(free && bet.campaign_id === undefined ? [{ path: ["campaign_id"], issue: "is required with is_free" }] : [])
    ]
    return issues.length === 0 ? undefined : issues
  }
)

const betFields = {
  transaction_id: reference,
  session_token: sessionToken,
  game_id: reference,
  round_id: reference,
  amount: amountFrom(0),
  currency,
  is_free: Schema.optionalKey(flag),
  campaign_id: Schema.optionalKey(reference),
  round_closed: Schema.optionalKey(flag)
}

const winFields = {
  transaction_id: reference,
  player_ref: playerRef,
  game_id: reference,
  round_id: reference,
  bet_transaction_id: reference,
  amount: amountFrom(0),
  currency,
  round_closed: Schema.optionalKey(flag)
}

const rollbackFields = {
  transaction_id: reference,
  player_ref: playerRef,
  target_transaction_id: reference
}

const Authenticate = Schema.Struct({ session_token: sessionToken })

const BalanceOf = Schema.Struct({
  session_token: Schema.optionalKey(sessionToken),
  player_ref: Schema.optionalKey(playerRef)
}).check(
  Schema.makeFilter((body: { readonly session_token?: string; readonly player_ref?: string }) =>
    body.session_token === undefined && body.player_ref === undefined
      ? { path: ["session_token"], issue: "is required without player_ref" }
      : undefined
  )
)

export const Bet = Schema.Struct({ request_id: reference, ...betFields }).check(freeStake)
  .annotate({ identifier: "Bet" })

export const Win = Schema.Struct({ request_id: reference, ...winFields }).annotate({ identifier: "Win" })

export const BetWin = Schema.Struct({
  request_id: reference,
  ...betFields,
  win: Schema.Struct({ transaction_id: reference, amount: amountFrom(0) })
}).check(freeStake).annotate({ identifier: "BetWin" })

export const Rollback = Schema.Struct({ request_id: reference, ...rollbackFields }).annotate({ identifier: "Rollback" })

const inBatch = { request_id: Schema.optionalKey(reference) }

/** One message of a batch. */
export const BatchAction = Schema.Union([
  Schema.Struct({ action: Schema.Literal("bet"), ...inBatch, ...betFields }).check(freeStake),
  Schema.Struct({ action: Schema.Literal("win"), ...inBatch, ...winFields }),
  Schema.Struct({ action: Schema.Literal("rollback"), ...inBatch, ...rollbackFields })
]).annotate({ message: "must be an object with an action of bet, win or rollback" })

export const Batch = Schema.Struct({
  request_id: Schema.optionalKey(reference),
  actions: Schema.Array(BatchAction).check(
    Schema.isBetweenLength(1, 100, { message: "must hold 1 to 100 actions" })
  )
}).annotate({ identifier: "Batch" })

export const CloseRound = Schema.Struct({
  request_id: Schema.optionalKey(reference),
  player_ref: playerRef,
  game_id: reference,
  round_id: reference
}).annotate({ identifier: "CloseRound" })

export const PromoWin = Schema.Struct({
  request_id: reference,
  transaction_id: reference,
  player_ref: playerRef,
  amount: amountFrom(1),
  currency,
  kind: oneOf(["jackpot", "tournament", "free_rounds", "cash_drop"]),
  campaign_id: reference
}).annotate({ identifier: "PromoWin" })

const settled = single(Settlement)

const betRefusals = [
  "INVALID_SESSION",
  "DUPLICATE_TRANSACTION",
  "BET_ROLLED_BACK",
  "ROUND_CLOSED",
  "PLAYER_RESTRICTED",
  "LIMIT_EXCEEDED",
  "BONUS_INVALID",
  "INSUFFICIENT_FUNDS"
] as const
const winRefusals = ["DUPLICATE_TRANSACTION", "BET_NOT_FOUND", "BET_ROLLED_BACK", "ROUND_CLOSED"] as const
const rollbackRefusals = ["DUPLICATE_TRANSACTION", "BET_ALREADY_SETTLED", "ROLLBACK_NOT_ALLOWED"] as const

export const ProviderWalletGroup = HttpApiGroup.make("provider_wallet")
  .add(
    HttpApiEndpoint.post("authenticate", "/authenticate", {
      payload: Authenticate,
      success: single(WalletSession),
      error: refusals("INVALID_SESSION")
    }).annotate(OpenApi.Summary, "Whose session a token is"),
    HttpApiEndpoint.post("balance", "/balance", {
      payload: BalanceOf,
      success: single(ProviderBalance),
      error: refusals("INVALID_SESSION")
    }).annotate(OpenApi.Summary, "A player's balances"),
    HttpApiEndpoint.post("bet", "/bet", { payload: Bet, success: settled, error: refusals(...betRefusals) })
      .annotate(RetryAfterFailure, "rollback")
      .annotate(OpenApi.Summary, "Take a stake"),
    HttpApiEndpoint.post("win", "/win", { payload: Win, success: settled, error: refusals(...winRefusals) })
      .annotate(OpenApi.Summary, "Pay a win"),
    HttpApiEndpoint.post("betWin", "/bet-win", {
      payload: BetWin,
      success: settled,
      error: refusals(...betRefusals, "BET_NOT_FOUND")
    }).annotate(OpenApi.Summary, "Take a stake and pay its win in one step"),
    HttpApiEndpoint.post("batch", "/batch", {
      payload: Batch,
      success: single(SettledBatch),
      error: refusals(...betRefusals, "BET_NOT_FOUND", "BET_ALREADY_SETTLED", "ROLLBACK_NOT_ALLOWED")
    }).annotate(OpenApi.Summary, "Settle several messages of one player in order, all or nothing"),
    HttpApiEndpoint.post("rollback", "/rollback", {
      payload: Rollback,
      success: settled,
      error: refusals(...rollbackRefusals)
    }).annotate(OpenApi.Summary, "Take a bet or a win back"),
    HttpApiEndpoint.post("closeRound", "/round/close", { payload: CloseRound, success: settled })
      .annotate(OpenApi.Summary, "Close a round"),
    HttpApiEndpoint.post("promoWin", "/promo-win", {
      payload: PromoWin,
      success: settled,
      error: refusals("DUPLICATE_TRANSACTION", "BET_ROLLED_BACK")
    }).annotate(OpenApi.Summary, "Pay money that belongs to no round"),
    HttpApiEndpoint.get("transaction", "/transactions/:transaction_id", {
      params: { transaction_id: reference },
      success: single(ProviderTransactionStatus)
    }).annotate(OpenApi.Summary, "What became of a message")
  )
  .annotate(OpenApi.Title, "Provider wallet")
