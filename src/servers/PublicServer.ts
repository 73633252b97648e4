/** Public server: endpoints of operators, players and game providers with the request pipeline. */
import { Effect, Layer } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Api } from "../contract/Api.ts"
import { Settings } from "../platform/Settings.ts"
import { AuthenticationFailures } from "../http/AuthenticationFailures.ts"
import { Documentation } from "../http/Documentation.ts"
import { Drain } from "../http/Drain.ts"
import { OutermostMiddleware } from "../http/OutermostMiddleware.ts"
import { providerLanes } from "../endpoints/settlement/Lanes.ts"
import { makeVendorCalls } from "../endpoints/integrations/IntegrationLanes.ts"
import { ExpressLane, type Take } from "../http/ExpressLane.ts"
import { VendorLane } from "../http/VendorLane.ts"
import { AccountHandlers } from "../endpoints/account/Handlers.ts"
import { BonusesHandlers } from "../endpoints/bonuses/Handlers.ts"
import { FreeRoundsHandlers } from "../endpoints/freeRounds/Handlers.ts"
import { GamesHandlers } from "../endpoints/games/Handlers.ts"
import { PaymentsHandlers } from "../endpoints/payments/Handlers.ts"
import { PlayerSessionHandlers } from "../endpoints/sessions/Handlers.ts"
import { PlayersHandlers } from "../endpoints/players/Handlers.ts"
import { ProviderWalletHandlers } from "../endpoints/settlement/Handlers.ts"
import { ReportsHandlers } from "../endpoints/reports/Handlers.ts"
import { ResponsibleGamingHandlers } from "../endpoints/responsibleGaming/Handlers.ts"
import { WalletHandlers } from "../endpoints/wallet/Handlers.ts"
import { Health } from "../http/Health.ts"
import { serveAt } from "../http/Listener.ts"
import { IdempotentPostLive, PlayerIdempotentPostLive } from "../http/middleware/IdempotentPostLive.ts"
import { OperatorAuthLive } from "../http/middleware/OperatorAuthLive.ts"
import { PlayerAuthLive } from "../http/middleware/PlayerAuthLive.ts"
import { ProviderAuthLive } from "../http/middleware/ProviderAuthLive.ts"
import { PlayerRequestRulesLive, RequestRulesLive } from "../http/middleware/RequestRulesLive.ts"
import { PathResources } from "../http/PathResources.ts"
import { RequestIds } from "../http/RequestIds.ts"
import { RequestMetrics } from "../http/RequestMetrics.ts"
import { AnonymousLimits } from "../http/AnonymousLimits.ts"

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
  FreeRoundsHandlers,
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
  OutermostMiddleware
).pipe(Layer.provide(Handlers), Layer.provide(Pipeline))

/** Services shared by all servers of the process: request ids, metrics, limits of anonymous callers, and the drain state. */
export const layerHttpServices = Layer.mergeAll(
  RequestIds.layer,
  RequestMetrics.layer,
  Drain.layer,
  AuthenticationFailures.layer.pipe(Layer.provideMerge(AnonymousLimits.layer))
)

/** Serves the public API at `HOST` and `PORT`. Needs the capabilities, the database, and {@link layerHttpServices}. */
export const layerPublicServer = Layer.unwrap(Effect.gen(function*() {
  const { host, nodePort: ownPort, port } = yield* Settings
  const express = yield* ExpressLane
  const vendors = yield* VendorLane
  const take: Take = (request, response) => express.take(request, response) || vendors.take(request, response)
  return serveAt(Routes, { host, port, ownPort }, take)
})).pipe(
  Layer.provide([PathResources.layer, ExpressLane.layerOf(providerLanes), VendorLane.layerOf(makeVendorCalls)])
)
