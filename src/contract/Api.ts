/** Assembles the public API: endpoints for operators, players and game providers. */
import { HttpApi } from "effect/http-api"
import { AccountGroup } from "./account/Api.ts"
import { BonusesGroup } from "./bonuses/Api.ts"
import { ConsentsGroup } from "./consents/Api.ts"
import { EventsGroup } from "./events/Api.ts"
import { FreeRoundsGroup } from "./freeRounds/Api.ts"
import { GamesGroup } from "./games/Api.ts"
import { ObligationsGroup } from "./obligations/Api.ts"
import { PaymentsGroup } from "./payments/Api.ts"
import { PlayersGroup } from "./players/Api.ts"
import { PlayerSessionGroup } from "./sessions/Api.ts"
import { ProviderWalletGroup } from "./settlement/Api.ts"
import { PositionGroup } from "./position/Api.ts"
import { PrivacyGroup } from "./privacy/Api.ts"
import { ProfilesGroup } from "./profiles/Api.ts"
import { RegistersGroup } from "./registers/Api.ts"
import { ReportsGroup } from "./reports/Api.ts"
import { ResponsibleGamingGroup } from "./responsibleGaming/Api.ts"
import { SandboxGroup } from "./sandbox/Api.ts"
import { StatementsGroup } from "./statements/Api.ts"
import { WalletGroup } from "./wallet/Api.ts"
import {
  IdempotentPost,
  OperatorAuth,
  PlayerAuth,
  PlayerIdempotentPost,
  PlayerRequestRules,
  ProviderAuth,
  RequestRules
} from "./common/Middleware.ts"
import { documented } from "./document/OpenApiDocument.ts"

// The last middleware is the outermost: a request is authenticated before any part of it is decoded.

/** Signed API for operators' servers. */
export const OperatorApi = HttpApi.make("operator")
  .add(
    AccountGroup,
    PlayersGroup,
    WalletGroup,
    StatementsGroup,
    PrivacyGroup,
    PaymentsGroup,
    GamesGroup,
    BonusesGroup,
    FreeRoundsGroup,
    ResponsibleGamingGroup,
    ObligationsGroup,
    PositionGroup,
    ProfilesGroup,
    RegistersGroup,
    ConsentsGroup,
    EventsGroup,
    ReportsGroup,
    SandboxGroup
  )
  .prefix("/api/v1/operator")
  .middleware(RequestRules)
  .middleware(IdempotentPost)
  .middleware(OperatorAuth)

/** API for players' browsers and apps, with a session token. */
export const PlayerApi = HttpApi.make("player")
  .add(PlayerSessionGroup)
  .prefix("/api/v1/player")
  .middleware(PlayerRequestRules)
  .middleware(PlayerIdempotentPost)
  .middleware(PlayerAuth)

/** Signed API for game providers. */
export const ProviderApi = HttpApi.make("provider")
  .add(ProviderWalletGroup)
  .prefix("/api/v1/provider/wallet")
  .middleware(ProviderAuth)

/** The API that the router serves: providers are served by a lane of their own. */
export const RoutedApi = HttpApi.make("pitboss")
  .addHttpApi(OperatorApi)
  .addHttpApi(PlayerApi)
  .annotate(HttpApi.ParseOptions, { errors: "all" })

export const Api = documented(RoutedApi.addHttpApi(ProviderApi))
