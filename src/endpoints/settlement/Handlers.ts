/** Handlers of the provider wallet API. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Api } from "../../contract/Api.ts"
import { CurrentProvider } from "../../contract/common/Middleware.ts"
import type { Provider } from "../../domain/state/Operator.ts"
import { ProviderWallet } from "../../features/settlement/ProviderWallet.ts"
import * as Calls from "../../features/settlement/ProviderCalls.ts"

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
      .handle("authenticate", as(Calls.authenticate), uninterruptible)
      .handle("balance", as(Calls.balance), uninterruptible)
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
