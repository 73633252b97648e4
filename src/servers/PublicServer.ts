/** Public server: the APIs for operators, players and game providers, with the request pipeline. */
import { Effect, Layer } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { RoutedApi } from "../contract/Api.ts"
import { Settings } from "../platform/Settings.ts"
import { AuthenticationFailures } from "../http/AuthenticationFailures.ts"
import { Documentation } from "../http/Documentation.ts"
import { Drain } from "../http/Drain.ts"
import { OutermostMiddleware } from "../http/OutermostMiddleware.ts"
import { makeProviderCalls } from "../endpoints/settlement/ProviderCalls.ts"
import { ProviderLane } from "../http/ProviderLane.ts"
import { AccountHandlers } from "../endpoints/account/Handlers.ts"
import { BonusesHandlers } from "../endpoints/bonuses/Handlers.ts"
import { ConsentsHandlers } from "../endpoints/consents/Handlers.ts"
import { FreeRoundsHandlers } from "../endpoints/freeRounds/Handlers.ts"
import { GamesHandlers } from "../endpoints/games/Handlers.ts"
import { ObligationsHandlers } from "../endpoints/obligations/Handlers.ts"
import { EventsHandlers } from "../endpoints/events/Handlers.ts"
import { RegistersHandlers } from "../endpoints/registers/Handlers.ts"
import { ProfilesHandlers } from "../endpoints/profiles/Handlers.ts"
import { PaymentsHandlers } from "../endpoints/payments/Handlers.ts"
import { PlayerSessionHandlers } from "../endpoints/sessions/Handlers.ts"
import { PrivacyHandlers } from "../endpoints/privacy/Handlers.ts"
import { PlayersHandlers } from "../endpoints/players/Handlers.ts"
import { ReportsHandlers } from "../endpoints/reports/Handlers.ts"
import { PositionHandlers } from "../endpoints/position/Handlers.ts"
import { ResponsibleGamingHandlers } from "../endpoints/responsibleGaming/Handlers.ts"
import { SandboxHandlers } from "../endpoints/sandbox/Handlers.ts"
import { StatementsHandlers } from "../endpoints/statements/Handlers.ts"
import { WalletHandlers } from "../endpoints/wallet/Handlers.ts"
import { Health } from "../http/Health.ts"
import { serveAt } from "../http/Listener.ts"
import { IdempotentPostLive, PlayerIdempotentPostLive } from "../http/middleware/IdempotentPostLive.ts"
import { OperatorAuthLive } from "../http/middleware/OperatorAuthLive.ts"
import { PlayerAuthLive } from "../http/middleware/PlayerAuthLive.ts"
import { PlayerRequestRulesLive, RequestRulesLive } from "../http/middleware/RequestRulesLive.ts"
import { PathResources } from "../http/PathResources.ts"
import { RequestIds } from "../http/RequestIds.ts"
import { RequestMetrics } from "../http/RequestMetrics.ts"
import { AnonymousLimits } from "../http/AnonymousLimits.ts"

const Handlers = Layer.mergeAll(
  AccountHandlers,
  PlayersHandlers,
  WalletHandlers,
  StatementsHandlers,
  PrivacyHandlers,
  EventsHandlers,
  PaymentsHandlers,
  GamesHandlers,
  ObligationsHandlers,
  ProfilesHandlers,
  RegistersHandlers,
  ResponsibleGamingHandlers,
  PositionHandlers,
  ReportsHandlers,
  PlayerSessionHandlers,
  BonusesHandlers,
  ConsentsHandlers,
  FreeRoundsHandlers,
  SandboxHandlers
)

const Pipeline = Layer.mergeAll(
  OperatorAuthLive,
  PlayerAuthLive,
  IdempotentPostLive,
  PlayerIdempotentPostLive,
  RequestRulesLive,
  PlayerRequestRulesLive
)

const Routes = Layer.mergeAll(
  HttpApiBuilder.layer(RoutedApi),
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
  const { take } = yield* ProviderLane
  return serveAt(Routes, { host, port, ownPort }, take)
})).pipe(
  Layer.provide([PathResources.layer, ProviderLane.layerOf(makeProviderCalls)])
)
