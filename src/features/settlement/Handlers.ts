/** Handlers of the provider wallet API. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Api } from "../../contract/Api.ts"
import { CurrentProvider } from "../../contract/Middleware.ts"
import type { Provider } from "../../domain/Operator.ts"
import { iso } from "../../platform/Time.ts"
import { ProviderWallet } from "./ProviderWallet.ts"
import * as Calls from "./ProviderCalls.ts"

export const ProviderWalletHandlers = HttpApiBuilder.group(
  Api,
  "provider_wallet",
  Effect.fnUntraced(function*(handlers) {
    const wallet = yield* ProviderWallet
    const uninterruptible = { uninterruptible: true }

    /** A handler from a call. */
    const as =
      <Body, A, E>(call: (wallet: ProviderWallet["Service"], provider: Provider, body: Body) => Effect.Effect<A, E>) =>
      ({ payload }: { readonly payload: Body }) =>
        Effect.flatMap(CurrentProvider, (provider) => call(wallet, provider, payload))

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
      .handle("bet", as(Calls.bet), uninterruptible)
      .handle("win", as(Calls.win), uninterruptible)
      .handle("betWin", as(Calls.betWin), uninterruptible)
      .handle("batch", as(Calls.batch), uninterruptible)
      .handle("rollback", as(Calls.rollback), uninterruptible)
      .handle("closeRound", as(Calls.closeRound), uninterruptible)
      .handle("promoWin", as(Calls.promoWin), uninterruptible)
      .handle("transaction", ({ params }) =>
        Effect.gen(function*() {
          const status = yield* wallet.transactionStatus(yield* CurrentProvider, params.transaction_id)
          return { data: { transaction_id: params.transaction_id, status } }
        }))
  })
)
