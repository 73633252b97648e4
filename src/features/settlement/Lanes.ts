/** Lanes of the provider wallet on the express lane. */
import { Effect } from "effect"
import type { Provider } from "../../domain/Operator.ts"
import { type Lane, lane } from "../../http/ExpressLane.ts"
import * as Wire from "./Api.ts"
import * as Calls from "./ProviderCalls.ts"
import { ProviderWallet } from "./ProviderWallet.ts"

const base = "/api/v1/provider/wallet"

export const providerLanes: Effect.Effect<ReadonlyArray<Lane>, never, ProviderWallet> = Effect.gen(function*() {
  const wallet = yield* ProviderWallet
  const on =
    <Body, A, E>(call: (wallet: ProviderWallet["Service"], provider: Provider, body: Body) => Effect.Effect<A, E>) =>
    (provider: Provider, body: Body) => call(wallet, provider, body)
  return [
    lane(`${base}/bet`, Wire.Bet, on(Calls.bet), { onFailure: "rollback", start: Calls.startBet(wallet) }),
    lane(`${base}/win`, Wire.Win, on(Calls.win), { start: Calls.startWin(wallet) }),
    lane(`${base}/bet-win`, Wire.BetWin, on(Calls.betWin), { start: Calls.startBetWin(wallet) }),
    lane(`${base}/batch`, Wire.Batch, on(Calls.batch), { list: Wire.batchActions }),
    lane(`${base}/rollback`, Wire.Rollback, on(Calls.rollback), { start: Calls.startRollback(wallet) }),
    lane(`${base}/round/close`, Wire.CloseRound, on(Calls.closeRound)),
    lane(`${base}/promo-win`, Wire.PromoWin, on(Calls.promoWin))
  ]
})
