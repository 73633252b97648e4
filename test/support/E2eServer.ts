/** The public API in the process of the test, on a database and with a clock of its own. */
import { Effect, Layer } from "effect"
import { HttpServer } from "effect/http"
import { layerHttpServices, layerPublicServer } from "../../src/http/PublicServer.ts"
import { layerTestService } from "./TestService.ts"

/** The public server at a free port, with every service it stands on. */
export const layerE2eServer = layerPublicServer.pipe(
  Layer.provideMerge(layerHttpServices),
  Layer.provideMerge(layerTestService())
)

/** The port that the server listens on. */
export const portOf = Effect.map(
  HttpServer.HttpServer,
  ({ address }) => address._tag === "UnixPathAddress" ? 0 : address.port
)
