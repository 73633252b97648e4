/** Wallet API for game providers, Pitboss's own provider protocol: authentication, balance, bets, wins, rollbacks, round ends. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { about, BoundedList, type ListBound, RetryAfterFailure } from "../common/Annotations.ts"
import { refusals } from "../common/Errors.ts"
import { amountFrom, currency, oneOf, reference, text } from "../common/Fields.ts"
import { single } from "../common/Pagination.ts"
import {
  ProviderBalance,
  ProviderTransactionStatus,
  SettledBatch,
  Settlement,
  WalletSession
} from "./SettlementResource.ts"

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

const exampleBet = {
  request_id: "1",
  transaction_id: "bet-1041",
  session_token: "pbs_2hT9",
  game_id: "golden-reels",
  round_id: "round-77",
  amount: 250,
  currency: "EUR"
}

const exampleWin = {
  request_id: "2",
  transaction_id: "win-1041",
  player_ref: "p7Xk2hT9",
  game_id: "golden-reels",
  round_id: "round-77",
  bet_transaction_id: "bet-1041",
  amount: 600,
  currency: "EUR",
  round_closed: true
}

const exampleRollback = {
  transaction_id: "rollback-1041",
  player_ref: "p7Xk2hT9",
  target_transaction_id: "bet-1041"
}

export const Authenticate = Schema.Struct({ session_token: sessionToken })
  .annotate({ examples: [{ session_token: "pbs_2hT9" }] })

export const BalanceOf = Schema.Struct({
  session_token: Schema.optionalKey(sessionToken),
  player_ref: Schema.optionalKey(playerRef)
}).check(
  Schema.makeFilter((body: { readonly session_token?: string; readonly player_ref?: string }) =>
    body.session_token === undefined && body.player_ref === undefined
      ? { path: ["session_token"], issue: "is required without player_ref" }
      : undefined
  )
).annotate({ examples: [{ player_ref: "p7Xk2hT9" }] })

export const Bet = Schema.Struct({ request_id: reference, ...betFields }).check(freeStake)
  .annotate({ identifier: "Bet", examples: [exampleBet] })

export const Win = Schema.Struct({ request_id: reference, ...winFields }).annotate({
  identifier: "Win",
  examples: [exampleWin]
})

export const BetWin = Schema.Struct({
  request_id: reference,
  ...betFields,
  win: Schema.Struct({ transaction_id: reference, amount: amountFrom(0) })
}).check(freeStake).annotate({
  identifier: "BetWin",
  examples: [{ ...exampleBet, win: { transaction_id: "win-1041", amount: 600 }, round_closed: true }]
})

export const Rollback = Schema.Struct({ request_id: reference, ...rollbackFields }).annotate({
  identifier: "Rollback",
  examples: [{ request_id: "3", ...exampleRollback }]
})

const inBatch = { request_id: Schema.optionalKey(reference) }

/** One message of a batch. */
export const BatchAction = Schema.Union([
  Schema.Struct({ action: Schema.Literal("bet"), ...inBatch, ...betFields }).check(freeStake),
  Schema.Struct({ action: Schema.Literal("win"), ...inBatch, ...winFields }),
  Schema.Struct({ action: Schema.Literal("rollback"), ...inBatch, ...rollbackFields })
]).annotate({ message: "must be an object with an action of bet, win or rollback" })

/** How many actions a batch may have. */
const batchActions: ListBound = { field: "actions", maximum: 100, message: "must hold 1 to 100 actions" }

export const Batch = Schema.Struct({
  request_id: Schema.optionalKey(reference),
  actions: Schema.Array(BatchAction).check(
    Schema.isBetweenLength(1, batchActions.maximum, { message: batchActions.message })
  )
}).annotate({
  identifier: "Batch",
  examples: [{
    request_id: "4",
    actions: [{ action: "bet", ...exampleBet }, { action: "win", ...exampleWin }]
  }]
})

export const CloseRound = Schema.Struct({
  request_id: Schema.optionalKey(reference),
  player_ref: playerRef,
  game_id: reference,
  round_id: reference
}).annotate({
  identifier: "CloseRound",
  examples: [{ request_id: "5", player_ref: "p7Xk2hT9", game_id: "golden-reels", round_id: "round-77" }]
})

export const PromoWin = Schema.Struct({
  request_id: reference,
  transaction_id: reference,
  player_ref: playerRef,
  amount: amountFrom(1),
  currency,
  kind: oneOf(["jackpot", "tournament", "free_rounds", "cash_drop"]),
  campaign_id: reference
}).annotate({
  identifier: "PromoWin",
  examples: [{
    request_id: "6",
    transaction_id: "jackpot-5",
    player_ref: "p7Xk2hT9",
    amount: 100_000,
    currency: "EUR",
    kind: "jackpot",
    campaign_id: "grand-2026"
  }]
})

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
    }).annotateMerge(about(
      "Whose session a token is",
      "The first call after a launch: `player_ref` names the player in wins, rollbacks and balance requests. Demo tokens authenticate " +
        "too; bets with them are refused."
    )),
    HttpApiEndpoint.post("balance", "/balance", {
      payload: BalanceOf,
      success: single(ProviderBalance),
      error: refusals("INVALID_SESSION")
    }).annotateMerge(about(
      "A player's balances",
      "By session while it lasts, by `player_ref` at any time. Given both, the session decides."
    )),
    HttpApiEndpoint.post("bet", "/bet", { payload: Bet, success: settled, error: refusals(...betRefusals) })
      .annotate(RetryAfterFailure, "rollback")
      .annotateMerge(about(
        "Take a stake",
        "From the real wallet first, then from the bonus wallet. A repeated `transaction_id` with the same content is answered as " +
          "`replayed`, for ever. Without a readable answer, roll the bet back until that is answered."
      )),
    HttpApiEndpoint.post("win", "/win", { payload: Win, success: settled, error: refusals(...winRefusals) })
      .annotateMerge(about(
        "Pay a win",
        "Always processed, whatever became of the session, the account or its limits. An amount of 0 writes no ledger entry. Without a " +
          "readable answer, send it again."
      )),
    HttpApiEndpoint.post("betWin", "/bet-win", {
      payload: BetWin,
      success: settled,
      error: refusals(...betRefusals, "BET_NOT_FOUND")
    }).annotateMerge(about(
      "Take a stake and pay its win in one step",
      "Both or neither, in one commit. Without a readable answer, send it again."
    )),
    HttpApiEndpoint.post("batch", "/batch", {
      payload: Batch,
      success: single(SettledBatch),
      error: refusals(...betRefusals, "BET_NOT_FOUND", "BET_ALREADY_SETTLED", "ROLLBACK_NOT_ALLOWED")
    }).annotate(BoundedList, batchActions)
      .annotateMerge(about(
        "Settle several messages of one player in order, all or nothing",
        "1 to 100 bets, wins and rollbacks. What is known already is `replayed` in its place; when one is refused, nothing new happens."
      )),
    HttpApiEndpoint.post("rollback", "/rollback", {
      payload: Rollback,
      success: settled,
      error: refusals(...rollbackRefusals)
    }).annotateMerge(about(
      "Take a bet or a win back",
      "Returns exactly what was taken. A target that was never seen answers `ignored`, and its id is refused from then on, so that a " +
        "rollback may overtake its bet. Send it again until it is answered with 200."
    )),
    HttpApiEndpoint.post("closeRound", "/round/close", { payload: CloseRound, success: settled })
      .annotateMerge(about(
        "Close a round",
        "Moves no money. New bets and wins of the round are refused from then on."
      )),
    HttpApiEndpoint.post("promoWin", "/promo-win", {
      payload: PromoWin,
      success: settled,
      error: refusals("DUPLICATE_TRANSACTION", "BET_ROLLED_BACK")
    }).annotateMerge(about(
      "Pay money that belongs to no round",
      "Jackpots, tournament prizes, free rounds and cash drops. It needs no session."
    )),
    HttpApiEndpoint.get("transaction", "/transactions/:transaction_id", {
      params: { transaction_id: reference },
      success: single(ProviderTransactionStatus)
    }).annotateMerge(about(
      "What became of a message",
      "`unknown`, `processed`, `rolled_back`, or `tombstone` for an id whose rollback came first."
    ))
  )
  .annotateMerge(OpenApi.annotations({
    title: "Provider wallet",
    description:
      "How game providers settle rounds in the seamless wallet. Every message is made harmless by its `transaction_id`: the same one " +
      "again is answered again and counted once. Every refusal carries `details.retry`: `never`, `same_request` or `rollback`."
  }))
