/** The whole public contract: what operators, players and game providers can call. A group lives in a file of its own. */
import { HttpApi } from "effect/http-api"
import { AccountGroup } from "./groups/Account.ts"
import { BonusesGroup } from "./groups/Bonuses.ts"
import { GamesGroup } from "./groups/Games.ts"
import { PaymentsGroup } from "./groups/Payments.ts"
import { PlayersGroup } from "./groups/Players.ts"
import { PlayerSessionGroup } from "./groups/PlayerSession.ts"
import { ProviderWalletGroup } from "./groups/ProviderWallet.ts"
import { ReportsGroup } from "./groups/Reports.ts"
import { ResponsibleGamingGroup } from "./groups/ResponsibleGaming.ts"
import { WalletGroup } from "./groups/Wallet.ts"
import {
  IdempotentPost,
  OperatorAuth,
  PlayerAuth,
  PlayerIdempotentPost,
  PlayerRequestRules,
  ProviderAuth,
  RequestRules
} from "./Middleware.ts"
import { documented } from "./OpenApiDocument.ts"

// The last middleware is the outermost: a request is authenticated before anything of it is decoded.

/** What operators' servers call, signed. */
export const OperatorApi = HttpApi.make("operator")
  .add(
    AccountGroup,
    PlayersGroup,
    WalletGroup,
    PaymentsGroup,
    GamesGroup,
    BonusesGroup,
    ResponsibleGamingGroup,
    ReportsGroup
  )
  .prefix("/api/v1/operator")
  .middleware(RequestRules)
  .middleware(IdempotentPost)
  .middleware(OperatorAuth)

/** What players' browsers and apps call, with a session token. */
export const PlayerApi = HttpApi.make("player")
  .add(PlayerSessionGroup)
  .prefix("/api/v1/player")
  .middleware(PlayerRequestRules)
  .middleware(PlayerIdempotentPost)
  .middleware(PlayerAuth)

/** What game providers call, signed. */
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
