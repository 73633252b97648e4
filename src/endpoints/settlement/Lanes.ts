/** Lanes of the provider wallet on the express lane. */
import { Effect } from "effect"
import type { Provider } from "../../domain/state/Operator.ts"
import { type Lane, lane } from "../../http/ExpressLane.ts"
import * as Wire from "../../contract/settlement/Api.ts"
import * as Calls from "../../features/settlement/ProviderCalls.ts"
import { PlayerRefs } from "../../features/games/PlayerRefs.ts"
import { SessionTokens } from "../../features/games/SessionTokens.ts"
import { ProviderWallet } from "../../features/settlement/ProviderWallet.ts"

const base = "/api/v1/provider/wallet"

export const providerLanes: Effect.Effect<
  ReadonlyArray<Lane>,
  never,
  PlayerRefs | ProviderWallet | SessionTokens
> = Effect.gen(function*() {
  const wallet = yield* ProviderWallet
  const refs = yield* PlayerRefs
  const sessions = yield* SessionTokens

  /** Player of a session token. */
  const ofSession = (_: Provider, body: object): number | undefined =>
    "session_token" in body && typeof body.session_token === "string"
      ? sessions.verify(body.session_token)?.playerId
      : undefined

  /** Player named by `player_ref`; other fields do not identify the player. */
  const ofReference = (provider: Provider, body: object): number | undefined =>
    "player_ref" in body && typeof body.player_ref === "string" ? refs.parse(provider.id, body.player_ref) : undefined

  /** The player of a batch's first action. */
  const ofBatch = (provider: Provider, body: object): number | undefined => {
    const first: unknown = "actions" in body && Array.isArray(body.actions) ? body.actions[0] : undefined
    return typeof first !== "object" || first === null
      ? undefined
      : "action" in first && first.action === "bet"
      ? ofSession(provider, first)
      : ofReference(provider, first)
  }

  const ofBalance = (provider: Provider, body: object): number | undefined =>
    "session_token" in body ? ofSession(provider, body) : ofReference(provider, body)

  const start = Calls.startsOf(wallet)
  const on =
    <Body, A, E>(call: (wallet: ProviderWallet["Service"], provider: Provider, body: Body) => Effect.Effect<A, E>) =>
    (provider: Provider, body: Body) => call(wallet, provider, body)
  return [
    lane(`${base}/authenticate`, Wire.Authenticate, on(Calls.authenticate), {
      playerOf: ofSession,
      start: start.authenticate
    }),
    lane(`${base}/balance`, Wire.BalanceOf, on(Calls.balance), { playerOf: ofBalance, start: start.balance }),
    lane(`${base}/bet`, Wire.Bet, on(Calls.bet), {
      onFailure: "rollback",
      playerOf: ofSession,
      start: start.bet
    }),
    lane(`${base}/win`, Wire.Win, on(Calls.win), { playerOf: ofReference, start: start.win }),
    lane(`${base}/bet-win`, Wire.BetWin, on(Calls.betWin), { playerOf: ofSession, start: start.betWin }),
    lane(`${base}/batch`, Wire.Batch, on(Calls.batch), {
      list: Wire.batchActions,
      playerOf: ofBatch,
      start: start.batch
    }),
    lane(`${base}/rollback`, Wire.Rollback, on(Calls.rollback), {
      playerOf: ofReference,
      start: start.rollback
    }),
    lane(`${base}/round/close`, Wire.CloseRound, on(Calls.closeRound), { playerOf: ofReference }),
    lane(`${base}/promo-win`, Wire.PromoWin, on(Calls.promoWin), { playerOf: ofReference })
  ]
})
