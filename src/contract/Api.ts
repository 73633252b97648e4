/** Public API assembled: endpoints of operators, players and game providers. */
import { HttpApi } from "effect/http-api"
import { AccountGroup } from "../features/account/Api.ts"
import { BonusesGroup } from "../features/bonuses/Api.ts"
import { FreeRoundsGroup } from "../features/freeRounds/Api.ts"
import { GamesGroup } from "../features/games/Api.ts"
import { PaymentsGroup } from "../features/payments/Api.ts"
import { PlayersGroup } from "../features/players/Api.ts"
import { PlayerSessionGroup } from "../features/sessions/Api.ts"
import { ProviderWalletGroup } from "../features/settlement/Api.ts"
import { ReportsGroup } from "../features/reports/Api.ts"
import { ResponsibleGamingGroup } from "../features/responsibleGaming/Api.ts"
import { WalletGroup } from "../features/wallet/Api.ts"
import {
  IdempotentPost,
  OperatorAuth,
  PlayerAuth,
  PlayerIdempotentPost,
  PlayerRequestRules,
  ProviderAuth,
  RequestRules
} from "./Middleware.ts"
import { documented } from "./document/OpenApiDocument.ts"

// The last middleware is the outermost: a request is authenticated before any part of it is decoded.

/** Signed API for operators' servers. */
export const OperatorApi = HttpApi.make("operator")
  .add(
    AccountGroup,
    PlayersGroup,
    WalletGroup,
    PaymentsGroup,
    GamesGroup,
    BonusesGroup,
    FreeRoundsGroup,
    ResponsibleGamingGroup,
    ReportsGroup
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

export const Api = documented(
  HttpApi.make("pitboss")
    .addHttpApi(OperatorApi)
    .addHttpApi(PlayerApi)
    .addHttpApi(ProviderApi)
    .annotate(HttpApi.ParseOptions, { errors: "all" })
)
