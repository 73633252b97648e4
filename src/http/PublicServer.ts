/** The public server: what operators, players and game providers call, with everything around it. */
import { Effect, Layer } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Api } from "../api/Api.ts"
import { Settings } from "../platform/Settings.ts"
import { AuthenticationFailures } from "./AuthenticationFailures.ts"
import { Documentation } from "./Documentation.ts"
import { Drain } from "./Drain.ts"
import { Edge } from "./Edge.ts"
import { ExpressLane } from "./ExpressLane.ts"
import { AccountHandlers } from "./handlers/Account.ts"
import { BonusesHandlers } from "./handlers/Bonuses.ts"
import { GamesHandlers } from "./handlers/Games.ts"
import { PaymentsHandlers } from "./handlers/Payments.ts"
import { PlayerSessionHandlers } from "./handlers/PlayerSession.ts"
import { PlayersHandlers } from "./handlers/Players.ts"
import { ProviderWalletHandlers } from "./handlers/ProviderWallet.ts"
import { ReportsHandlers } from "./handlers/Reports.ts"
import { ResponsibleGamingHandlers } from "./handlers/ResponsibleGaming.ts"
import { WalletHandlers } from "./handlers/Wallet.ts"
import { Health } from "./Health.ts"
import { serveAt } from "./Listener.ts"
import { IdempotentPostLive, PlayerIdempotentPostLive } from "./middleware/IdempotentPostLive.ts"
import { OperatorAuthLive } from "./middleware/OperatorAuthLive.ts"
import { PlayerAuthLive } from "./middleware/PlayerAuthLive.ts"
import { ProviderAuthLive } from "./middleware/ProviderAuthLive.ts"
import { PlayerRequestRulesLive, RequestRulesLive } from "./middleware/RequestRulesLive.ts"
import { PathResources } from "./PathResources.ts"
import { RequestIds } from "./RequestIds.ts"
import { RequestMetrics } from "./RequestMetrics.ts"
import { Strangers } from "./Strangers.ts"

const Handlers = Layer.mergeAll(
  AccountHandlers,
  PlayersHandlers,
  WalletHandlers,
  PaymentsHandlers,
  GamesHandlers,
  ResponsibleGamingHandlers,
  ReportsHandlers,
  PlayerSessionHandlers,
  BonusesHandlers,
  ProviderWalletHandlers
)

const Pipeline = Layer.mergeAll(
  OperatorAuthLive,
  PlayerAuthLive,
  ProviderAuthLive,
  IdempotentPostLive,
  PlayerIdempotentPostLive,
  RequestRulesLive,
  PlayerRequestRulesLive
)

const Routes = Layer.mergeAll(
  HttpApiBuilder.layer(Api),
  Documentation,
  Health,
  Edge
).pipe(Layer.provide(Handlers), Layer.provide(Pipeline))

/** What every server of the process shares: request ids, measures, bounds on strangers, and whether the process is going down. */
export const layerHttpServices = Layer.mergeAll(
  RequestIds.layer,
  RequestMetrics.layer,
  Drain.layer,
  AuthenticationFailures.layer.pipe(Layer.provideMerge(Strangers.layer))
)

/** Serves the public API at `HOST` and `PORT`. Needs the capabilities, the database, and {@link layerHttpServices}. */
export const layerPublicServer = Layer.unwrap(Effect.gen(function*() {
  const { host, port } = yield* Settings
  const { take } = yield* ExpressLane
  return serveAt(Routes, { host, port }, take)
})).pipe(Layer.provide([PathResources.layer, ExpressLane.layer]))
