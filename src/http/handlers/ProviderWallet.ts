/** The provider wallet API: from messages to the wallet and back. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Api } from "../../api/Api.ts"
import { CurrentProvider } from "../../api/Middleware.ts"
import type { BatchAction, Bet, Rollback, Win } from "../../api/groups/ProviderWallet.ts"
import type { Settlement } from "../../domain/Settlement.ts"
import { iso } from "../../platform/Time.ts"
import {
  type ActionMessage,
  type BetMessage,
  ProviderWallet,
  type RollbackMessage,
  type WinMessage
} from "../../wallet/ProviderWallet.ts"

const settlementFields = (requestId: string | undefined, settlement: Settlement) => ({
  request_id: requestId ?? null,
  transaction_id: settlement.transactionId,
  status: settlement.status,
  wallet_transaction_ids: settlement.entryIds,
  real_amount: settlement.realAmount,
  bonus_amount: settlement.bonusAmount,
  balance: settlement.balance,
  bonus_balance: settlement.bonusBalance,
  currency: settlement.currency,
  wallet_seq: settlement.walletSeq,
  round_state: settlement.roundState
})

const toBet = (body: Omit<typeof Bet.Type, "request_id">): BetMessage => ({
  transactionId: body.transaction_id,
  sessionToken: body.session_token,
  gameId: body.game_id,
  roundId: body.round_id,
  amount: body.amount,
  currency: body.currency,
  closesRound: body.round_closed ?? false
})

const toWin = (body: Omit<typeof Win.Type, "request_id">): WinMessage => ({
  transactionId: body.transaction_id,
  playerRef: body.player_ref,
  gameId: body.game_id,
  roundId: body.round_id,
  betTransactionId: body.bet_transaction_id,
  amount: body.amount,
  currency: body.currency,
  closesRound: body.round_closed ?? false
})

const toRollback = (body: Omit<typeof Rollback.Type, "request_id">): RollbackMessage => ({
  transactionId: body.transaction_id,
  playerRef: body.player_ref,
  targetTransactionId: body.target_transaction_id
})

const toAction = (action: typeof BatchAction.Type): ActionMessage => {
  switch (action.action) {
    case "bet":
      return { action: "bet", ...toBet(action) }
    case "win":
      return { action: "win", ...toWin(action) }
    case "rollback":
      return { action: "rollback", ...toRollback(action) }
  }
}

export const ProviderWalletHandlers = HttpApiBuilder.group(
  Api,
  "provider_wallet",
  Effect.fnUntraced(function*(handlers) {
    const wallet = yield* ProviderWallet
    const uninterruptible = { uninterruptible: true }
    return handlers
      .handle("authenticate", ({ payload }) =>
        Effect.gen(function*() {
          const session = yield* wallet.authenticate(yield* CurrentProvider, payload.session_token)
          return {
            data: {
              player_ref: session.playerRef,
              currency: session.currency,
              country: session.country,
              language: session.language,
              balance: session.balance,
              bonus_balance: session.bonusBalance,
              session_expires_at: iso(session.sessionExpiresAt)
            }
          }
        }), uninterruptible)
      .handle("balance", ({ payload }) =>
        Effect.gen(function*() {
          const by = payload.session_token !== undefined
            ? { sessionToken: payload.session_token }
            : { playerRef: payload.player_ref ?? "" }
          const { balance, bonusBalance, currency } = yield* wallet.balance(yield* CurrentProvider, by)
          return { data: { balance, bonus_balance: bonusBalance, currency } }
        }), uninterruptible)
      .handle(
        "bet",
        Effect.fnUntraced(function*({ payload }) {
          const settlement = yield* wallet.bet(yield* CurrentProvider, toBet(payload))
          return { data: settlementFields(payload.request_id, settlement) }
        }),
        uninterruptible
      )
      .handle(
        "win",
        Effect.fnUntraced(function*({ payload }) {
          const settlement = yield* wallet.win(yield* CurrentProvider, toWin(payload))
          return { data: settlementFields(payload.request_id, settlement) }
        }),
        uninterruptible
      )
      .handle(
        "betWin",
        Effect.fnUntraced(function*({ payload }) {
          const win = { transactionId: payload.win.transaction_id, amount: payload.win.amount }
          const settlement = yield* wallet.betWin(yield* CurrentProvider, { ...toBet(payload), win })
          return { data: settlementFields(payload.request_id, settlement) }
        }),
        uninterruptible
      )
      .handle(
        "batch",
        Effect.fnUntraced(function*({ payload }) {
          const settlements = yield* wallet.batch(yield* CurrentProvider, payload.actions.map(toAction))
          return {
            data: {
              request_id: payload.request_id ?? null,
              results: settlements.map((settlement, index) =>
                settlementFields(payload.actions[index]?.request_id ?? payload.request_id, settlement)
              )
            }
          }
        }),
        uninterruptible
      )
      .handle(
        "rollback",
        Effect.fnUntraced(function*({ payload }) {
          const settlement = yield* wallet.rollback(yield* CurrentProvider, toRollback(payload))
          return { data: settlementFields(payload.request_id, settlement) }
        }),
        uninterruptible
      )
      .handle(
        "closeRound",
        Effect.fnUntraced(function*({ payload }) {
          const settlement = yield* wallet.closeRound(yield* CurrentProvider, {
            playerRef: payload.player_ref,
            gameId: payload.game_id,
            roundId: payload.round_id
          })
          return { data: settlementFields(payload.request_id, settlement) }
        }),
        uninterruptible
      )
      .handle(
        "promoWin",
        Effect.fnUntraced(function*({ payload }) {
          const settlement = yield* wallet.promoWin(yield* CurrentProvider, {
            transactionId: payload.transaction_id,
            playerRef: payload.player_ref,
            amount: payload.amount,
            currency: payload.currency,
            kind: payload.kind,
            campaignId: payload.campaign_id
          })
          return { data: settlementFields(payload.request_id, settlement) }
        }),
        uninterruptible
      )
      .handle("transaction", ({ params }) =>
        Effect.gen(function*() {
          const status = yield* wallet.transactionStatus(yield* CurrentProvider, params.transaction_id)
          return { data: { transaction_id: params.transaction_id, status } }
        }))
  })
)
