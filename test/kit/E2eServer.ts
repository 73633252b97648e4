/** The public API in the process of the test, on a database and with a clock of its own. */
import { Effect, Layer } from "effect"
import { HttpServer } from "effect/http"
import { Bonuses } from "../../src/features/bonuses/Bonuses.ts"
import { Credentials } from "../../src/auth/Credentials.ts"
import { PlayerTokens } from "../../src/auth/PlayerTokens.ts"
import { RateLimiter } from "../../src/auth/RateLimiter.ts"
import { ReplayStore } from "../../src/auth/ReplayStore.ts"
import { layerChainKey } from "../../src/auth/ChainKeys.ts"
import { layerDigestKey } from "../../src/auth/DigestKeys.ts"
import { SealedSecrets } from "../../src/auth/SealedSecrets.ts"
import { Chain } from "../../src/chain/Chain.ts"
import { Compliance } from "../../src/features/compliance/Compliance.ts"
import { Holds } from "../../src/features/compliance/Holds.ts"
import { Placement } from "../../src/engine/Placement.ts"
import { Games } from "../../src/features/games/Games.ts"
import { Launches } from "../../src/features/games/Launches.ts"
import { Originals } from "../../src/features/originals/Originals.ts"
import { PlayerRefs } from "../../src/features/games/PlayerRefs.ts"
import { SessionTokens } from "../../src/features/games/SessionTokens.ts"
import { layerHttpServices, layerPublicServer } from "../../src/servers/PublicServer.ts"
import { Idempotency } from "../../src/store/Idempotency.ts"
import { ResponsibleGaming } from "../../src/features/responsibleGaming/ResponsibleGaming.ts"
import { PaymentMethods } from "../../src/features/payments/Methods.ts"
import { Payments } from "../../src/features/payments/Payments.ts"
import { StaffSpending } from "../../src/features/payments/StaffSpending.ts"
import { Thresholds } from "../../src/features/payments/Thresholds.ts"
import { Entropy } from "../../src/platform/Entropy.ts"
import { Ids } from "../../src/platform/Ids.ts"
import { PersonalData } from "../../src/platform/PersonalData.ts"
import { Secrets } from "../../src/platform/Secrets.ts"
import { Settings } from "../../src/platform/Settings.ts"
import { makePlayerStore } from "../../src/store/internal/PlayerStore.ts"
import { Outbox } from "../../src/store/Outbox.ts"
import { PlayerAccounts } from "../../src/features/players/PlayerAccounts.ts"
import { PlayerActors } from "../../src/store/PlayerActors.ts"
import { Players } from "../../src/features/players/Players.ts"
import { Profiles } from "../../src/features/players/Profiles.ts"
import { Reports } from "../../src/features/reports/Reports.ts"
import { Ledger } from "../../src/features/wallet/Ledger.ts"
import { ProviderWallet } from "../../src/features/settlement/ProviderWallet.ts"
import { ActiveOperators } from "../../src/features/operators/ActiveOperators.ts"
import { Wallet } from "../../src/features/wallet/Wallet.ts"
import { TestDatabase } from "./TestDatabase.ts"
import { layerTestService } from "./TestService.ts"

/** The public server at a free port, with every service it stands on. */
export const layerE2eServer = layerPublicServer.pipe(
  Layer.provideMerge(layerHttpServices),
  Layer.provideMerge(layerTestService())
)

/** The same, put together by hand, with so little room before a player that a test can fill it. */
export const layerE2eServerWithMailbox = (maxMailbox: number) =>
  layerPublicServer.pipe(
    Layer.provideMerge(layerHttpServices),
    Layer.provideMerge(
      Layer.mergeAll(
        ProviderWallet.layer,
        Wallet.layer,
        Ledger.layer,
        Payments.layer,
        Launches.layer,
        Originals.layer,
        Bonuses.layer,
        Players.layer,
        Profiles.layer,
        PlayerAccounts.layer,
        PlayerTokens.layer,
        ResponsibleGaming.layer,
        Reports.layer,
        Compliance.layer.pipe(Layer.provideMerge(Holds.layer)),
        Credentials.layer,
        RateLimiter.layer,
        ReplayStore.layer,
        Idempotency.layer
      )
    ),
    Layer.provideMerge(Layer.mergeAll(
      PlayerActors.layerOver(makePlayerStore, { maxMailbox }),
      ActiveOperators.layer,
      Games.layer,
      SessionTokens.layer,
      PlayerRefs.layer,
      PaymentMethods.layer,
      Thresholds.layer,
      StaffSpending.layer
    )),
    Layer.provideMerge(Chain.layer),
    Layer.provideMerge(PersonalData.layer),
    Layer.provideMerge(Layer.merge(layerChainKey, layerDigestKey)),
    Layer.provideMerge(SealedSecrets.layer),
    Layer.provideMerge(Layer.mergeAll(Ids.layer, Placement.layerHere, Secrets.layer, Outbox.layer)),
    Layer.provideMerge(TestDatabase.layer),
    Layer.provideMerge(Settings.layerTest()),
    Layer.provideMerge(Entropy.layer)
  )

/** The port that the server listens on. */
export const portOf = Effect.map(
  HttpServer.HttpServer,
  ({ address }) => address._tag === "UnixPathAddress" ? 0 : address.port
)
