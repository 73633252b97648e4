/** The public API in the process of the test, on a database and with a clock of its own. */
import { Effect, Layer } from "effect"
import { HttpServer } from "effect/http"
import { Entropy } from "../../src/platform/Entropy.ts"
import { layerHttpServices, layerPublicServer } from "../../src/servers/PublicServer.ts"
import { layerCapabilitiesOver } from "../../src/service.ts"
import { makePlayerStore } from "../../src/store/internal/PlayerStore.ts"
import { PlayerActors } from "../../src/store/PlayerActors.ts"
import { layerTestService } from "./TestService.ts"

const layerServer = layerPublicServer.pipe(Layer.provideMerge(layerHttpServices))

/** The public server at a free port, with every service that it needs. */
export const layerE2eServer = layerServer.pipe(Layer.provideMerge(layerTestService()))

/** As {@link layerE2eServer}, with a mailbox per player that a test can fill. */
export const layerE2eServerWithMailbox = (maxMailbox: number) =>
  layerServer.pipe(
    Layer.provideMerge(
      layerTestService(
        Entropy.layer,
        layerCapabilitiesOver(PlayerActors.layerOver(makePlayerStore, { maxMailbox }))
      )
    )
  )

/** The port that the server listens on. */
export const portOf = Effect.map(
  HttpServer.HttpServer,
  ({ address }) => address._tag === "UnixPathAddress" ? 0 : address.port
)
